//! A part of a rank's time, in the ticks of its clock.

use bincode::{Decode, Encode};

/// Ticks of a rank from `begin` on and before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct TickSpan {
    /// The first tick.
    pub begin: u64,
    /// The first tick after the span, or `u64::MAX` if it does not end.
    pub end: u64,
}

impl TickSpan {
    /// The whole time.
    pub const ALL: TickSpan = TickSpan { begin: 0, end: u64::MAX };

    /// Returns the tick of the span that is next to `ticks`.
    pub fn clamp(&self, ticks: u64) -> u64 {
        ticks.clamp(self.begin, self.end.max(self.begin))
    }
}
