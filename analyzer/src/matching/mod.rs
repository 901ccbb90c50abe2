//! Who talks to whom: sends to receives, and the ranks that meet in a collective.

mod channels;
mod meetings;

pub use channels::{Channel, Channels, SENT_AT_ONCE, Side, Transfer, TransferId};
pub use meetings::{Entry, Gathering, Gatherings, MeetingId};
