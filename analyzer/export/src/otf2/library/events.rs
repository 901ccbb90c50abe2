//! The events of one location.

use std::ffi::c_void;
use std::io;
use std::ptr::{NonNull, null_mut};

use super::Ref;
use super::archive::Otf2Archive;
use super::functions::call;

/// The value of an attribute of an event.
#[derive(Clone, Copy)]
pub enum AttributeValue {
    /// A text, by its number.
    Text(Ref),
    /// A number of 32 bits.
    Number(u32),
    /// A number of 64 bits.
    LongNumber(u64),
}

/// A message on one of its sides.
pub struct MessageFacts {
    /// The rank of the other side in the communicator.
    pub peer: u32,
    /// The communicator.
    pub comm: Ref,
    /// Its tag.
    pub tag: u32,
    /// Its bytes.
    pub bytes: u64,
    /// The request, where this side is nonblocking.
    pub request: Option<u64>,
}

/// A collective operation, as the event at its end has it.
pub struct CollectiveFacts {
    /// The value of `OTF2_CollectiveOp`.
    pub operation: u8,
    /// The communicator.
    pub comm: Ref,
    /// The rank of the root in the communicator, or a value of `OTF2_CollectiveRoot`.
    pub root: u32,
    /// Bytes that the rank contributes.
    pub sent: u64,
    /// Bytes that it is given.
    pub received: u64,
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

    /// Enters a region, with attributes by their numbers.
    ///
    /// Errors: what the library says.
    pub fn enter(&mut self, time: u64, region: Ref, attributes: &[(Ref, AttributeValue)]) -> io::Result<()> {
        let list = self.attributes.as_ptr();
        for &(name, value) in attributes {
            match value {
                AttributeValue::Text(value) => call!(self.archive, AttributeList_AddStringRef(list, name, value))?,
                AttributeValue::Number(value) => call!(self.archive, AttributeList_AddUint32(list, name, value))?,
                AttributeValue::LongNumber(value) => call!(self.archive, AttributeList_AddUint64(list, name, value))?,
            }
        }
        // The library empties the list.
        call!(self.archive, EvtWriter_Enter(self.writer.as_ptr(), list, time, region))
    }

    /// Leaves a region.
    pub fn leave(&mut self, time: u64, region: Ref) -> io::Result<()> {
        call!(self.archive, EvtWriter_Leave(self.writer.as_ptr(), null_mut(), time, region))
    }

    /// Sends a message.
    pub fn send(&mut self, time: u64, message: &MessageFacts) -> io::Result<()> {
        let &MessageFacts { peer, comm, tag, bytes, request } = message;
        let writer = self.writer.as_ptr();
        match request {
            Some(id) => {
                call!(self.archive, EvtWriter_MpiIsend(writer, null_mut(), time, peer, comm, tag, bytes, id))
            }
            None => call!(self.archive, EvtWriter_MpiSend(writer, null_mut(), time, peer, comm, tag, bytes)),
        }
    }

    /// Completes a nonblocking send.
    pub fn complete_send(&mut self, time: u64, request: u64) -> io::Result<()> {
        call!(self.archive, EvtWriter_MpiIsendComplete(self.writer.as_ptr(), null_mut(), time, request))
    }

    /// Starts a nonblocking receive.
    pub fn start_receive(&mut self, time: u64, request: u64) -> io::Result<()> {
        call!(self.archive, EvtWriter_MpiIrecvRequest(self.writer.as_ptr(), null_mut(), time, request))
    }

    /// Tests a request that is incomplete.
    pub fn test_request(&mut self, time: u64, request: u64) -> io::Result<()> {
        call!(self.archive, EvtWriter_MpiRequestTest(self.writer.as_ptr(), null_mut(), time, request))
    }

    /// Cancels a request.
    pub fn cancel_request(&mut self, time: u64, request: u64) -> io::Result<()> {
        call!(self.archive, EvtWriter_MpiRequestCancelled(self.writer.as_ptr(), null_mut(), time, request))
    }

    /// Receives a message.
    pub fn receive(&mut self, time: u64, message: &MessageFacts) -> io::Result<()> {
        let &MessageFacts { peer, comm, tag, bytes, request } = message;
        let writer = self.writer.as_ptr();
        match request {
            Some(id) => {
                call!(self.archive, EvtWriter_MpiIrecv(writer, null_mut(), time, peer, comm, tag, bytes, id))
            }
            None => call!(self.archive, EvtWriter_MpiRecv(writer, null_mut(), time, peer, comm, tag, bytes)),
        }
    }

    /// Begins a collective operation.
    pub fn begin_collective(&mut self, time: u64) -> io::Result<()> {
        call!(self.archive, EvtWriter_MpiCollectiveBegin(self.writer.as_ptr(), null_mut(), time))
    }

    /// Ends a collective operation.
    pub fn end_collective(&mut self, time: u64, facts: &CollectiveFacts) -> io::Result<()> {
        let &CollectiveFacts { operation, comm, root, sent, received } = facts;
        let writer = self.writer.as_ptr();
        call!(self.archive, EvtWriter_MpiCollectiveEnd(writer, null_mut(), time, operation, comm, root, sent, received))
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
