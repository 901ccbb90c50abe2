//! The operations that events start and requests stand for.

use super::pending::channels::TransferId;
use super::pending::collectives::CollectiveId;
use super::pending::signals::AwaitedId;

#[derive(Clone, Copy, Debug)]
pub enum StartedOperation {
    Transfer {
        id: TransferId,
        sends: bool,
    },
    Collective(CollectiveId),
    AwaitedSignals(AwaitedId),
    /// An access to a window of this world rank.
    Access(u32),
    /// A receive of which it is not known yet what it receives.
    Any(TransferId),
    /// Nothing that a call could wait for, or an operation that cannot be matched.
    Nothing,
}

/// The operations of an event or request: a combined send and receive stands for two, others for one.
pub type StartedOperations = [StartedOperation; 2];

pub const NOTHING: StartedOperations = [StartedOperation::Nothing; 2];
