//! Handles that MPI itself defines, and what a handle says.

use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::mpi::abi::{self, AbiFamily, SharedRequests, abi};
use crate::mpi::symbols::symbol;
use crate::word::Word;

/// A handle that MPI defines: Open MPI's is the address of a symbol, which is looked up once.
struct PredefinedHandle {
    open_mpi: &'static CStr,
    standard: Word,
    mpich: Word,
    /// The symbol's address; 0: not looked up yet.
    address: AtomicUsize,
}

impl PredefinedHandle {
    const fn new(open_mpi: &'static CStr, standard: Word, mpich: Word) -> Self {
        PredefinedHandle { open_mpi, standard, mpich, address: AtomicUsize::new(0) }
    }

    fn get(&self) -> Word {
        match abi().kind {
            AbiFamily::OpenMpi => self.find_address(),
            AbiFamily::Standard => self.standard,
            _ => self.mpich,
        }
    }

    fn find_address(&self) -> Word {
        let known = self.address.load(Relaxed);
        if known != 0 {
            return known;
        }
        let found = symbol(self.open_mpi);
        self.address.store(found, Relaxed);
        found
    }
}

/// The handle of MPI_COMM_WORLD.
pub fn comm_world() -> Word {
    static WORLD: PredefinedHandle = PredefinedHandle::new(c"ompi_mpi_comm_world", 0x101, 0x4400_0000);
    WORLD.get()
}

/// The handle of MPI_COMM_SELF.
pub fn comm_self() -> Word {
    static COMM_SELF: PredefinedHandle = PredefinedHandle::new(c"ompi_mpi_comm_self", 0x102, 0x4400_0001);
    COMM_SELF.get()
}

/// The handle of MPI_BYTE.
pub fn byte() -> Word {
    static BYTE: PredefinedHandle = PredefinedHandle::new(c"ompi_mpi_byte", 0x247, 0x4c00_010d);
    BYTE.get()
}

/// Kinds of handle that have a null value, or another one that stands for nothing.
#[derive(Clone, Copy)]
#[repr(usize)]
pub enum NullHandle {
    /// MPI_COMM_NULL
    Comm,
    /// MPI_DATATYPE_NULL
    Datatype,
    /// MPI_REQUEST_NULL
    Request,
    /// MPI_MESSAGE_NULL
    Message,
    /// MPI_MESSAGE_NO_PROC
    MessageNoProc,
    /// MPI_NO_OP
    Op,
}

/// Null handles by interface: Open MPI's symbols, MPICH's numbers, the standard's numbers, by [`NullHandle`].
const NULLS: [(&CStr, usize, usize); 6] = [
    (c"ompi_mpi_comm_null", 0x0400_0000, 0x100),
    (c"ompi_mpi_datatype_null", 0x0c00_0000, 0x200),
    (c"ompi_request_null", 0x2c00_0000, 0x180),
    (c"ompi_message_null", 0x2c00_0000, 0x128),
    (c"ompi_message_no_proc", 0x6c00_0000, 0x129),
    (c"ompi_mpi_op_no_op", 0x5800_000e, 0x3d),
];

/// The null handles of the library in this process, filled on first use.
#[unsafe(link_section = ".data.lbprof_frequent")]
static NULL_HANDLES: [AtomicUsize; NULLS.len()] = [const { AtomicUsize::new(usize::MAX) }; NULLS.len()];

/// Returns whether `handle` is the null handle of `kind`.
#[inline(always)]
pub fn is_null(kind: NullHandle, handle: Word) -> bool {
    handle == null(kind)
}

/// The null handle of `kind`.
#[inline(always)]
pub fn null(kind: NullHandle) -> Word {
    let index = kind as usize;
    match NULL_HANDLES.get(index).map_or(usize::MAX, |known| known.load(Relaxed)) {
        usize::MAX => find_null(index),
        null => null,
    }
}

#[cold]
#[inline(never)]
fn find_null(index: usize) -> usize {
    let Some((name, mpich, standard)) = NULLS.get(index) else { return 0 };
    let null = match abi().kind {
        AbiFamily::OpenMpi => symbol(name),
        AbiFamily::Standard => *standard,
        _ => *mpich,
    };
    if let Some(known) = NULL_HANDLES.get(index) {
        known.store(null, Relaxed);
    }
    null
}

/// Size in bytes of a datatype whose handle gives it, or `None`.
pub fn size_in_handle(datatype: Word) -> Option<u64> {
    match abi().kind {
        AbiFamily::Mpich if datatype & 0xff00_0000 == 0x4c00_0000 => Some(datatype as u64 >> 8 & 0xff),
        // Fixed-size predefined datatypes of MPI-5 (§20.4): bits 8, 7, 6 = 1, 0, 0x240 … 0x27f.
        AbiFamily::Standard if datatype & !0x3f == 0x240 => Some(1 << (datatype >> 3 & 7)),
        _ => None,
    }
}

/// Finds what is looked up once, when the interface is known.
pub fn look_up() {
    let (bits, shared) = match abi().kind {
        // One request is complete from the start.
        AbiFamily::OpenMpi => (usize::MAX, symbol(c"ompi_request_empty")),
        // Built-in ones have the kind of handle that predefined objects have.
        _ if abi().handle_mask == 0xffff_ffff => (0xc000_0000, 0x4000_0000),
        _ => (0, 1),
    };
    abi::set_shared_requests(SharedRequests::new(bits, shared, null(NullHandle::Request)));
}

/// The request handles that stand for many completed requests at once, and so must not be followed: MPICH's built-in ones, and
/// the one that Open MPI gives to every send that it could hand over at once, and to what has no other side.
#[inline(always)]
pub fn shared_requests() -> SharedRequests {
    abi().requests
}

/// Returns whether a request handle is one of [`shared_requests`].
#[inline(always)]
pub fn is_shared_request(request: Word) -> bool {
    shared_requests().contains(request)
}

/// Returns whether MPI may take a word for a communicator's handle rather than refuse it at sight.
pub fn may_be_comm(handle: Word) -> bool {
    abi().kind != AbiFamily::Mpich || is_mpich_handle(handle, 1)
}

/// Returns whether a word may be a datatype's handle.
pub fn may_be_datatype(handle: Word) -> bool {
    abi().kind != AbiFamily::Mpich || is_mpich_handle(handle, 3)
}

/// Returns whether a handle of MPICH's is one of objects of this kind (MPICH, src/include/mpir_objects.h: two bits say how the object is
/// stored, 0 being invalid, and four of what kind it is).
fn is_mpich_handle(handle: Word, kind: usize) -> bool {
    handle >> 30 & 3 != 0 && handle >> 26 & 0xf == kind
}

/// Returns whether MPI may take a word for a request's handle, a null one included, rather than refuse it at sight.
#[inline(always)]
pub fn may_be_request(interface: AbiFamily, handle: Word) -> bool {
    match interface {
        // Bits 26 to 29 show what kind of object a handle is of.
        AbiFamily::Mpich => handle >> 26 & 0xf == 0xb,
        _ => handle != 0,
    }
}
