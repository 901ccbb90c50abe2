//! Waits and their causes, summed up.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use bincode::{Decode, Encode};
use serde::Serialize;

use super::region_state::{Ns, RegionState};

/// Everything that was waited for. In order, so that sums over all of it are the same each time to the last digit.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct BlockingTimes {
    /// By where and why.
    pub waits: BTreeMap<WaitKey, WaitSums>,
    /// Nanoseconds of waiting caused, by thread and kind of its time.
    pub causes: BTreeMap<(u32, RegionState), f64>,
    /// Nanoseconds that the first thread waited because of the second.
    pub pairs: BTreeMap<(u32, u32), f64>,
    /// Nanoseconds waited in calls because of a kind of time, of whichever threads.
    pub places: BTreeMap<(WaitCall, RegionState), f64>,
    /// The `causes` of waits in all regions, if a region is selected.
    pub causes_in_any_region: BTreeMap<(u32, RegionState), f64>,
}

/// Why a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Encode, Decode)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum WaitState {
    /// A receive, or a wait for one, before its message was sent, or before its sender was back in MPI where the message needed that.
    #[serde(rename = "late sender")]
    LateSender,
    /// A send, or a wait for one, before its receive was posted (a rendezvous), or before its receiver was back in MPI where the send needed that.
    #[serde(rename = "late receiver")]
    LateReceiver,
    /// In a barrier before the last rank entered it.
    #[serde(rename = "wait at barrier")]
    Barrier,
    /// In a collective in which all wait for all, before the last rank entered it.
    #[serde(rename = "wait at N×N")]
    NxN,
    /// In a collective before its root entered, or another rank that evidently passes its data on.
    #[serde(rename = "late broadcast")]
    LateBroadcast,
    /// In a collective's root before the last of the others entered, or of another rank before one entered whose data it evidently passes on.
    #[serde(rename = "early reduce")]
    EarlyReduce,
    /// In a scan before the last rank before it entered.
    #[serde(rename = "early scan")]
    EarlyScan,
    /// In the synchronisation of windows or files before the last rank entered it.
    #[serde(rename = "wait in epoch")]
    Epoch,
    /// In a neighbourhood collective before the last of those that send to the rank entered it.
    #[serde(rename = "wait for neighbours")]
    Neighbours,
    /// In an access to windows before their ranks exposed them.
    #[serde(rename = "wait for post")]
    Post,
    /// At the end of a window's exposure before all that access it completed that.
    #[serde(rename = "wait for complete")]
    Complete,
    /// For a lock, before a rank that holds it begins to give it back.
    #[serde(rename = "wait for lock")]
    Lock,
    /// In a lock of a window, an access to it or the end of one, before its target, which was outside of MPI, is back.
    #[serde(rename = "wait for target")]
    Target,
    /// Before its window begins, while others are in theirs.
    #[serde(rename = "late begin")]
    LateBegin,
    /// After the end of its window, while others are still in theirs.
    #[serde(rename = "early end")]
    EarlyEnd,
}

impl WaitState {
    /// The wait states, in the order of their numbers in Paraver's files.
    pub const ALL: [WaitState; 15] = [
        WaitState::LateSender,
        WaitState::LateReceiver,
        WaitState::Barrier,
        WaitState::NxN,
        WaitState::LateBroadcast,
        WaitState::EarlyReduce,
        WaitState::EarlyScan,
        WaitState::Epoch,
        WaitState::Neighbours,
        WaitState::Post,
        WaitState::Complete,
        WaitState::Lock,
        WaitState::Target,
        WaitState::LateBegin,
        WaitState::EarlyEnd,
    ];

    /// The name in reports and JSON.
    pub fn name(self) -> &'static str {
        match self {
            WaitState::LateSender => "late sender",
            WaitState::LateReceiver => "late receiver",
            WaitState::Barrier => "wait at barrier",
            WaitState::NxN => "wait at N×N",
            WaitState::LateBroadcast => "late broadcast",
            WaitState::EarlyReduce => "early reduce",
            WaitState::EarlyScan => "early scan",
            WaitState::Epoch => "wait in epoch",
            WaitState::Neighbours => "wait for neighbours",
            WaitState::Post => "wait for post",
            WaitState::Complete => "wait for complete",
            WaitState::Lock => "wait for lock",
            WaitState::Target => "wait for target",
            WaitState::LateBegin => "late begin",
            WaitState::EarlyEnd => "early end",
        }
    }
}

/// The place and reason of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub struct WaitKey {
    /// The thread.
    pub thread: u32,
    /// Region and activity of the call.
    pub kind: RegionState,
    /// Index of the call site; NONE where it is not known.
    pub site: u32,
    /// Number of the operation; 0 outside of calls.
    pub operation: u16,
    /// Why.
    pub state: WaitState,
}

/// A place at which threads call an MPI function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub struct WaitCall {
    /// Index of the call site; NONE where it is not known.
    pub site: u32,
    /// Number of the operation; 0 outside of calls.
    pub operation: u16,
}

/// Number and duration of waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub struct WaitSums {
    /// Number of waits.
    pub count: u64,
    /// Nanoseconds before what it waited for was done.
    pub waiting: Ns,
    /// Nanoseconds from then until its message had arrived.
    pub delay: Ns,
}

impl AddAssign for WaitSums {
    fn add_assign(&mut self, WaitSums { count, waiting, delay }: WaitSums) {
        self.count += count;
        self.waiting += waiting;
        self.delay += delay;
    }
}

#[cfg(test)]
mod tests {
    use super::WaitState;

    #[test]
    fn all_wait_states_are_listed_in_their_order_with_their_names_in_json() {
        for (number, state) in WaitState::ALL.into_iter().enumerate() {
            assert_eq!(state as usize, number, "{state:?}");
            assert_eq!(serde_json::to_value(state).unwrap(), state.name());
        }
    }
}
