//! The members of a communicator, as ranks of MPI_COMM_WORLD.

use std::ffi::CStr;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::handles::groups;
use crate::mpi::abi::current_abi;
use crate::mpi::{call, predefined};
use crate::word::Word;

/// Number of ranks in MPI_COMM_WORLD; 0 if there is none.
static WORLD_SIZE: AtomicU32 = AtomicU32::new(0);

/// Returns the world ranks of an intra-communicator's group.
///
/// Open MPI searches all ranks of the world for each rank, which takes quadratic time for a communicator as large as the world. So MPI is not
/// asked about the world, and other communicators of its size are first compared with it.
///
/// # Safety
/// `comm` is valid.
pub unsafe fn own_ranks(comm: Word) -> Vec<u32> {
    let is_world = comm == predefined::comm_world();
    let mut size = 0i32;
    // SAFETY: local look-ups on valid communicators.
    unsafe {
        call::call2(c"PMPI_Comm_size", comm, &raw mut size as Word);
        let size = u32::try_from(size).unwrap_or(0);
        if is_world {
            WORLD_SIZE.store(size, Relaxed);
        }
        let mut comparison = current_abi().undefined;
        if !is_world && size != 0 && size == WORLD_SIZE.load(Relaxed) {
            call::call3(c"PMPI_Comm_compare", comm, predefined::comm_world(), &raw mut comparison as Word);
        }
        if is_world || comparison == current_abi().congruent {
            (0..size).collect()
        } else {
            world_ranks(comm, c"PMPI_Comm_group")
        }
    }
}

/// Returns the world ranks of a communicator's group, which are empty if MPI gives none. Ranks outside of MPI_COMM_WORLD are
/// [`NONE`](lbprof_collector::record::NONE).
///
/// # Safety
/// `comm` is valid.
pub unsafe fn world_ranks(comm: Word, which: &'static CStr) -> Vec<u32> {
    // SAFETY: local group operations on a valid communicator; every group made here is freed here.
    unsafe {
        let mut group: Word = 0;
        if call::call2(which, comm, &raw mut group as Word) != 0 {
            return Vec::new();
        }
        let ranks = groups::world_ranks(group);
        call::call2(c"PMPI_Group_free", &raw mut group as Word, 0);
        ranks
    }
}
