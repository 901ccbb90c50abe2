//! Who talks to whom: sends to receives, the ranks that meet in a collective, and those that synchronise with some others.

mod channels;
mod locks;
mod meetings;
mod signals;

pub use channels::{Channel, Channels, SENT_AT_ONCE, Side, Transfer, TransferId};
pub use locks::{ALL, Locks, Release};
pub use meetings::{Entry, Gathering, Gatherings, MeetingId};
pub use signals::{HearingId, Line, Says, Signals, Told};
