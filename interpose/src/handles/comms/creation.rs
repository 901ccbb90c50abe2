//! Births of communicators: how one becomes known, and the id that it gets in the log.
//!
//! All members of a communicator give it the same number without a message: a hash of its parent's number, of the number of communicators
//! made from the parent before, and of its members' world ranks.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use foldhash::fast::FixedState;
use lbprof_collector::definition::{Communicator, Definition, NeighbourRanks, RankList};
use lbprof_collector::problem::ProblemKind;
use lbprof_collector::record::NONE;

use crate::handles::comms::{members, table};
use crate::harmless::signals::HandlerLock;
use crate::harmless::{enter, guard};
use crate::log;
use crate::machine::word::Word;
use crate::mpi::call::ask_mpi;
use crate::mpi::predefined::{self, PredefinedHandle, is_predefined};
use crate::mpi::topology::{self, TopologyNeighbours};
use crate::state::comm::{CommInfo, ParentId, UNKNOWN};

/// The difference between the ids of communicators with the same members.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CommOrigin {
    /// Every member of the parent takes part. The number of communicators made from it before makes the difference.
    FromParent,
    /// Only the new one's members take part. The number of communicators with the same members and the same parent makes the difference.
    InGroup,
    /// An inter-communicator, whose two sides have different parents, or one without a known parent: the same without the parent.
    Inter,
}

/// Learns a communicator that was made from `parent` (a handle, or 0 if there is none).
/// `comm` was returned by a successful call; it may be null.
pub fn define_created(parent: Word, comm: Word, birth: CommOrigin) -> &'static CommInfo {
    let parent = if parent == 0 || is_predefined(PredefinedHandle::CommNull, parent) {
        None
    } else {
        Some(known_or_defined(parent))
    };
    if parent.is_some_and(|parent| std::ptr::eq(parent, &UNKNOWN)) {
        // The call only seems to have succeeded, see `define`; or there are too many.
        return &UNKNOWN;
    }
    // All members of the parent count it, including ranks that are not in the new one.
    let number = if birth == CommOrigin::FromParent { parent.map_or(0, CommInfo::next_child) } else { 0 };
    define_comm(comm, parent.map(CommInfo::as_parent), birth, number)
}

/// Returns the facts about `comm`, with which a call has succeeded. Defines it in the log if it is new.
#[cold]
pub fn known_or_defined(comm: Word) -> &'static CommInfo {
    if let Some(info) = table::known_comm(comm) {
        return info;
    }
    define_comm(comm, None, CommOrigin::Inter, 0)
}

/// A communicator that MPI_Comm_idup is making: the request's id, the number among the parent's children, the address of the handle.
struct PendingComms {
    request: u32,
    parent: ParentId,
    number: u64,
    newcomm: Word,
    read: unsafe fn(Word) -> Word,
}

static LATER: HandlerLock<Vec<PendingComms>> = HandlerLock::new(Vec::new());

/// Notes that MPI_Comm_idup has returned: `request` makes a communicator from `parent`. `read` finds its handle at `newcomm` when the request
/// has completed.
pub fn begin_later(request: u32, parent: Word, newcomm: Word, read: unsafe fn(Word) -> Word) {
    let parent = known_or_defined(parent);
    let (parent, number) = (parent.as_parent(), parent.next_child());
    if let Some(mut later) = LATER.lock() {
        later.push(PendingComms { request, parent, number, newcomm, read });
    }
}

/// Learns the communicator of an MPI_Comm_idup whose request has completed.
///
/// # Safety
/// The arguments that [`begin_later`] was given for it are still good.
pub unsafe fn finish_later(request: u32) {
    enter::enter_cold(|| {
        let Some(mut later) = LATER.lock() else { return };
        if let Some(at) = later.iter().position(|later| later.request == request) {
            let made = later.swap_remove(at);
            drop(later);
            // SAFETY: the handle is stored by now.
            let comm = unsafe { (made.read)(made.newcomm) };
            define_comm(comm, Some(made.parent), CommOrigin::FromParent, made.number);
        }
    });
}

/// Defines MPI_COMM_WORLD as communicator 0 and MPI_COMM_SELF as 1.
pub fn define_predefined() {
    known_or_defined(predefined::comm_world());
    known_or_defined(predefined::comm_self());
}

/// Ids of communicators that are not [`CommOrigin::FromParent`], before they were made different, and the number of communicators with each.
static SEEN: HandlerLock<HashMap<u64, u64, FixedState>> =
    HandlerLock::new(HashMap::with_hasher(FixedState::with_seed(0)));

/// Ids that a log may have.
const MAX_COMMS: u32 = 1 << 20;

static N_COMMS: AtomicU32 = AtomicU32::new(0);

/// Describes a communicator and writes its definition to the log. A call with the handle has succeeded, so it is valid, or it is null.
fn define_comm(comm: Word, parent: Option<ParentId>, birth: CommOrigin, number: u64) -> &'static CommInfo {
    if is_predefined(PredefinedHandle::CommNull, comm) || comm == 0 || !predefined::may_be_comm(comm) {
        return &UNKNOWN;
    }
    let rank = ask_mpi(c"PMPI_Comm_rank", [comm], -1i32);
    // An invalid handle has no rank. A call with it may seem to have succeeded, because the program's error handler came back. That was
    // called again now, and is not called for this handle from here on.
    if rank < 0 {
        table::insert_unknown(comm);
        return &UNKNOWN;
    }
    let id = N_COMMS.fetch_add(1, Relaxed);
    if id >= MAX_COMMS {
        N_COMMS.fetch_sub(1, Relaxed);
        let what = format_args!("more than {MAX_COMMS} communicators; further ones share no id");
        guard::report_problem(ProblemKind::TooMany, what);
        return &UNKNOWN;
    }
    let (group, remote) = match ask_mpi(c"PMPI_Comm_test_inter", [comm], 0i32) {
        0 => (members::own_ranks(comm), Vec::new()),
        _ => {
            let ranks = [c"PMPI_Comm_group", c"PMPI_Comm_remote_group"].map(|which| members::world_ranks(comm, which));
            ranks.into()
        }
    };
    let topology = topology::read_neighbours(comm);
    let uid = uid_of(parent, birth, number, &group, &remote);
    let info = CommInfo {
        id,
        rank,
        size: group.len() as i64,
        others: if remote.is_empty() { group.len() } else { remote.len() } as i64,
        inter: !remote.is_empty(),
        sources: topology.sources.len() as i64,
        destinations: topology.destinations.len() as i64,
        absent: topology.absent,
        uid,
        children: AtomicU32::new(0),
    };
    let info = table::insert_comm(comm, info);
    let neighbours = neighbour_definition(id, &topology, &group);
    log::define_later(Definition::Communicator(Communicator {
        id,
        uid,
        parent: parent.map_or(NONE, |parent| parent.id),
        rank: u32::try_from(rank).unwrap_or(NONE),
        group: RankList::from_ranks(group),
        remote: RankList::from_ranks(remote),
    }));
    if let Some(neighbours) = neighbours {
        log::define_later(neighbours);
    }
    info
}

/// Returns the number of a communicator, which is the same on all its members.
fn uid_of(parent: Option<ParentId>, birth: CommOrigin, number: u64, group: &[u32], remote: &[u32]) -> u64 {
    // The same numbers for the same input in every process.
    let mut hasher = foldhash::quality::FixedState::with_seed(0x6c62_7072_6f66).build_hasher();
    // Both sides of an inter-communicator see the groups in turn.
    let (first, second) = if !remote.is_empty() && remote < group { (remote, group) } else { (group, remote) };
    for side in [first, second] {
        hasher.write_usize(side.len());
        for &rank in side.iter() {
            hasher.write_u32(rank);
        }
    }
    if birth != CommOrigin::Inter {
        hasher.write_u64(parent.map_or(0, |parent| parent.uid));
    }
    let number = match birth {
        CommOrigin::FromParent => number,
        _ => SEEN.lock().map_or(0, |mut seen| {
            let times = seen.entry(hasher.finish()).or_default();
            *times += 1;
            *times << 32
        }),
    };
    hasher.write_u64(number);
    hasher.finish()
}

/// Returns the definition of a rank's neighbours in communicator `id`, whose world ranks are `group`; `None` if it has no topology.
fn neighbour_definition(id: u32, topology: &TopologyNeighbours, group: &[u32]) -> Option<Definition> {
    topology.is_there.then(|| {
        let [sources, destinations] = [&topology.sources, &topology.destinations].map(|ranks| {
            let there = ranks.iter().flatten();
            RankList::from_ranks(there.map(|&rank| group.get(rank as usize).copied().unwrap_or(NONE)))
        });
        Definition::Neighbours(NeighbourRanks { comm: id, sources, destinations })
    })
}
