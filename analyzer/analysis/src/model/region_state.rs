//! The state of a thread in an interval.

use bincode::{Decode, Encode};
use lbprof_collector::Activity;

use super::region::RegionIdx;

/// A time on the common clock, in nanoseconds.
pub type Ns = i64;

/// The state of a thread in an interval: where it was, and what it did there.
///
/// The number is region · 16 + what: an [`Activity`], or one of the two below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub struct RegionState(pub u32);

impl RegionState {
    /// Bits of what was done.
    const BITS: u32 = 4;

    /// Time that a message took from its send to its arrival, of who waited for it.
    const DELAY: u32 = 8;

    /// Time that no record covers: recording was stopped, or records are missing.
    const UNKNOWN: u32 = 9;

    /// An activity in a region.
    pub fn new(region: RegionIdx, activity: Activity) -> RegionState {
        RegionState(region << Self::BITS | activity as u32)
    }

    /// The delay of messages that are sent from a region.
    pub fn delay(region: RegionIdx) -> RegionState {
        RegionState(region << Self::BITS | Self::DELAY)
    }

    /// Time that no record covers, in a region.
    pub fn unknown(region: RegionIdx) -> RegionState {
        RegionState(region << Self::BITS | Self::UNKNOWN)
    }

    /// Returns the state in another region.
    pub fn in_region(self, region: RegionIdx) -> RegionState {
        RegionState(region << Self::BITS | self.0 & ((1 << Self::BITS) - 1))
    }

    /// The region.
    pub fn region(self) -> RegionIdx {
        self.0 >> Self::BITS
    }

    /// The activity; `None`: a message's delay, or time that no record covers.
    pub fn activity(self) -> Option<Activity> {
        Activity::ALL.get((self.0 & ((1 << Self::BITS) - 1)) as usize).copied()
    }

    /// Returns whether it is the delay of a message.
    pub fn is_delay(self) -> bool {
        self.0 & ((1 << Self::BITS) - 1) == Self::DELAY
    }

    /// Returns whether it is computation.
    pub fn is_computation(self) -> bool {
        self.activity() == Some(Activity::Computation)
    }
}
