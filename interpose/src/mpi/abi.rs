//! Facts that differ between MPI libraries' binary interfaces: a row of constants for each.
//!
//! What a handle looks like is in [`crate::mpi::predefined`], what a status does in [`crate::mpi::status`].

use std::cell::UnsafeCell;

/// A family of MPI libraries with one binary interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbiFamily {
    /// Open MPI: handles are pointers.
    OpenMpi,
    /// MPICH, Intel MPI, MVAPICH, Cray MPI: handles are 32-bit integers.
    Mpich,
    /// The standard ABI of MPI-5: handles are pointer-wide, predefined ones small numbers.
    Standard,
}

/// Facts of one interface. Those that most calls read lie in the first cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct MpiAbi {
    /// Bits of a C handle that count.
    pub handle_mask: usize,
    /// MPI_STATUS_IGNORE.
    pub status_ignore: usize,
    /// MPI_STATUSES_IGNORE.
    pub statuses_ignore: usize,
    /// The handles of requests that are not followed, once they are known ([`crate::mpi::predefined::look_up`]).
    pub requests: SharedRequests,
    /// Bytes of an MPI_Status.
    pub status_bytes: u32,
    /// MPI_ANY_SOURCE.
    pub any_source: i32,
    /// MPI_ANY_TAG.
    pub any_tag: i32,
    /// Family of the interface.
    pub kind: AbiFamily,
    /// MPI_PROC_NULL.
    pub proc_null: i32,
    /// MPI_ROOT.
    pub root: i32,
    /// MPI_UNDEFINED.
    pub undefined: i32,
    /// MPI_IN_PLACE.
    pub in_place: usize,
    /// MPI_ERR_OTHER.
    pub err_other: i32,
    /// Name in logs.
    pub name: &'static str,
}

const _: () = assert!(std::mem::offset_of!(MpiAbi, kind) < 64);

/// The request handles that stand for many completed requests at once.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SharedRequests {
    bits: usize,
    shared: usize,
    /// MPI_REQUEST_NULL.
    pub null: usize,
}

impl SharedRequests {
    const UNKNOWN: SharedRequests = SharedRequests { bits: 0, shared: 0, null: 0 };

    /// Describes the handles whose `bits` are those of `shared`.
    pub const fn new(bits: usize, shared: usize, null: usize) -> Self {
        SharedRequests { bits, shared, null }
    }

    /// Returns whether a request handle is one of them.
    #[inline(always)]
    pub fn contains(self, request: usize) -> bool {
        request & self.bits == self.shared
    }
}

const OPEN_MPI: MpiAbi = MpiAbi {
    kind: AbiFamily::OpenMpi,
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
    requests: SharedRequests::UNKNOWN,
};

const MPICH: MpiAbi = MpiAbi {
    kind: AbiFamily::Mpich,
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
    requests: SharedRequests::UNKNOWN,
};

const STANDARD: MpiAbi = MpiAbi {
    kind: AbiFamily::Standard,
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
    requests: SharedRequests::UNKNOWN,
};

/// The facts in force. A copy, not an address, so that calls read one cache line.
struct AbiInForce(UnsafeCell<MpiAbi>);
// SAFETY: written by `choose` and `set_shared_requests` alone, when MPI has been initialised for the first time, when no thread records yet.
unsafe impl Sync for AbiInForce {}

/// MPICH's until [`choose`] says which.
#[unsafe(link_section = ".data.lbprof_frequent")]
static CURRENT: AbiInForce = AbiInForce(UnsafeCell::new(MPICH));

/// The facts of the MPI library in this process.
#[inline(always)]
pub fn abi() -> &'static MpiAbi {
    // SAFETY: see `AbiInForce`.
    unsafe { &*CURRENT.0.get() }
}

/// The facts of this interface are in force from here on.
pub fn choose(kind: AbiFamily) {
    let chosen = match kind {
        AbiFamily::OpenMpi => OPEN_MPI,
        AbiFamily::Mpich => MPICH,
        AbiFamily::Standard => STANDARD,
    };
    if abi().kind != kind {
        // SAFETY: see `AbiInForce`; a process has one interface.
        unsafe { *CURRENT.0.get() = chosen };
    }
}

/// Sets the handles of requests that are not followed.
pub fn set_shared_requests(requests: SharedRequests) {
    // SAFETY: see `AbiInForce`.
    unsafe { (*CURRENT.0.get()).requests = requests };
}

/// Values of MPI_CART, MPI_GRAPH and MPI_DIST_GRAPH.
pub fn topologies() -> [i32; 3] {
    match abi().kind {
        AbiFamily::OpenMpi => [1, 2, 3],
        AbiFamily::Standard => [211, 212, 213],
        _ => [2, 1, 3],
    }
}

/// Value of MPI_IDENT: the same group.
pub fn identical() -> i32 {
    match abi().kind {
        AbiFamily::Standard => 201,
        _ => 0,
    }
}

/// Value of MPI_CONGRUENT: the same ranks in the same order.
pub fn congruent() -> i32 {
    match abi().kind {
        AbiFamily::Standard => 202,
        _ => 1,
    }
}

/// Value of MPI_LOCK_EXCLUSIVE.
pub fn lock_exclusive() -> i32 {
    match abi().kind {
        AbiFamily::OpenMpi => 1,
        AbiFamily::Standard => 301,
        AbiFamily::Mpich => 234,
    }
}
