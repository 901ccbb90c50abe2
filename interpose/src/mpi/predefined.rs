//! Handles that MPI itself defines, and facts that handles show.

use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::machine::word::Word;
use crate::mpi::abi::{self, AbiFamily, SharedRequests, current_abi};
use crate::mpi::symbols::find_symbol;

#[derive(Clone, Copy)]
#[repr(usize)]
pub enum PredefinedHandle {
    CommNull,
    DatatypeNull,
    RequestNull,
    MessageNull,
    MessageNoProc,
    NoOp,
    CommWorld,
    CommSelf,
    Byte,
}

/// Open MPI's symbol, MPICH's number and the standard's number of each [`PredefinedHandle`].
const HANDLES: [(&CStr, usize, usize); 9] = [
    (c"ompi_mpi_comm_null", 0x0400_0000, 0x100),
    (c"ompi_mpi_datatype_null", 0x0c00_0000, 0x200),
    (c"ompi_request_null", 0x2c00_0000, 0x180),
    (c"ompi_message_null", 0x2c00_0000, 0x128),
    (c"ompi_message_no_proc", 0x6c00_0000, 0x129),
    (c"ompi_mpi_op_no_op", 0x5800_000e, 0x3d),
    (c"ompi_mpi_comm_world", 0x4400_0000, 0x101),
    (c"ompi_mpi_comm_self", 0x4400_0001, 0x102),
    (c"ompi_mpi_byte", 0x4c00_010d, 0x247),
];

/// The handles of the library in this process, filled on first use.
#[unsafe(link_section = ".data.lbprof_frequent")]
static KNOWN_HANDLES: [AtomicUsize; HANDLES.len()] = [const { AtomicUsize::new(usize::MAX) }; HANDLES.len()];

#[inline(always)]
pub fn is_predefined(predefined: PredefinedHandle, handle: Word) -> bool {
    handle == predefined_handle(predefined)
}

#[inline(always)]
fn predefined_handle(predefined: PredefinedHandle) -> Word {
    let index = predefined as usize;
    match KNOWN_HANDLES.get(index).map_or(usize::MAX, |known| known.load(Relaxed)) {
        usize::MAX => find_handle(index),
        handle => handle,
    }
}

#[cold]
#[inline(never)]
fn find_handle(index: usize) -> usize {
    let (Some(&(name, mpich, standard)), Some(known)) = (HANDLES.get(index), KNOWN_HANDLES.get(index)) else {
        return 0;
    };
    let handle = match current_abi().kind {
        AbiFamily::OpenMpi => find_symbol(name),
        AbiFamily::Standard => standard,
        AbiFamily::Mpich => mpich,
    };
    known.store(handle, Relaxed);
    handle
}

pub fn comm_world() -> Word {
    predefined_handle(PredefinedHandle::CommWorld)
}

pub fn comm_self() -> Word {
    predefined_handle(PredefinedHandle::CommSelf)
}

pub fn mpi_byte() -> Word {
    predefined_handle(PredefinedHandle::Byte)
}

/// Returns the size in bytes of a datatype, or `None` if its handle does not give it.
pub fn size_in_handle(datatype: Word) -> Option<u64> {
    match current_abi().kind {
        AbiFamily::Mpich if datatype & 0xff00_0000 == 0x4c00_0000 => Some(datatype as u64 >> 8 & 0xff),
        // Fixed-size predefined datatypes of MPI-5 (§20.4): bits 8, 7, 6 = 1, 0, 0x240 … 0x27f.
        AbiFamily::Standard if datatype & !0x3f == 0x240 => Some(1 << (datatype >> 3 & 7)),
        _ => None,
    }
}

/// Looks up the shared requests when the interface is known.
pub fn look_up() {
    let (bits, shared) = match current_abi().kind {
        // One request is complete from the start.
        AbiFamily::OpenMpi => (usize::MAX, find_symbol(c"ompi_request_empty")),
        // Built-in requests have the kind of handle that predefined objects have.
        AbiFamily::Mpich => (0xc000_0000, 0x4000_0000),
        AbiFamily::Standard => (0, 1),
    };
    abi::set_shared_requests(SharedRequests { bits, shared, null: predefined_handle(PredefinedHandle::RequestNull) });
}

/// Returns the request handles that stand for many completed requests at once, and so must not be followed: MPICH's built-in ones, and
/// the one that Open MPI gives to every send that it could hand over at once, and to messages without a partner.
#[inline(always)]
pub fn shared_requests() -> SharedRequests {
    current_abi().requests
}

#[inline(always)]
pub fn is_shared_request(request: Word) -> bool {
    shared_requests().contains(request)
}

/// Returns whether MPI may take a word for a communicator's handle rather than refuse it at sight.
pub fn may_be_comm(handle: Word) -> bool {
    current_abi().kind != AbiFamily::Mpich || is_mpich_handle(handle, 1)
}

/// Returns whether a word may be a datatype's handle.
pub fn may_be_datatype(handle: Word) -> bool {
    current_abi().kind != AbiFamily::Mpich || is_mpich_handle(handle, 3)
}

/// Returns whether MPICH's handle belongs to an object of this kind (MPICH, src/include/mpir_objects.h: two bits say how the object is
/// stored, 0 being invalid, and four bits give its kind).
fn is_mpich_handle(handle: Word, kind: usize) -> bool {
    handle >> 30 & 3 != 0 && handle >> 26 & 0xf == kind
}

/// Returns whether MPI may take a word for a request's handle, a null one included, rather than refuse it at sight.
#[inline(always)]
pub fn may_be_request(interface: AbiFamily, handle: Word) -> bool {
    match interface {
        // Bits 26 to 29 are the kind of the object.
        AbiFamily::Mpich => handle >> 26 & 0xf == 0xb,
        _ => handle != 0,
    }
}
