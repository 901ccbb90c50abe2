//! The events of one location.

use std::ffi::c_void;
use std::io;
use std::ptr::{NonNull, null_mut};

use bincode::{Decode, Encode};

use super::Ref;
use super::archive::Otf2Archive;
use super::functions::call;

/// Numbers of the attributes of events.
pub const CALL_SITE: Ref = 0;
pub const WAIT_STATE: Ref = 1;
pub const WAITING: Ref = 2;
pub const DELAY_SOURCE: Ref = 3;

/// An event on a location.
#[derive(Debug, PartialEq, Eq, Encode, Decode)]
pub enum TraceEvent {
    /// A region is entered. `wait` is the wait that a call begins with, and `call_site` the number of a text.
    Enter { region: Ref, call_site: Option<Ref>, wait: Option<WaitAttributes> },
    /// A region is left.
    Leave { region: Ref },
    /// A message is sent, under a request if the send is nonblocking.
    Send { peer: u32, comm: Ref, tag: u32, bytes: u64, request: Option<u32> },
    /// The send under a request is complete.
    CompleteSend { request: u32 },
    /// A receive is started under a request.
    StartReceive { request: u32 },
    /// A message was received, under a request if the receive is nonblocking.
    Receive { peer: u32, comm: Ref, tag: u32, bytes: u64, request: Option<u32> },
    /// A request was tested and is incomplete.
    TestRequest { request: u32 },
    /// A request was cancelled.
    CancelRequest { request: u32 },
    /// A collective operation begins.
    BeginCollective,
    /// A collective operation ends. `operation` is a value of `OTF2_CollectiveOp`, `root` a rank in `comm` or a value of `OTF2_CollectiveRoot`.
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

/// Writes the events of one location, in the order of time.
pub struct EventWriter<'a> {
    archive: &'a Otf2Archive<'a>,
    writer: NonNull<c_void>,
    attributes: NonNull<c_void>,
}

impl<'a> EventWriter<'a> {
    /// Opens a location of an archive.
    ///
    /// Errors: what the library says, here and below.
    pub fn open(archive: &'a Otf2Archive<'a>, location: u64) -> io::Result<EventWriter<'a>> {
        // SAFETY: The archive is open.
        let writer =
            archive.check_handle(unsafe { (archive.library.Archive_GetEvtWriter)(archive.handle(), location) })?;
        // SAFETY: It takes nothing.
        let attributes = archive.check_handle(unsafe { (archive.library.AttributeList_New)() })?;
        Ok(EventWriter { archive, writer, attributes })
    }

    /// Writes an event.
    ///
    /// Errors: what the library says.
    pub fn write(&mut self, time: u64, event: TraceEvent) -> io::Result<()> {
        let (archive, writer) = (self.archive, self.writer.as_ptr());
        match event {
            TraceEvent::Enter { region, call_site, wait } => {
                self.add_attributes(call_site, wait)?;
                // The library empties the list.
                call!(archive, EvtWriter_Enter(writer, self.attributes.as_ptr(), time, region))
            }
            TraceEvent::Leave { region } => call!(archive, EvtWriter_Leave(writer, null_mut(), time, region)),
            TraceEvent::Send { peer, comm, tag, bytes, request: None } => {
                call!(archive, EvtWriter_MpiSend(writer, null_mut(), time, peer, comm, tag, bytes))
            }
            TraceEvent::Send { peer, comm, tag, bytes, request: Some(id) } => {
                call!(archive, EvtWriter_MpiIsend(writer, null_mut(), time, peer, comm, tag, bytes, id.into()))
            }
            TraceEvent::CompleteSend { request } => {
                call!(archive, EvtWriter_MpiIsendComplete(writer, null_mut(), time, request.into()))
            }
            TraceEvent::StartReceive { request } => {
                call!(archive, EvtWriter_MpiIrecvRequest(writer, null_mut(), time, request.into()))
            }
            TraceEvent::Receive { peer, comm, tag, bytes, request: None } => {
                call!(archive, EvtWriter_MpiRecv(writer, null_mut(), time, peer, comm, tag, bytes))
            }
            TraceEvent::Receive { peer, comm, tag, bytes, request: Some(id) } => {
                call!(archive, EvtWriter_MpiIrecv(writer, null_mut(), time, peer, comm, tag, bytes, id.into()))
            }
            TraceEvent::TestRequest { request } => {
                call!(archive, EvtWriter_MpiRequestTest(writer, null_mut(), time, request.into()))
            }
            TraceEvent::CancelRequest { request } => {
                call!(archive, EvtWriter_MpiRequestCancelled(writer, null_mut(), time, request.into()))
            }
            TraceEvent::BeginCollective => call!(archive, EvtWriter_MpiCollectiveBegin(writer, null_mut(), time)),
            TraceEvent::EndCollective { operation, comm, root, sent, received } => call!(
                archive,
                EvtWriter_MpiCollectiveEnd(writer, null_mut(), time, operation, comm, root, sent, received)
            ),
        }
    }

    fn add_attributes(&mut self, call_site: Option<Ref>, wait: Option<WaitAttributes>) -> io::Result<()> {
        let (archive, list) = (self.archive, self.attributes.as_ptr());
        if let Some(text) = call_site {
            call!(archive, AttributeList_AddStringRef(list, CALL_SITE, text))?;
        }
        if let Some(WaitAttributes { state, waiting_ns, source }) = wait {
            call!(archive, AttributeList_AddStringRef(list, WAIT_STATE, state))?;
            call!(archive, AttributeList_AddUint64(list, WAITING, waiting_ns))?;
            if let Some(rank) = source {
                call!(archive, AttributeList_AddUint32(list, DELAY_SOURCE, rank))?;
            }
        }
        Ok(())
    }

    /// Writes the rest, and frees the location's memory.
    pub fn close(self) -> io::Result<()> {
        call!(self.archive, Archive_CloseEvtWriter(self.archive.handle(), self.writer.as_ptr()))
    }
}

impl Drop for EventWriter<'_> {
    fn drop(&mut self) {
        // Freeing its memory cannot fail.
        let _ = call!(self.archive, AttributeList_Delete(self.attributes.as_ptr()));
    }
}
