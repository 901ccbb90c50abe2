//! Groups of ranks that are arguments of calls: handles → ids in the log.
//!
//! Groups come and go by local calls that are not recorded, and their handles are used again. So MPI is asked for a group's ranks at each call
//! with it. Groups of the same ranks have the same id.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use lbprof_collector::definition::{Definition, RankGroup, RankList};
use lbprof_collector::problem::ProblemKind;
use lbprof_collector::record::NONE;

use crate::harmless::guard;
use crate::harmless::signals::HandlerLock;
use crate::log;
use crate::machine::word::Word;
use crate::mpi::abi::current_abi;
use crate::mpi::call::{self, ask_mpi};
use crate::mpi::world;

/// Ranks that all groups of a log may have together.
const MAX_RANKS: usize = 1 << 20;

struct GroupIds {
    ids: HashMap<Vec<u32>, u32, FixedState>,
    /// Id of MPI_COMM_WORLD's group.
    world: Option<u32>,
    /// Ranks that they have together.
    n_ranks: usize,
}

static KNOWN: HandlerLock<GroupIds> = HandlerLock::new(GroupIds::EMPTY);

impl GroupIds {
    const EMPTY: GroupIds = GroupIds { ids: HashMap::with_hasher(FixedState::with_seed(0)), world: None, n_ranks: 0 };
}

/// Returns the id of a group, or `None` if the groups have too many ranks or the log is closed. Defines a new group in the log.
pub fn group_id(group: Word) -> Option<u32> {
    if !log::is_writing_records() {
        return None;
    }
    let world_size = size_as_world(group);
    let known = KNOWN.lock()?.world.filter(|_| world_size.is_some());
    if known.is_some() {
        return known;
    }
    let ranks = world_size.map_or_else(|| world_ranks(group), |size| (0..size).collect());
    let mut known = KNOWN.lock()?;
    let id = define_group(&mut known, ranks)?;
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
        let what = format_args!("groups of more than {MAX_RANKS} ranks in all in one-sided synchronisation");
        guard::report_problem(ProblemKind::TooMany, format_args!("{what}; further ones are not named"));
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
fn size_as_world(group: Word) -> Option<u32> {
    let (group, world) = (group & current_abi().handle_mask, world::world_group()?);
    let [size, world_size] = [group, world].map(|group| ask_mpi(c"PMPI_Group_size", [group], 0i32));
    let is_world = size == world_size
        && ask_mpi(c"PMPI_Group_compare", [group, world], current_abi().undefined) == current_abi().identical;
    u32::try_from(size).ok().filter(|_| is_world)
}

/// Returns the world ranks of a group, which are empty if MPI gives none. Ranks outside of MPI_COMM_WORLD are [`NONE`].
pub fn world_ranks(group: Word) -> Vec<u32> {
    let group = group & current_abi().handle_mask;
    let ranks: Vec<i32> = (0..ask_mpi(c"PMPI_Group_size", [group], 0i32)).collect();
    let mut world = vec![current_abi().undefined; ranks.len()];
    if let Some(world_group) = world::world_group() {
        let (from, to) = (ranks.as_ptr() as Word, world.as_mut_ptr() as Word);
        // SAFETY: both arrays are as long as is stated.
        unsafe {
            call::call_mpi(c"PMPI_Group_translate_ranks", [group, ranks.len(), from, world_group, to, 0, 0, 0]);
        }
    }
    world.into_iter().map(|rank| u32::try_from(rank).unwrap_or(NONE)).collect()
}
