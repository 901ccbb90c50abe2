//! Groups of ranks that are arguments of calls: handles → ids in the log.
//!
//! Groups come and go by local calls that are not recorded, and their handles are used again. So MPI is asked for a group's ranks at each call
//! with it. Groups of the same ranks have the same id.

use std::collections::HashMap;

use lbprof_collector::definition::{Definition, RankGroup, RankList};
use lbprof_collector::problem::ProblemKind;
use lbprof_collector::record::NONE;

use crate::harmless::guard;
use crate::harmless::signals::HandlerLock;
use crate::log;
use crate::mpi::abi::current_abi;
use crate::mpi::{call, world};
use crate::word::Word;

/// Ranks that all groups of a log may have together.
const MAX_RANKS: usize = 1 << 20;

#[derive(Default)]
struct GroupIds {
    ids: HashMap<Vec<u32>, u32, foldhash::fast::FixedState>,
    /// Id of MPI_COMM_WORLD's group.
    world: Option<u32>,
    /// Ranks that they have together.
    n_ranks: usize,
}

static KNOWN: HandlerLock<Option<GroupIds>> = HandlerLock::new(None);

/// Returns the id of a group, or `None` if the groups have too many ranks or the log is closed. Defines a new group in the log.
///
/// # Safety
/// `group` is a valid handle.
pub unsafe fn group_id(group: Word) -> Option<u32> {
    if !log::is_writing_records() {
        return None;
    }
    // SAFETY: the caller's promise.
    let world_size = unsafe { size_as_world(group) };
    if world_size.is_some()
        && let Some(id) = KNOWN.lock().and_then(|known| known.as_ref()?.world)
    {
        return Some(id);
    }
    let ranks = match world_size {
        Some(size) => (0..size).collect(),
        // SAFETY: the caller's promise.
        None => unsafe { world_ranks(group) },
    };
    let mut known = KNOWN.lock()?;
    let known = known.get_or_insert_default();
    let id = define_group(known, ranks)?;
    if world_size.is_some() {
        known.world = Some(id);
    }
    Some(id)
}

fn define_group(known: &mut GroupIds, ranks: Vec<u32>) -> Option<u32> {
    if let Some(&id) = known.ids.get(&ranks) {
        return Some(id);
    }
    if known.n_ranks + ranks.len() > MAX_RANKS {
        guard::report_problem(
            ProblemKind::TooMany,
            format_args!(
                "groups of more than {MAX_RANKS} ranks in all in one-sided synchronisation; further ones are not named"
            ),
        );
        return None;
    }
    let id = known.ids.len() as u32;
    log::define_later(Definition::Group(RankGroup { id, ranks: RankList::from_ranks(ranks.iter().copied()) }));
    known.n_ranks += ranks.len();
    known.ids.insert(ranks, id);
    Some(id)
}

/// Returns the number of ranks of a group that equals MPI_COMM_WORLD's group, or `None` if it differs.
///
/// Open MPI searches all ranks of the world for each rank of a group, which takes quadratic time for a group as large as the world. So groups
/// of its size are compared first.
///
/// # Safety
/// `group` is a valid handle.
unsafe fn size_as_world(group: Word) -> Option<u32> {
    let group = group & current_abi().handle_mask;
    let world = world::world_group()?;
    let (mut size, mut world_size, mut comparison) = (0i32, 0i32, current_abi().undefined);
    // SAFETY: local operations on valid groups.
    unsafe {
        call::call2(c"PMPI_Group_size", group, &raw mut size as Word);
        call::call2(c"PMPI_Group_size", world, &raw mut world_size as Word);
        if size == world_size {
            call::call3(c"PMPI_Group_compare", group, world, &raw mut comparison as Word);
        }
    }
    (comparison == current_abi().identical).then(|| u32::try_from(size).ok()).flatten()
}

/// Returns the world ranks of a group, which are empty if MPI gives none. Ranks outside of MPI_COMM_WORLD are [`NONE`].
///
/// # Safety
/// `group` is a valid handle.
pub unsafe fn world_ranks(group: Word) -> Vec<u32> {
    let group = group & current_abi().handle_mask;
    let mut size = 0i32;
    // SAFETY: local operations on a valid group.
    unsafe {
        call::call2(c"PMPI_Group_size", group, &raw mut size as Word);
        let ranks: Vec<i32> = (0..size).collect();
        let mut world = vec![current_abi().undefined; ranks.len()];
        if let Some(world_group) = world::world_group() {
            let (from, to) = (ranks.as_ptr() as Word, world.as_mut_ptr() as Word);
            call::call_mpi(c"PMPI_Group_translate_ranks", [group, size as Word, from, world_group, to, 0, 0, 0]);
        }
        world.into_iter().map(|rank| u32::try_from(rank).unwrap_or(NONE)).collect()
    }
}
