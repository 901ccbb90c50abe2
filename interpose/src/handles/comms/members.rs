//! The members of a communicator, as ranks of MPI_COMM_WORLD.

use std::ffi::CStr;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::handles::groups;
use crate::machine::word::Word;
use crate::mpi::abi::current_abi;
use crate::mpi::call::{self, ask_mpi};
use crate::mpi::predefined;

/// Number of ranks in MPI_COMM_WORLD; 0 if there is none.
static WORLD_SIZE: AtomicU32 = AtomicU32::new(0);

/// Returns the world ranks of an intra-communicator's group.
///
/// Open MPI searches all ranks of the world for each rank, which takes quadratic time for a communicator as large as the world. So MPI is not
/// asked about the world, and other communicators of its size are first compared with it.
pub fn own_ranks(comm: Word) -> Vec<u32> {
    let world = predefined::comm_world();
    let size = u32::try_from(ask_mpi(c"PMPI_Comm_size", [comm], 0i32)).unwrap_or(0);
    if comm == world {
        WORLD_SIZE.store(size, Relaxed);
    } else if size == 0
        || size != WORLD_SIZE.load(Relaxed)
        || ask_mpi(c"PMPI_Comm_compare", [comm, world], current_abi().undefined) != current_abi().congruent
    {
        return world_ranks(comm, c"PMPI_Comm_group");
    }
    (0..size).collect()
}

/// Returns the world ranks of a communicator's group, which are empty if MPI gives none. Ranks outside of MPI_COMM_WORLD are
/// [`NONE`](lbprof_collector::record::NONE).
pub fn world_ranks(comm: Word, which: &'static CStr) -> Vec<u32> {
    let group = ask_mpi(which, [comm], 0usize);
    if group == 0 {
        return Vec::new();
    }
    let ranks = groups::world_ranks(group);
    call::free_handle(c"PMPI_Group_free", group);
    ranks
}
