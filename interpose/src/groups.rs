//! Groups of ranks that calls are given: handles → ids in the log.
//!
//! Groups come and go by local calls that are not recorded, and their handles are used again. So each is asked for its ranks when a call is
//! given it; groups of the same ranks have the same id.

use std::collections::HashMap;

use lbprof_collector::definition::{Definition, Group, RankList};
use lbprof_collector::problem::ProblemKind;
use lbprof_collector::record::NONE;
use parking_lot::Mutex;

use crate::abi::abi;
use crate::thread::Word;
use crate::{flush, forward, guard, lifecycle};

/// Groups that a log may have.
const MAX_GROUPS: usize = 1 << 16;

/// Ids of groups by their world ranks.
static KNOWN: Mutex<Option<HashMap<Vec<u32>, u32, foldhash::fast::FixedState>>> = Mutex::new(None);

/// The id of a group, which is defined in the log if it was not before; `None` where there are too many.
///
/// # Safety
/// `group` is a valid handle.
pub unsafe fn id(group: Word) -> Option<u32> {
    // SAFETY: the caller's promise.
    let ranks = unsafe { world_ranks(group) };
    let mut known = KNOWN.lock();
    let known = known.get_or_insert_default();
    if let Some(&id) = known.get(&ranks) {
        return Some(id);
    }
    if known.len() >= MAX_GROUPS {
        guard::tell(
            ProblemKind::TooMany,
            format_args!("more than {MAX_GROUPS} groups in one-sided synchronisation; further ones are not named"),
        );
        return None;
    }
    let id = known.len() as u32;
    flush::define(Definition::Group(Group { id, ranks: RankList::from_ranks(ranks.iter().copied()) }));
    known.insert(ranks, id);
    Some(id)
}

/// World ranks of a group; empty where MPI gives none. Ranks outside of MPI_COMM_WORLD are [`NONE`].
///
/// # Safety
/// `group` is a valid handle.
pub unsafe fn world_ranks(group: Word) -> Vec<u32> {
    let group = group & abi().handle_mask;
    let mut size = 0i32;
    // SAFETY: local operations on a valid group.
    unsafe {
        forward::call2(c"PMPI_Group_size", group, &raw mut size as Word);
        let ranks: Vec<i32> = (0..size).collect();
        let mut world = vec![abi().undefined; ranks.len()];
        if let Some(world_group) = lifecycle::world_group() {
            let (from, to) = (ranks.as_ptr() as Word, world.as_mut_ptr() as Word);
            forward::call(c"PMPI_Group_translate_ranks", [group, size as Word, from, world_group, to, 0, 0, 0]);
        }
        world.into_iter().map(|rank| u32::try_from(rank).unwrap_or(NONE)).collect()
    }
}
