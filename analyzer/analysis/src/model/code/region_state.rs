//! The state of a thread in an interval.

use bincode::{Decode, Encode};
use lbprof_collector::{Activity, CoreState};

use super::region::RegionIdx;

/// A time on the common clock, in nanoseconds.
pub type Ns = i64;

/// The state of a thread in an interval: where it was, and what it did there.
///
/// The number is region · 32 + what: an [`Activity`], one of the two below, or computation in a [`CoreState`] that was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub struct RegionState(pub u32);

impl RegionState {
    const BITS: u32 = 5;

    /// Time that a message took from its send to its arrival, of who waited for it.
    const DELAY: u32 = 8;

    /// Time that no record covers: recording was stopped, or records are missing.
    const UNKNOWN: u32 = 9;

    /// Computation in the state of number 0; the other states follow.
    const IN_STATE: u32 = 10;

    /// An activity in a region.
    pub fn new(region: RegionIdx, activity: Activity) -> RegionState {
        RegionState(region << Self::BITS | activity as u32)
    }

    /// Computation in a region, in a state that was recorded.
    pub fn in_state(region: RegionIdx, state: CoreState) -> RegionState {
        RegionState(region << Self::BITS | (Self::IN_STATE + state as u32))
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
        RegionState(region << Self::BITS | self.number())
    }

    /// The region.
    pub fn region(self) -> RegionIdx {
        self.0 >> Self::BITS
    }

    /// The activity; `None`: a message's delay, or time that no record covers.
    pub fn activity(self) -> Option<Activity> {
        self.core_state().map(|_| Activity::Computation).or(Activity::ALL.get(self.number() as usize).copied())
    }

    /// The state of computation, where it was recorded.
    pub fn core_state(self) -> Option<CoreState> {
        CoreState::from_number(self.number().checked_sub(Self::IN_STATE)? as usize)
    }

    /// The name of the activity, or of the state of computation where it was recorded.
    pub fn name(self) -> Option<&'static str> {
        self.core_state().map(CoreState::name).or(self.activity().map(Activity::name))
    }

    /// Returns whether it is the delay of a message.
    pub fn is_delay(self) -> bool {
        self.number() == Self::DELAY
    }

    /// Returns whether it is computation.
    pub fn is_computation(self) -> bool {
        self.activity() == Some(Activity::Computation)
    }

    fn number(self) -> u32 {
        self.0 & ((1 << Self::BITS) - 1)
    }
}

const _: () = assert!(RegionState::IN_STATE as usize + CoreState::COUNT <= 1 << RegionState::BITS);
