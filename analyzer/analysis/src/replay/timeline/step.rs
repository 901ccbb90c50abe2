//! The steps of a thread, with the ids of the run: what the timeline is made of.

use std::sync::Arc;

use bincode::{Decode, Encode};
use lbprof_collector::record::{NO_PEER, NONE};
use lbprof_collector::semantics::{CommunicationPattern, EpochStep, SendMode};

use crate::model::code::region_state::{Ns, RegionState};

/// The role of a call, or of a part of one, in a communication with another rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum CommRole {
    /// Sends and returns when it may: a blocking send.
    Send,
    /// Receives and returns when the message has arrived.
    Recv,
    StartSend,
    /// Makes partitions of a send ready that was started under a request.
    Ready,
    StartRecv,
    /// Starts a receive of which it is not known yet what it will receive: the record of its completion says.
    StartRecvAny,
    /// Completes a request, having waited for it.
    Done,
    /// Completes a request that was found complete: it did not wait.
    Found,
    /// Finds a request complete, having waited for it, and leaves it as it is.
    Seen,
    /// Completes a request that was cancelled: nothing was transferred.
    Cancelled,
    /// Waits until there is a message.
    Probe,
    /// Enters a collective of a communicator and returns when it may.
    Collective(CommunicationPattern),
    StartCollective(CommunicationPattern),
    /// Begins or ends an epoch on an RMA window that not all its ranks enter together.
    Epoch(EpochStep),
    /// Asks for a lock of an RMA window at one target, or at all.
    Lock {
        /// True if no other rank may have it meanwhile.
        exclusive: bool,
        /// True if repeated calls are folded into this one.
        folded: bool,
    },
    Unlock {
        /// True if repeated calls are folded into this one.
        folded: bool,
    },
    /// Completes accesses to an RMA window at one target, or at all.
    Flush,
    /// Reads a value in an RMA window of a target, and may change it at once.
    Fetch {
        /// True if it changes the value: what it reads, no other rank has read or will read.
        changes: bool,
    },
    /// Starts an access to an RMA window at one target, under a request.
    StartAccess {
        fetches: bool,
    },
}

/// The part of a step in a communication with another rank or on a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub struct CommEvent {
    pub role: CommRole,
    /// Index of the communicator in [`crate::model::Model::communicators`]; NONE: not known.
    pub comm: u32,
    /// World rank of the other side, of the root, or of a lock's target; NONE if there is none. Events with several ranks have the number of a
    /// list (see [`StepBatch::lists`]); for neighbours it lists the ranks that send to this rank, and the next list the ranks that it sends to.
    pub peer: u32,
    /// The message's tag. For a collective its object: 0 for the communicator itself, else an RMA window or a file.
    pub tag: i32,
    /// The request; NONE where there is none.
    pub request: u32,
    pub bytes: u64,
    /// The mode of a send, which says whether it may wait for its receive.
    pub mode: SendMode,
    /// True for a receive of the first message of any source.
    pub any: bool,
}

/// Arguments of a call, for observers of single calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub struct CallFacts {
    /// Index of the communicator in [`crate::model::Model::communicators`]; NONE: none, or not known.
    pub comm: u32,
    /// World rank of the other side, of the root or of the target; NONE where there is none, or where there are several.
    pub peer: u32,
    /// The message's tag; NO_PEER where there is none.
    pub tag: i32,
    /// Bytes sent, written or contributed by the call.
    pub sent: u64,
    /// Bytes received, read or given by the call. The bytes of a message count in the call in which it has arrived.
    pub received: u64,
    /// The request that it tested at its begin and found incomplete; NONE: none, or several.
    pub tested: u32,
}

impl CallFacts {
    pub const NOTHING: CallFacts =
        CallFacts { comm: NONE, peer: NONE, tag: NO_PEER, sent: 0, received: 0, tested: NONE };
}

/// Instances of a parallel region in the computation before a step: a single one if the arguments of calls are wanted, else all instances of a
/// region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct ParallelPart {
    /// Index of the call site that stands for the region; NONE where it is not known.
    pub site: u32,
    pub begin: Ns,
    pub elapsed: Ns,
    pub team: u32,
    /// Time by which they would have been shorter if all threads had worked equally long; of a single thread its work.
    pub excess: Ns,
    /// NONE; or the number of the one thread of the team that this is about: from when until when it ran the region's function.
    pub thread: u32,
}

impl ParallelPart {
    pub fn is_of_team(&self) -> bool {
        self.thread == NONE
    }
}

/// An interval of computation and the call at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub struct TimelineStep {
    /// Begin of the call: until then the thread did `before`.
    pub begin: Ns,
    pub end: Ns,
    pub before: RegionState,
    pub kind: RegionState,
    /// Index of the call site; NONE where it is not known.
    pub site: u32,
    pub operation: u16,
    /// Number of this step's events, which are consecutive in the batch.
    pub events: u16,
    /// Number of this step's parts in parallel regions.
    pub parallel: u16,
    pub facts: CallFacts,
}

#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct StepBatch {
    /// The thread's number in its log.
    pub thread: u32,
    pub steps: Vec<TimelineStep>,
    pub events: Vec<CommEvent>,
    /// Parts of the computation in parallel regions, in the order of the steps.
    pub parallel: Vec<ParallelPart>,
    /// Lists of world ranks that events name by number from here on: all of a rank's batches together number them from 0.
    pub lists: Vec<Arc<[u32]>>,
    /// True if records before the first are missing, so that what follows can't be counted on to match.
    pub gap: bool,
    /// True if the thread does nothing more, and is not the one that called MPI_Init.
    pub last: bool,
}
