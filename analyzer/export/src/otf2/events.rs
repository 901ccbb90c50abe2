//! The order in which events are sorted.

use lbprof_analysis::model::code::region_state::Ns;

use super::library::TraceEvent;
use crate::external_sort::Key;

/// The order of events of one location at the same time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum EventOrder {
    /// The completion of a request at the end of a call, which may be known only later.
    #[default]
    Completes = 0,
    /// An end of something that began before.
    Ends = 1,
    /// A begin, or an event after one.
    Begins = 2,
    /// A send, or the start of a receive: it is known when the message is received, and comes after the begin of its call.
    Sends = 3,
}

impl EventOrder {
    /// True if such events of a location are found in the order of time.
    pub fn is_in_order(self) -> bool {
        matches!(self, EventOrder::Ends | EventOrder::Begins)
    }
}

impl TraceEvent {
    /// Returns the key that sorts an event: by location, so that they can be written one after another, then by time.
    pub fn key(location: u64, time: Ns, order: EventOrder) -> Key {
        (location, (time.max(0) as u64) << 2 | order as u64)
    }

    /// Returns the location and the time of a key.
    pub fn place(key: Key) -> (u64, u64) {
        (key.0, key.1 >> 2)
    }
}
