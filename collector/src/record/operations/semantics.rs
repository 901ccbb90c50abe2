//! The meaning of operations in the MPI standard: the columns of the table in [`crate::operation`] besides number and activity.
//!
//! | column | what it says |
//! |---|---|
//! | [`OperationSemantics`] | stage of the operation (blocking, started, prepared, completed), communication pattern, send mode |
//! | [`SynchronisesWith`] | whom a call cannot end before, whatever is transferred |
//! | [`CompletionEffect`] | which requests or transfers of earlier calls it completes |
//! | polls | whether it asks without waiting |

use bincode::{Decode, Encode};

/// The effect of an operation on other ranks (MPI-4.1 chapters 3 to 8, 12, 14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationSemantics {
    /// Nothing: it ends when its own rank has done its part, or what it waits for cannot be seen in the log.
    Nothing,
    /// A blocking send.
    Send(SendMode),
    /// A blocking receive.
    Recv,
    /// A send and a receive at once; the receive is a part.
    Exchange,
    /// Starts a send.
    StartSend(SendMode),
    /// Starts a receive.
    StartRecv,
    /// Starts both under one request.
    StartExchange,
    /// A blocking probe.
    Probe,
    /// A probe that does not wait.
    AskForMessage,
    /// Prepares a persistent send.
    PrepareSend(SendMode),
    /// Prepares a persistent receive.
    PrepareRecv,
    /// Prepares a persistent collective.
    PrepareCollective(CommunicationPattern),
    /// Starts a persistent operation.
    Start,
    /// Starts several, which are parts.
    StartAll,
    /// Makes partitions of a started send ready.
    Ready,
    /// Waits for a request, or for several.
    Wait,
    /// Asks for a request, or for several.
    Test,
    /// Asks whether a request is complete, and leaves it as it is.
    AskForRequest,
    /// Looks at a request after waiting for it: only a call of [`OperationSemantics::AskForRequest`] that ends a wait by polling.
    Look,
    /// A collective.
    Collective(CommunicationPattern, CollectiveScope),
    /// Starts a collective on a communicator.
    StartCollective(CommunicationPattern),
    /// Begins or ends an epoch on a window that not all its ranks enter together.
    Epoch(EpochStep),
    /// Locks a window at one target, or at all.
    Lock,
    /// Unlocks it. Whether it waits for another rank is not recorded; the replay infers it from the end of the call.
    Unlock,
    /// Completes accesses to a window at one target, or at all; like [`OperationSemantics::Unlock`] it may wait for that.
    Flush,
    /// Reads and changes a value in a window at once, as a counter that ranks take their next piece of work from; like
    /// [`OperationSemantics::Unlock`] it may wait for the target.
    Fetch,
    /// Starts an access to a window at one target, under a request: completing it may wait for the target, like [`OperationSemantics::Unlock`].
    StartAccess,
}

/// The mode of a send: whether it may wait for its receive (MPI-4.1 §3.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Encode, Decode)]
pub enum SendMode {
    /// The send may wait if its message is large: standard and ready sends.
    #[default]
    Standard,
    /// The send always waits.
    Synchronous,
    /// The send never waits.
    Buffered,
}

/// The communication pattern of a collective operation: who waits for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum CommunicationPattern {
    /// Each rank waits for the last to enter.
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

/// The scope of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectiveScope {
    /// A communicator.
    Communicator,
    /// An RMA window: the record's tag.
    Window,
    /// A file: the record's tag.
    File,
}

/// A step of an epoch on a window with a group (MPI-4.1 §12.5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum EpochStep {
    /// The window is exposed to the origins.
    Post,
    /// Access to the targets begins: here, or in [`EpochStep::Complete`], it waits until each has exposed its window.
    Start,
    /// Access to the targets ends.
    Complete,
    /// The exposure ends: it waits until all origins have completed their access.
    Wait,
    /// Tests for completion without waiting.
    Test,
}

/// The ranks that a call must wait for before it can end, even if no data come from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SynchronisesWith {
    /// No rank for certain: it depends on the sizes of messages and on the MPI.
    Nobody,
    /// No member can end the call before those that it waits for have entered it.
    Members,
    /// No rank that receives anything can end the call before each of its sources has entered it: all blocks are equally large.
    Sources,
}

/// The completion of earlier calls by a call or part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionEffect {
    /// Nothing.
    Nothing,
    /// A single request, which its own record names.
    Request,
    /// Several requests: those that were complete first, which are parts.
    Some,
    /// Every one of several requests, which are parts.
    All,
    /// No completion: it looks at requests and leaves them as they are.
    Status,
    /// A split transfer to or from a file.
    Transfer,
}

impl OperationSemantics {
    /// Returns whether it prepares a persistent or partitioned operation, which transfers nothing.
    pub const fn prepares(self) -> bool {
        matches!(self, Self::PrepareSend(_) | Self::PrepareRecv | Self::PrepareCollective(_))
    }

    /// Returns the meaning of an operation whose call ends a wait by polling: it counts as a call that waits.
    pub const fn after_polling(self) -> OperationSemantics {
        match self {
            OperationSemantics::Test => OperationSemantics::Wait,
            OperationSemantics::Epoch(EpochStep::Test) => OperationSemantics::Epoch(EpochStep::Wait),
            OperationSemantics::AskForMessage => OperationSemantics::Probe,
            OperationSemantics::AskForRequest => OperationSemantics::Look,
            other => other,
        }
    }
}

impl CompletionEffect {
    /// Returns whether the requests that it completes are parts that follow, as many as its record's count.
    pub const fn has_parts(self) -> bool {
        matches!(self, CompletionEffect::Some | CompletionEffect::All)
    }
}
