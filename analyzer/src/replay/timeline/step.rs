//! What a thread does next, with the ids of the run: what the timeline is made of.

use std::sync::Arc;

use crate::model::kind::Kind;
use crate::model::kind::Ns;

/// What a call, or a part of one, does with another rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sends and returns when it may: a blocking send.
    Send,
    /// Receives and returns when the message has arrived.
    Recv,
    /// Starts a send, under a request.
    StartSend,
    /// Makes partitions of a send ready that was started under a request.
    Ready,
    /// Starts a receive, under a request.
    StartRecv,
    /// Starts a receive of which it is not known yet what it will receive: the record of its completion tells.
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
    /// Meets the other ranks of a communicator and returns when it may.
    Collective(Pattern),
    /// Starts to meet them, under a request.
    StartCollective(Pattern),
    /// Begins or ends an epoch on a window that not all its ranks enter together.
    Epoch(EpochStep),
}

/// A step of an epoch on a window (MPI-4.1 §12.5.2, §12.5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EpochStep {
    /// The window is exposed to the origins.
    Post,
    /// Access to the targets begins: here, or in [`EpochStep::Complete`], it waits until each has exposed its window.
    Start,
    /// Access to the targets ends.
    Complete,
    /// The exposure ends: it waits until all origins have completed their access.
    Wait,
    /// The same, found without waiting.
    Test,
    /// A lock at one target, or at all.
    Lock {
        /// Whether nobody else may have it meanwhile.
        exclusive: bool,
    },
    /// It is given back.
    Unlock,
}

/// Whether a send may wait for its receive (MPI-4.1 §3.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SendMode {
    /// It may where its message is large: standard and ready sends.
    #[default]
    Standard,
    /// It always does.
    Synchronous,
    /// It never does.
    Buffered,
}

/// Who waits for whom in a collective operation (METRICS §1: by their kind).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// All wait for the last to enter.
    AllToAll,
    /// The others wait for the root.
    OneToAll,
    /// The root waits for the last of the others.
    AllToOne,
    /// Each waits for those before it.
    Prefix,
    /// Each waits for the last of its neighbours that send to it.
    Neighbours,
}

/// What a step does with another rank or with a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommEvent {
    /// What it does.
    pub role: Role,
    /// Index of the communicator in [`crate::model::Model::communicators`]; NONE: not known.
    pub comm: u32,
    /// World rank of the other side, of the root, or of a lock's target; NONE where there is none. Of what is done with several ranks the
    /// number of their list, see [`Batch::lists`]; of neighbours that of those that send to this rank, behind which are those that it
    /// sends to.
    pub peer: u32,
    /// The message's tag. Of a meeting what it is on: 0 the communicator itself, else a window or a file.
    pub tag: i32,
    /// The request; NONE where there is none.
    pub request: u32,
    /// Bytes sent, or received.
    pub bytes: u64,
    /// Of a send: whether it may wait for its receive.
    pub mode: SendMode,
    /// Of a receive: whether it took the first message of any source.
    pub any: bool,
}

/// A stretch of computation and the call at its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// When the call begins: until then the thread did `before`.
    pub begin: Ns,
    /// When it ends.
    pub end: Ns,
    /// What the thread did since the step before.
    pub before: Kind,
    /// What the call is.
    pub kind: Kind,
    /// Index of the call site; NONE where it is not known.
    pub site: u32,
    /// Number of the operation.
    pub operation: u16,
    /// How many of the batch's events, which follow one another, are this step's.
    pub events: u16,
}

/// Steps of a thread that follow one another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// The thread's number in its log.
    pub thread: u32,
    /// The steps.
    pub steps: Vec<Step>,
    /// Their events, in the order of the steps.
    pub events: Vec<CommEvent>,
    /// Lists of world ranks that events name by number from here on: all of a rank's batches together number them from 0.
    pub lists: Vec<Arc<[u32]>>,
    /// Whether records before the first are missing, so that what follows can't be counted on to match.
    pub gap: bool,
    /// Whether the thread does nothing more, and is not the one that called MPI_Init.
    pub last: bool,
}
