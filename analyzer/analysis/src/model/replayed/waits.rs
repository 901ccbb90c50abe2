//! Waits and their causes, summed up.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use bincode::{Decode, Encode};
use serde::Serialize;

use crate::model::code::region_state::{Ns, RegionState};

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

/// Makes the wait states of rows: a name in the code, the name in reports and JSON, and when a thread waits so.
macro_rules! wait_states {
    ($($state:ident $name:literal $meaning:literal;)*) => {
        /// Why a thread waits.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Encode, Decode)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum WaitState { $(#[doc = $meaning] #[serde(rename = $name)] $state,)* }

        impl WaitState {
            /// The wait states, in the order of their numbers in Paraver's files.
            pub const ALL: &[WaitState] = &[$(WaitState::$state),*];

            /// The name in reports and JSON.
            pub const fn name(self) -> &'static str {
                match self { $(WaitState::$state => $name,)* }
            }
        }
    };
}

wait_states! {
    LateSender "late sender"
        "A receive, or a wait for one, before its message was sent, or before its sender was back in MPI where the message needed that.";
    LateReceiver "late receiver"
        "A send, or a wait for one, before its receive was posted (a rendezvous), or before its receiver was back in MPI where the send needed that.";
    Barrier "wait at barrier"
        "In a barrier before the last rank entered it.";
    NxN "wait at N×N"
        "In a collective in which all wait for all, before the last rank entered it.";
    LateBroadcast "late broadcast"
        "In a collective before its root entered, or another rank that evidently passes its data on.";
    EarlyReduce "early reduce"
        "In a collective's root before the last of the others entered, or of another rank before one entered whose data it evidently passes on.";
    EarlyScan "early scan"
        "In a scan before the last rank before it entered.";
    Epoch "wait in epoch"
        "In the synchronisation of windows or files before the last rank entered it.";
    Neighbours "wait for neighbours"
        "In a neighbourhood collective before the last of those that send to the rank entered it.";
    Post "wait for post"
        "In an access to windows before their ranks exposed them.";
    Complete "wait for complete"
        "At the end of a window's exposure before all that access it completed that.";
    Lock "wait for lock"
        "For a lock, before a rank that holds it begins to give it back.";
    Target "wait for target"
        "In a lock of a window, an access to it or the end of one, before its target, which was outside of MPI, is back.";
    LateBegin "late begin"
        "Before its window begins, while others are in theirs.";
    EarlyEnd "early end"
        "After the end of its window, while others are still in theirs.";
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
