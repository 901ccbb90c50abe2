//! MPI's facts about this process: its rank, the number of ranks, and their group.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::machine::word::Word;
use crate::mpi::abi::current_abi;
use crate::mpi::call::{self, ask_mpi};
use crate::mpi::predefined::{PredefinedHandle, comm_world, is_predefined};

/// The group of MPI_COMM_WORLD, kept while recording; 0: none.
static WORLD_GROUP: AtomicUsize = AtomicUsize::new(0);

pub fn world_group() -> Option<Word> {
    Some(WORLD_GROUP.load(Relaxed)).filter(|&group| group != 0)
}

static SESSION: AtomicUsize = AtomicUsize::new(0);

pub fn set_session(session: Word) {
    SESSION.store(session, Relaxed);
}

/// Returns whether MPI_Init was called, and so MPI_COMM_WORLD exists.
pub fn world_model() -> bool {
    ask_mpi(c"PMPI_Initialized", [], 0i32) != 0
}

/// Returns this process's rank and the number of ranks. Keeps their group. MPI is initialised, by MPI_Init or by the session that [`set_session`] was given.
pub fn rank_and_size() -> Option<(i32, i32)> {
    let (group, from, rank_of, size_of) = if world_model() {
        let world = comm_world();
        (ask_mpi(c"PMPI_Comm_group", [world], 0usize), world, c"PMPI_Comm_rank", c"PMPI_Comm_size")
    } else {
        let of_session = [SESSION.load(Relaxed), c"mpi://WORLD".as_ptr() as Word];
        let group = ask_mpi(c"PMPI_Group_from_session_pset", of_session, 0usize);
        (group, group & current_abi().handle_mask, c"PMPI_Group_rank", c"PMPI_Group_size")
    };
    let (rank, size) = (ask_mpi(rank_of, [from], -1i32), ask_mpi(size_of, [from], 0i32));
    WORLD_GROUP.store(group & current_abi().handle_mask, Relaxed);
    (rank >= 0 && size > 0).then_some((rank, size))
}

/// Gives the group back. MPI is still initialised.
pub fn free_group() {
    call::free_handle(c"PMPI_Group_free", WORLD_GROUP.swap(0, Relaxed));
}

/// Returns whether MPI_Comm_spawn started this process. A local look-up, which fails without effect if MPI was initialised by a session alone.
pub fn is_spawned() -> bool {
    let parent = if world_model() { ask_mpi(c"PMPI_Comm_get_parent", [], 0usize) } else { 0 };
    parent != 0 && !is_predefined(PredefinedHandle::CommNull, parent & current_abi().handle_mask)
}
