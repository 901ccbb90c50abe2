//! Facts that differ between MPI libraries' binary interfaces, and reading what depends on them.
//!
//! Nothing else in the library knows what a handle or a status looks like. The interface is found by the symbols that are
//! there, never by a file's name: builds under many names share one interface.

use std::ffi::{CStr, c_int};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::Relaxed};

use crate::forward;
use crate::recording::thread::Word;

/// A family of MPI libraries with one binary interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Open MPI: handles are pointers.
    OpenMpi,
    /// MPICH, Intel MPI, MVAPICH, Cray MPI: handles are 32-bit integers.
    Mpich,
    /// The standard ABI of MPI-5: handles are pointer-wide, predefined ones small numbers.
    Standard,
}

/// Facts of one interface.
#[derive(Debug)]
pub struct Abi {
    /// Which one.
    pub kind: Kind,
    /// Name in logs.
    pub name: &'static str,
    /// Bits of a C handle that count.
    pub handle_mask: usize,
    /// Bytes of an MPI_Status.
    pub status_bytes: usize,
    /// MPI_ANY_SOURCE.
    pub any_source: i32,
    /// MPI_ANY_TAG.
    pub any_tag: i32,
    /// MPI_PROC_NULL.
    pub proc_null: i32,
    /// MPI_ROOT.
    pub root: i32,
    /// MPI_UNDEFINED.
    pub undefined: i32,
    /// MPI_STATUS_IGNORE.
    pub status_ignore: usize,
    /// MPI_STATUSES_IGNORE.
    pub statuses_ignore: usize,
    /// MPI_IN_PLACE.
    pub in_place: usize,
    /// MPI_ERR_OTHER.
    pub err_other: i32,
}

static OPEN_MPI: Abi = Abi {
    kind: Kind::OpenMpi,
    name: "open-mpi",
    handle_mask: usize::MAX,
    status_bytes: 24,
    any_source: -1,
    any_tag: -1,
    proc_null: -2,
    root: -4,
    undefined: -32766,
    status_ignore: 0,
    statuses_ignore: 0,
    in_place: 1,
    err_other: 16,
};

static MPICH: Abi = Abi {
    kind: Kind::Mpich,
    name: "mpich",
    handle_mask: 0xffff_ffff,
    status_bytes: 20,
    any_source: -2,
    any_tag: -1,
    proc_null: -1,
    root: -3,
    undefined: -32766,
    status_ignore: 1,
    statuses_ignore: 1,
    in_place: usize::MAX,
    err_other: 15,
};

static STANDARD: Abi = Abi {
    kind: Kind::Standard,
    name: "mpi-5",
    handle_mask: usize::MAX,
    status_bytes: 32,
    any_source: -1,
    any_tag: -2,
    proc_null: -3,
    root: -4,
    undefined: -32766,
    status_ignore: 0,
    statuses_ignore: 0,
    in_place: 1,
    err_other: 16,
};

/// The facts in force: MPICH's until [`detect`] has found which.
static CURRENT: AtomicPtr<Abi> = AtomicPtr::new((&raw const MPICH).cast_mut());
static DETECTED: AtomicBool = AtomicBool::new(false);

/// The facts of the MPI library in this process.
#[inline(always)]
pub fn abi() -> &'static Abi {
    // SAFETY: only addresses of the statics above are stored.
    unsafe { &*CURRENT.load(Relaxed) }
}

/// Finds out which interface the process has, and its predefined handles; false where there is no MPI.
pub fn detect() -> bool {
    if DETECTED.load(Relaxed) {
        return true;
    }
    let found = if standard_abi() {
        &STANDARD
    } else if forward::symbol(c"ompi_mpi_comm_world") != 0 {
        &OPEN_MPI
    } else if forward::symbol(c"PMPI_Init") != 0 {
        &MPICH
    } else {
        return false;
    };
    CURRENT.store(std::ptr::from_ref(found).cast_mut(), Relaxed);
    if found.kind == Kind::OpenMpi {
        EMPTY_REQUEST.store(forward::symbol(c"ompi_request_empty"), Relaxed);
    }
    DETECTED.store(true, Relaxed);
    for (known, names) in FORTRAN_ADDRESSES.iter().zip(FORTRAN_NAMES) {
        for (known, &(name, offset)) in known.iter().zip(*names) {
            let address = forward::symbol(name);
            known.store(if address == 0 { 0 } else { address + offset }, Relaxed);
        }
    }
    true
}

/// Whether the library speaks the standard ABI: it says so through MPI_Abi_get_version (MPI-5.0 §20.2). In their native
/// interface MPICH 5 and Intel MPI have the function, too, and then give −1.
fn standard_abi() -> bool {
    let function = forward::symbol(c"PMPI_Abi_get_version");
    if function == 0 {
        return false;
    }
    let (mut major, mut minor) = (-1, -1);
    // SAFETY: the standard's signature; it may be called before MPI_Init.
    unsafe {
        let get: unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int = std::mem::transmute(function);
        get(&mut major, &mut minor);
    }
    major >= 1
}

/// Values of MPI_CART, MPI_GRAPH and MPI_DIST_GRAPH.
pub fn topologies() -> [i32; 3] {
    match abi().kind {
        Kind::OpenMpi => [1, 2, 3],
        Kind::Standard => [211, 212, 213],
        _ => [2, 1, 3],
    }
}

/// Value of MPI_IDENT: the same group.
pub fn identical() -> i32 {
    match abi().kind {
        Kind::Standard => 201,
        _ => 0,
    }
}

/// Value of MPI_CONGRUENT: the same ranks in the same order.
pub fn congruent() -> i32 {
    match abi().kind {
        Kind::Standard => 202,
        _ => 1,
    }
}

/// Value of MPI_LOCK_EXCLUSIVE.
pub fn lock_exclusive() -> i32 {
    match abi().kind {
        Kind::OpenMpi => 1,
        Kind::Standard => 301,
        Kind::Mpich => 234,
    }
}

/// The handle of MPI_COMM_WORLD.
pub fn comm_world() -> Word {
    match abi().kind {
        Kind::OpenMpi => forward::symbol(c"ompi_mpi_comm_world"),
        Kind::Standard => 0x101,
        _ => 0x4400_0000,
    }
}

/// The handle of MPI_COMM_SELF.
pub fn comm_self() -> Word {
    match abi().kind {
        Kind::OpenMpi => forward::symbol(c"ompi_mpi_comm_self"),
        Kind::Standard => 0x102,
        _ => 0x4400_0001,
    }
}

/// The handle of MPI_BYTE.
pub fn byte() -> Word {
    match abi().kind {
        Kind::OpenMpi => forward::symbol(c"ompi_mpi_byte"),
        Kind::Standard => 0x247,
        _ => 0x4c00_010d,
    }
}

/// Kinds of handle that have a null value, or another one that stands for nothing.
#[derive(Clone, Copy)]
#[repr(usize)]
pub enum Null {
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

/// Null handles by interface: Open MPI's symbols, MPICH's numbers, the standard's numbers, by [`Null`].
const NULLS: [(&CStr, usize, usize); 6] = [
    (c"ompi_mpi_comm_null", 0x0400_0000, 0x100),
    (c"ompi_mpi_datatype_null", 0x0c00_0000, 0x200),
    (c"ompi_request_null", 0x2c00_0000, 0x180),
    (c"ompi_message_null", 0x2c00_0000, 0x128),
    (c"ompi_message_no_proc", 0x6c00_0000, 0x129),
    (c"ompi_mpi_op_no_op", 0x5800_000e, 0x3d),
];

/// The null handles of the library in this process, filled on first use.
static NULL_HANDLES: [AtomicUsize; NULLS.len()] = [const { AtomicUsize::new(usize::MAX) }; NULLS.len()];

/// Whether `handle` is the null handle of `kind`.
#[inline(always)]
pub fn is_null(kind: Null, handle: Word) -> bool {
    let index = kind as usize;
    let Some(known) = NULL_HANDLES.get(index) else { return false };
    let mut null = known.load(Relaxed);
    if null == usize::MAX {
        null = find_null(index);
    }
    handle == null
}

#[cold]
#[inline(never)]
fn find_null(index: usize) -> usize {
    let Some((symbol, mpich, standard)) = NULLS.get(index) else { return 0 };
    let null = match abi().kind {
        Kind::OpenMpi => forward::symbol(symbol),
        Kind::Standard => *standard,
        _ => *mpich,
    };
    if let Some(known) = NULL_HANDLES.get(index) {
        known.store(null, Relaxed);
    }
    null
}

/// Size in bytes of a datatype whose handle tells it, or `None`.
pub fn size_in_handle(datatype: Word) -> Option<u64> {
    match abi().kind {
        Kind::Mpich if datatype & 0xff00_0000 == 0x4c00_0000 => Some(datatype as u64 >> 8 & 0xff),
        // Fixed-size predefined datatypes of MPI-5 (§20.4): bits 8, 7, 6 = 1, 0, 0x240 … 0x27f.
        Kind::Standard if datatype & !0x3f == 0x240 => Some(1 << (datatype >> 3 & 7)),
        _ => None,
    }
}

/// Open MPI's request that is complete from the start; 0 where there is none, which is no handle.
static EMPTY_REQUEST: AtomicUsize = AtomicUsize::new(0);

/// Whether a request handle stands for many completed requests at once, and so must not be followed: MPICH's built-in ones, and
/// the one that Open MPI gives to every send that it could hand over at once, and to what has no other side.
#[inline(always)]
pub fn is_shared_request(request: Word) -> bool {
    request == EMPTY_REQUEST.load(Relaxed) || abi().handle_mask == 0xffff_ffff && request >> 30 == 1
}

/// Whether MPI may take a word for a request's handle, a null one included, rather than refuse it at sight.
#[inline(always)]
pub fn may_be_request(interface: Kind, handle: Word) -> bool {
    match interface {
        // Bits 26 to 29 tell what kind of object a handle is of.
        Kind::Mpich => handle >> 26 & 0xf == 0xb,
        _ => handle != 0,
    }
}

/// What a status says.
#[derive(Clone, Copy)]
pub struct Arrived {
    /// MPI_SOURCE.
    pub source: i32,
    /// MPI_TAG.
    pub tag: i32,
    /// Bytes that arrived.
    pub bytes: u64,
    /// Whether the operation was cancelled.
    pub cancelled: bool,
}

/// Reads the status at `status`.
///
/// # Safety
/// `status` is the address of a status that MPI has filled.
#[inline(always)]
pub unsafe fn read_status(status: Word) -> Arrived {
    // SAFETY: the offsets lie within a status of the interface in force; statuses are at least int-aligned.
    unsafe {
        let int = |offset: usize| (status.wrapping_add(offset) as *const i32).read_unaligned();
        match abi().kind {
            Kind::OpenMpi => Arrived {
                source: int(0),
                tag: int(4),
                bytes: (status.wrapping_add(16) as *const u64).read_unaligned(),
                cancelled: int(12) != 0,
            },
            // The count's high bits and the cancelled bit share the second word.
            Kind::Mpich => Arrived {
                source: int(8),
                tag: int(12),
                bytes: u64::from(int(0) as u32) | (int(4) as u32 as u64 >> 1) << 32,
                cancelled: int(4) & 1 != 0,
            },
            Kind::Standard => read_standard_status(status, int(0), int(4)),
        }
    }
}

/// The standard ABI leaves the count's place to the library, so it is asked.
#[cold]
#[inline(never)]
unsafe fn read_standard_status(status: Word, source: i32, tag: i32) -> Arrived {
    let (mut count, mut cancelled) = (0i64, 0i32);
    // SAFETY: MPI_Get_count_c and MPI_Test_cancelled are local look-ups on a filled status.
    unsafe {
        forward::call3(c"PMPI_Get_count_c", status, byte(), &raw mut count as Word);
        forward::call2(c"PMPI_Test_cancelled", status, &raw mut cancelled as Word);
    }
    Arrived { source, tag, bytes: u64::try_from(count).unwrap_or(0), cancelled: cancelled != 0 }
}

/// Places in Fortran that mean MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE, MPI_IN_PLACE: symbols and offsets in them. The first
/// four of each are Open MPI's by name mangling, then MPICH's of mpif.h (members of common blocks) and of mpi_f08.
const FORTRAN_NAMES: &[&[(&CStr, usize)]] = &[
    &[
        (c"mpi_fortran_status_ignore_", 0),
        (c"mpi_fortran_status_ignore", 0),
        (c"mpi_fortran_status_ignore__", 0),
        (c"MPI_FORTRAN_STATUS_IGNORE", 0),
        (c"mpipriv1_", 8),
        (c"MPIR_F08_MPI_STATUS_IGNORE_OBJ", 0),
    ],
    &[
        (c"mpi_fortran_statuses_ignore_", 0),
        (c"mpi_fortran_statuses_ignore", 0),
        (c"mpi_fortran_statuses_ignore__", 0),
        (c"MPI_FORTRAN_STATUSES_IGNORE", 0),
        (c"mpipriv2_", 0),
        (c"MPIR_F08_MPI_STATUSES_IGNORE_OBJ", 0),
    ],
    &[
        (c"mpi_fortran_in_place_", 0),
        (c"mpi_fortran_in_place", 0),
        (c"mpi_fortran_in_place__", 0),
        (c"MPI_FORTRAN_IN_PLACE", 0),
        (c"mpipriv1_", 4),
        (c"MPIR_F08_MPI_IN_PLACE", 0),
    ],
];

/// Their addresses, filled by [`detect`].
static FORTRAN_ADDRESSES: [[AtomicUsize; 6]; 3] = [const { [const { AtomicUsize::new(0) }; 6] }; 3];

/// Special places of Fortran, by index in the tables above.
#[derive(Clone, Copy)]
#[repr(usize)]
pub enum FortranPlace {
    /// MPI_STATUS_IGNORE
    StatusIgnore,
    /// MPI_STATUSES_IGNORE
    StatusesIgnore,
    /// MPI_IN_PLACE
    InPlace,
}

/// Whether a Fortran argument is the special place.
pub fn is_fortran_place(place: FortranPlace, address: Word) -> bool {
    address != 0
        && FORTRAN_ADDRESSES
            .get(place as usize)
            .is_some_and(|known| known.iter().any(|known| known.load(Relaxed) == address))
}
