//! Facts that differ between MPI libraries' binary interfaces: a set of constants for each. [`crate::mpi::predefined`] knows handles,
//! [`crate::mpi::status`] statuses.

use std::cell::UnsafeCell;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbiFamily {
    /// Open MPI: handles are pointers.
    OpenMpi,
    /// MPICH, Intel MPI, MVAPICH, Cray MPI: handles are 32-bit integers.
    Mpich,
    /// The standard ABI of MPI-5: handles are pointer-wide, predefined ones small numbers.
    Standard,
}

/// Facts of one interface. The first cache line holds those that most calls read.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct MpiAbi {
    /// Bits of a C handle that count.
    pub handle_mask: usize,
    pub status_ignore: usize,
    pub statuses_ignore: usize,
    /// Handles of requests that are not followed, once they are known ([`crate::mpi::predefined::look_up`]).
    pub requests: SharedRequests,
    pub status_bytes: u32,
    pub any_source: i32,
    pub any_tag: i32,
    pub kind: AbiFamily,
    pub proc_null: i32,
    pub root: i32,
    pub undefined: i32,
    pub in_place: usize,
    pub err_other: i32,
    /// MPI_CART, MPI_GRAPH and MPI_DIST_GRAPH.
    pub topologies: [i32; 3],
    /// MPI_IDENT: the same group.
    pub identical: i32,
    /// MPI_CONGRUENT: the same ranks in the same order.
    pub congruent: i32,
    pub lock_exclusive: i32,
    pub name: &'static str,
}

const _: () = assert!(std::mem::offset_of!(MpiAbi, kind) < 64);

/// The request handles that stand for many completed requests at once.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SharedRequests {
    /// Bits by which they are known.
    pub bits: usize,
    pub shared: usize,
    pub null: usize,
}

impl SharedRequests {
    #[inline(always)]
    pub fn contains(self, request: usize) -> bool {
        request & self.bits == self.shared
    }
}

/// Open MPI's interface. The others state the values that differ from it.
pub const OPEN_MPI: MpiAbi = MpiAbi {
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
    topologies: [1, 2, 3],
    identical: 0,
    congruent: 1,
    lock_exclusive: 1,
    requests: SharedRequests { bits: 0, shared: 0, null: 0 },
};

pub const MPICH: MpiAbi = MpiAbi {
    kind: AbiFamily::Mpich,
    name: "mpich",
    handle_mask: 0xffff_ffff,
    status_bytes: 20,
    any_source: -2,
    any_tag: -1,
    proc_null: -1,
    root: -3,
    status_ignore: 1,
    statuses_ignore: 1,
    in_place: usize::MAX,
    err_other: 15,
    topologies: [2, 1, 3],
    lock_exclusive: 234,
    ..OPEN_MPI
};

pub const STANDARD: MpiAbi = MpiAbi {
    kind: AbiFamily::Standard,
    name: "mpi-5",
    status_bytes: 32,
    any_tag: -2,
    proc_null: -3,
    topologies: [211, 212, 213],
    identical: 201,
    congruent: 202,
    lock_exclusive: 301,
    ..OPEN_MPI
};

/// The facts in force. A copy, not an address, so that calls read one cache line.
struct AbiInForce(UnsafeCell<MpiAbi>);
// SAFETY: written by `choose` and `set_shared_requests` alone, when MPI has been initialised for the first time, when no thread records yet.
unsafe impl Sync for AbiInForce {}

/// MPICH's until [`choose_abi`] is called.
#[unsafe(link_section = ".data.lbprof_frequent")]
static CURRENT: AbiInForce = AbiInForce(UnsafeCell::new(MPICH));

/// The facts of the MPI library in this process.
#[inline(always)]
pub fn current_abi() -> &'static MpiAbi {
    // SAFETY: see `AbiInForce`.
    unsafe { &*CURRENT.0.get() }
}

pub fn choose_abi(chosen: MpiAbi) {
    if current_abi().kind != chosen.kind {
        // SAFETY: see `AbiInForce`; a process has one interface.
        unsafe { *CURRENT.0.get() = chosen };
    }
}

pub fn set_shared_requests(requests: SharedRequests) {
    // SAFETY: see `AbiInForce`.
    unsafe { (*CURRENT.0.get()).requests = requests };
}
