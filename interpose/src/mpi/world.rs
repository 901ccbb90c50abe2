//! MPI's facts about this process: its rank, the number of ranks, and their group.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::mpi::abi::current_abi;
use crate::mpi::call::{call2, call3};
use crate::mpi::predefined::{PredefinedHandle, comm_world, is_predefined};
use crate::word::Word;

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
    let mut initialised = 0i32;
    // SAFETY: may be called at any time.
    unsafe { call2(c"PMPI_Initialized", &raw mut initialised as Word, 0) };
    initialised != 0
}

/// Returns this process's rank and the number of ranks. Keeps their group.
///
/// # Safety
/// MPI is initialised, by MPI_Init or by the session that [`set_session`] was given.
pub unsafe fn rank_and_size() -> Option<(i32, i32)> {
    let (mut rank, mut size) = (-1i32, 0i32);
    let mut group: Word = 0;
    // SAFETY: local look-ups after initialisation.
    unsafe {
        if world_model() {
            call2(c"PMPI_Comm_rank", comm_world(), &raw mut rank as Word);
            call2(c"PMPI_Comm_size", comm_world(), &raw mut size as Word);
            call2(c"PMPI_Comm_group", comm_world(), &raw mut group as Word);
        } else {
            let session = SESSION.load(Relaxed);
            call3(c"PMPI_Group_from_session_pset", session, c"mpi://WORLD".as_ptr() as Word, &raw mut group as Word);
            let handle = group & current_abi().handle_mask;
            call2(c"PMPI_Group_rank", handle, &raw mut rank as Word);
            call2(c"PMPI_Group_size", handle, &raw mut size as Word);
        }
    }
    WORLD_GROUP.store(group & current_abi().handle_mask, Relaxed);
    (rank >= 0 && size > 0).then_some((rank, size))
}

/// Gives the group back.
///
/// # Safety
/// MPI is still initialised.
pub unsafe fn free_group() {
    let mut group = WORLD_GROUP.swap(0, Relaxed);
    // SAFETY: the caller's promise; the group is ours, and freed once.
    unsafe { call2(c"PMPI_Group_free", &raw mut group as Word, 0) };
}

/// Returns whether MPI_Comm_spawn started this process. A local look-up.
pub fn is_spawned() -> bool {
    let mut parent: Word = 0;
    // SAFETY: MPI is initialised. If it was by a session alone, this fails without effect.
    let found = world_model() && unsafe { call2(c"PMPI_Comm_get_parent", &raw mut parent as Word, 0) } == 0;
    found && !is_predefined(PredefinedHandle::CommNull, parent & current_abi().handle_mask)
}
