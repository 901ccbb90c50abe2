//! Who talks to whom: sends to receives, the ranks that meet in a collective, and those that synchronise with some others.

mod channels;
mod collectives;
mod locks;
mod signals;

pub use channels::{Channel, Channels, SENT_AT_ONCE, Side, Transfer, TransferId};
pub use collectives::{CollectiveId, CollectiveInstance, Collectives, Entry};
pub use locks::{ALL, Locks, Release};
pub use signals::{AwaitedId, Sent, Signal, SignalRoute, Signals};
