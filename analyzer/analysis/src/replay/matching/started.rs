//! What events start, and what requests stand for.

use super::channels::TransferId;
use super::collectives::CollectiveId;
use super::signals::AwaitedId;

/// What was started and is not over.
#[derive(Clone, Copy, Debug)]
pub enum StartedOperation {
    /// A send, or a receive.
    Transfer {
        /// The message.
        id: TransferId,
        /// Which.
        sends: bool,
    },
    /// A collective.
    Collective(CollectiveId),
    /// What some others signal.
    AwaitedSignals(AwaitedId),
    /// A receive of which it is not known yet what it receives.
    Any(TransferId),
    /// Something with a rank of which nothing is known.
    Nothing,
}

/// What an event started, or a request stands for: a combined send and receive stands for two, others for one.
pub type StartedTransfers = [StartedOperation; 2];

/// Nothing that ends.
pub const NOTHING: StartedTransfers = [StartedOperation::Nothing; 2];
