//! Events on windows, of the location that is written.

use std::io;
use std::ptr::null_mut;

use bincode::{Decode, Encode};

use super::events::EventWriter;
use super::functions::call;
use super::{Ref, UNDEFINED};

/// Values of `OTF2_LockType`, and the number of the lock at a rank: a window has one at each.
const EXCLUSIVE: u8 = 0;
const SHARED: u8 = 1;
const ONLY_LOCK: u64 = 0;

/// A value of `OTF2_RmaSyncType`.
const MEMORY: u8 = 0;

/// An event on a window, with the arguments of OTF2.
#[expect(missing_docs, reason = "the fields are the arguments of the library's functions")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub enum WindowEvent {
    /// A window was created.
    Create { window: Ref },
    /// The window is freed.
    Destroy { window: Ref },
    /// A collective on a window begins.
    BeginCollective,
    /// The collective ends.
    EndCollective { operation: u8, level: u32, window: Ref },
    /// A lock at one rank, or at all, was acquired.
    AcquireLock { window: Ref, remote: u32, exclusive: bool },
    /// The lock is released.
    ReleaseLock { window: Ref, remote: u32 },
    /// Data go to a rank.
    Put { window: Ref, remote: u32, bytes: u64, id: u64 },
    /// Data come from a rank.
    Get { window: Ref, remote: u32, bytes: u64, id: u64 },
    /// Data are combined with those of a rank, and may come back; the kind is a value of `OTF2_RmaAtomicType`.
    Atomic { window: Ref, remote: u32, kind: u8, sent: u64, received: u64, id: u64 },
    /// An epoch with a group of ranks begins or ends.
    SynchronizeGroup { window: Ref, level: u32, group: Ref },
    /// The copies of a rank's memory are made equal.
    SynchronizeMemory { window: Ref, remote: u32 },
    /// A transfer is complete at its origin.
    Complete { window: Ref, id: u64 },
    /// The operation is complete at its target.
    CompleteRemote { window: Ref, id: u64 },
}

impl EventWriter<'_> {
    /// Writes an event on a window.
    ///
    /// Errors: what the library says.
    pub fn use_window(&mut self, time: u64, event: &WindowEvent) -> io::Result<()> {
        let (archive, writer, none) = (self.archive, self.writer.as_ptr(), null_mut());
        match *event {
            WindowEvent::Create { window } => call!(archive, EvtWriter_RmaWinCreate(writer, none, time, window)),
            WindowEvent::Destroy { window } => call!(archive, EvtWriter_RmaWinDestroy(writer, none, time, window)),
            WindowEvent::BeginCollective => call!(archive, EvtWriter_RmaCollectiveBegin(writer, none, time)),
            WindowEvent::EndCollective { operation, level, window } => {
                let root = UNDEFINED;
                call!(archive, EvtWriter_RmaCollectiveEnd(writer, none, time, operation, level, window, root, 0, 0))
            }
            WindowEvent::AcquireLock { window, remote, exclusive } => {
                let kind = if exclusive { EXCLUSIVE } else { SHARED };
                call!(archive, EvtWriter_RmaAcquireLock(writer, none, time, window, remote, ONLY_LOCK, kind))
            }
            WindowEvent::ReleaseLock { window, remote } => {
                call!(archive, EvtWriter_RmaReleaseLock(writer, none, time, window, remote, ONLY_LOCK))
            }
            WindowEvent::Put { window, remote, bytes, id } => {
                call!(archive, EvtWriter_RmaPut(writer, none, time, window, remote, bytes, id))
            }
            WindowEvent::Get { window, remote, bytes, id } => {
                call!(archive, EvtWriter_RmaGet(writer, none, time, window, remote, bytes, id))
            }
            WindowEvent::Atomic { window, remote, kind, sent, received, id } => {
                call!(archive, EvtWriter_RmaAtomic(writer, none, time, window, remote, kind, sent, received, id))
            }
            WindowEvent::SynchronizeGroup { window, level, group } => {
                call!(archive, EvtWriter_RmaGroupSync(writer, none, time, level, window, group))
            }
            WindowEvent::SynchronizeMemory { window, remote } => {
                call!(archive, EvtWriter_RmaSync(writer, none, time, window, remote, MEMORY))
            }
            WindowEvent::Complete { window, id } => {
                call!(archive, EvtWriter_RmaOpCompleteBlocking(writer, none, time, window, id))
            }
            WindowEvent::CompleteRemote { window, id } => {
                call!(archive, EvtWriter_RmaOpCompleteRemote(writer, none, time, window, id))
            }
        }
    }
}
