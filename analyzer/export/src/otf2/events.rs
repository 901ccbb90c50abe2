//! Events on locations, as bytes that are sorted.

use std::io;

use bincode::{Decode, Encode};
use lbprof_analysis::codec;
use lbprof_analysis::model::region_state::Ns;

use super::library::{AttributeValue, CollectiveFacts, EventWriter, MessageFacts, Ref};
use crate::external_sort::Key;

/// Numbers of the attributes that an event may have.
pub const CALL_SITE: Ref = 0;
pub const WAIT_STATE: Ref = 1;
pub const WAITING: Ref = 2;
pub const DELAY_SOURCE: Ref = 3;

/// An event on a location.
#[derive(Debug, PartialEq, Eq, Encode, Decode)]
pub enum TraceEvent {
    /// A region is entered; a call that waits first has a wait.
    Enter { region: Ref, call_site: Option<Ref>, wait: Option<WaitAttributes> },
    /// A region is left.
    Leave { region: Ref },
    /// A message is sent, under a request where that is nonblocking.
    Send { peer: u32, comm: Ref, tag: u32, bytes: u64, request: Option<u32> },
    /// The send under a request is complete.
    CompleteSend { request: u32 },
    /// A receive is started under a request.
    StartReceive { request: u32 },
    /// A message was received, likewise.
    Receive { peer: u32, comm: Ref, tag: u32, bytes: u64, request: Option<u32> },
    /// A request was tested and is incomplete.
    TestRequest { request: u32 },
    /// A request was cancelled.
    CancelRequest { request: u32 },
    /// A collective operation begins.
    BeginCollective,
    /// A collective operation ends.
    EndCollective { operation: u8, comm: Ref, root: u32, sent: u64, received: u64 },
}

/// The wait that a call begins with.
#[derive(Debug, PartialEq, Eq, Encode, Decode)]
pub struct WaitAttributes {
    /// The number of the text of its state.
    pub state: Ref,
    /// Its nanoseconds.
    pub waiting_ns: u64,
    /// The world rank that ended it.
    pub source: Option<u32>,
}

/// The place of an event among those of its location at the same time.
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
    /// Returns by what it is sorted: by location, so that one after the other can be written, then by time.
    pub fn key(location: u64, time: Ns, order: EventOrder) -> Key {
        (location, (time.max(0) as u64) << 2 | order as u64)
    }

    /// Returns the location and the time of a key.
    pub fn place(key: Key) -> (u64, u64) {
        (key.0, key.1 >> 2)
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        codec::encoded(self)
    }

    /// Writes the event that `bytes` are.
    ///
    /// Errors: those of writing.
    pub fn write(bytes: &[u8], time: u64, out: &mut EventWriter) -> io::Result<()> {
        let event = codec::decoded(bytes).ok_or_else(|| io::Error::other("a temporary file has changed"))?;
        match event {
            TraceEvent::Enter { region, call_site, wait } => {
                let mut attributes = Vec::new();
                attributes.extend(call_site.map(|text| (CALL_SITE, AttributeValue::Text(text))));
                if let Some(WaitAttributes { state, waiting_ns, source }) = wait {
                    attributes.push((WAIT_STATE, AttributeValue::Text(state)));
                    attributes.push((WAITING, AttributeValue::LongNumber(waiting_ns)));
                    attributes.extend(source.map(|rank| (DELAY_SOURCE, AttributeValue::Number(rank))));
                }
                out.enter(time, region, &attributes)
            }
            TraceEvent::Leave { region } => out.leave(time, region),
            TraceEvent::Send { peer, comm, tag, bytes, request } => {
                out.send(time, &MessageFacts { peer, comm, tag, bytes, request: request.map(u64::from) })
            }
            TraceEvent::CompleteSend { request } => out.complete_send(time, request.into()),
            TraceEvent::StartReceive { request } => out.start_receive(time, request.into()),
            TraceEvent::Receive { peer, comm, tag, bytes, request } => {
                out.receive(time, &MessageFacts { peer, comm, tag, bytes, request: request.map(u64::from) })
            }
            TraceEvent::TestRequest { request } => out.test_request(time, request.into()),
            TraceEvent::CancelRequest { request } => out.cancel_request(time, request.into()),
            TraceEvent::BeginCollective => out.begin_collective(time),
            TraceEvent::EndCollective { operation, comm, root, sent, received } => {
                out.end_collective(time, &CollectiveFacts { operation, comm, root, sent, received })
            }
        }
    }
}
