//! An interval of time.

use bincode::{Decode, Encode};

use crate::model::code::region_state::Ns;

/// From one time to another, in nanoseconds on the common clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct TimeInterval {
    /// From when.
    pub begin: Ns,
    /// Until when; not before the begin.
    pub end: Ns,
}

impl TimeInterval {
    /// From `begin` until `end`.
    #[inline]
    pub fn new(begin: Ns, end: Ns) -> TimeInterval {
        TimeInterval { begin, end }
    }

    /// Its length in nanoseconds.
    #[inline]
    pub fn ns(self) -> Ns {
        self.end - self.begin
    }

    /// Returns the part of the interval in `window`; where nothing does, it ends before it begins.
    #[inline]
    pub fn within(self, window: TimeInterval) -> TimeInterval {
        TimeInterval { begin: self.begin.max(window.begin), end: self.end.min(window.end) }
    }

    /// Returns whether it has no length.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.end <= self.begin
    }

    /// Returns whether something happened within: after its begin, and at its end at the latest.
    #[inline]
    pub fn has(self, time: Ns) -> bool {
        self.begin < time && time <= self.end
    }
}
