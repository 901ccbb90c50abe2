//! Births of communicators: how one becomes known, and which id it gets in the log.
//!
//! All members of a communicator give it the same number without talking to each other: a hash of its parent's number, of how many
//! communicators were made from the parent before, and of its members' world ranks.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use lbprof_collector::definition::{Communicator, Definition, NeighbourRanks, RankList};
use lbprof_collector::problem::ProblemKind;
use lbprof_collector::record::NONE;

use crate::handles::comms::{members, table};
use crate::harmless::signals::HandlerLock;
use crate::harmless::{enter, guard};
use crate::log;
use crate::mpi::call;
use crate::mpi::predefined::{self, NullHandle, is_null};
use crate::mpi::topology::{self, TopologyNeighbours};
use crate::state::comm::{CommInfo, ParentId, UNKNOWN};
use crate::state::thread;
use crate::word::Word;

/// The origin of a new communicator's id.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CommOrigin {
    /// Every member of the parent takes part.
    FromParent,
    /// Only the new one's members take part.
    InGroup,
    /// An inter-communicator, whose two sides have different parents.
    Inter,
}

/// A communicator was made from `parent` (a handle; 0 where there is none).
///
/// # Safety
/// `comm` was returned by a successful call; it may be null.
pub unsafe fn created(parent: Word, comm: Word, birth: CommOrigin) -> &'static CommInfo {
    let parent = if parent == 0 || is_null(NullHandle::Comm, parent) { None } else { Some(known_or_defined(parent)) };
    if parent.is_some_and(|parent| std::ptr::eq(parent, &UNKNOWN)) {
        // The call only seems to have succeeded, see `define`; or there are too many.
        return &UNKNOWN;
    }
    // SAFETY: the caller's promise.
    unsafe {
        match birth {
            // Counted by all members of the parent, also those that are not in the new one.
            CommOrigin::FromParent => {
                let number = parent.map_or(0, CommInfo::next_child);
                define(comm, parent.map(CommInfo::as_parent), IdSalt::Number(number))
            }
            CommOrigin::InGroup => define(comm, parent.map(CommInfo::as_parent), IdSalt::Members { with_parent: true }),
            CommOrigin::Inter => define(comm, parent.map(CommInfo::as_parent), IdSalt::Members { with_parent: false }),
        }
    }
}

/// The facts about `comm`, with which a call has succeeded. It is defined in the log if it was not before.
#[cold]
pub fn known_or_defined(comm: Word) -> &'static CommInfo {
    if let Some(info) = table::get(comm) {
        return info;
    }
    // SAFETY: a call with the handle has succeeded, so it is valid, or it is null.
    unsafe { define(comm, None, IdSalt::Members { with_parent: false }) }
}

/// Communicators that are being made by MPI_Comm_idup: the request's id, the number among the parent's, where the handle is.
struct PendingComms {
    request: u32,
    parent: ParentId,
    number: u64,
    newcomm: Word,
    read: unsafe fn(Word) -> Word,
}

static LATER: HandlerLock<Vec<PendingComms>> = HandlerLock::new(Vec::new());

/// MPI_Comm_idup has returned: `request` makes a communicator from `parent`, whose handle `read` finds at `newcomm` when the request has
/// completed.
pub fn begin_later(request: u32, parent: Word, newcomm: Word, read: unsafe fn(Word) -> Word) {
    let parent = known_or_defined(parent);
    let (parent, number) = (parent.as_parent(), parent.next_child());
    if let Some(mut later) = LATER.lock() {
        later.push(PendingComms { request, parent, number, newcomm, read });
    }
}

/// The request of an MPI_Comm_idup has completed.
///
/// # Safety
/// What [`begin_later`] was given for it is as good as it was then.
pub unsafe fn finish_later(request: u32) {
    // SAFETY: the calling thread's own state; the handle is stored by now.
    unsafe {
        enter::cold(thread::current(), || {
            let Some(mut later) = LATER.lock() else { return };
            if let Some(at) = later.iter().position(|later| later.request == request) {
                let made = later.swap_remove(at);
                drop(later);
                define((made.read)(made.newcomm), Some(made.parent), IdSalt::Number(made.number));
            }
        });
    }
}

/// Defines MPI_COMM_WORLD as communicator 0 and MPI_COMM_SELF as 1.
pub fn define_predefined() {
    known_or_defined(predefined::comm_world());
    known_or_defined(predefined::comm_self());
}

/// The salt that distinguishes communicators with the same members.
enum IdSalt {
    /// Number of communicators made from its parent before.
    Number(u64),
    /// Number of communicators with the same members (and the same parent) made before: for calls that not all members of the parent take
    /// part in.
    Members { with_parent: bool },
}

/// Ids of communicators by [`IdSalt::Members`], and how many there were.
static SEEN: HandlerLock<Option<HashMap<u64, u64, foldhash::fast::FixedState>>> = HandlerLock::new(None);

/// Ids that a log may have.
const MAX_COMMS: u32 = 1 << 20;

/// Ids given so far.
static N_COMMS: AtomicU32 = AtomicU32::new(0);

/// Describes a communicator and writes its definition to the log.
///
/// # Safety
/// `comm` was returned by a successful call; it may be null.
unsafe fn define(comm: Word, parent: Option<ParentId>, salt: IdSalt) -> &'static CommInfo {
    if is_null(NullHandle::Comm, comm) || comm == 0 || !predefined::may_be_comm(comm) {
        return &UNKNOWN;
    }
    let mut rank = -1;
    // SAFETY: a local look-up.
    unsafe { call::call2(c"PMPI_Comm_rank", comm, &raw mut rank as Word) };
    // What is no communicator has no rank. A call with it may seem to have succeeded, because the program's error handler came back: that
    // was called again now, and never is for this handle from here on.
    if rank < 0 {
        table::insert_unknown(comm);
        return &UNKNOWN;
    }
    let id = N_COMMS.fetch_add(1, Relaxed);
    if id >= MAX_COMMS {
        N_COMMS.fetch_sub(1, Relaxed);
        guard::report(
            ProblemKind::TooMany,
            format_args!("more than {MAX_COMMS} communicators; further ones share no id"),
        );
        return &UNKNOWN;
    }
    // SAFETY: the handle is valid; these are local look-ups.
    let (group, remote, topology) = unsafe {
        let mut inter = 0;
        call::call2(c"PMPI_Comm_test_inter", comm, &raw mut inter as Word);
        let group = if inter == 0 { members::own_ranks(comm) } else { members::world_ranks(comm, c"PMPI_Comm_group") };
        let remote = if inter != 0 { members::world_ranks(comm, c"PMPI_Comm_remote_group") } else { Vec::new() };
        (group, remote, topology::read_neighbours(comm))
    };
    let uid = uid_of(parent, salt, &group, &remote);
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
    let info = table::insert(comm, info);
    let neighbours = named(id, &topology, &group);
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

/// The number of a communicator of these members, the same on all of them.
fn uid_of(parent: Option<ParentId>, salt: IdSalt, group: &[u32], remote: &[u32]) -> u64 {
    let mut hasher = hasher();
    // Both sides of an inter-communicator see the groups in turn.
    let (first, second) = if !remote.is_empty() && remote < group { (remote, group) } else { (group, remote) };
    for side in [first, second] {
        hasher.write_usize(side.len());
        for &rank in side.iter() {
            hasher.write_u32(rank);
        }
    }
    if !matches!(salt, IdSalt::Members { with_parent: false }) {
        hasher.write_u64(parent.map_or(0, |parent| parent.uid));
    }
    let number = match salt {
        IdSalt::Number(number) => number,
        IdSalt::Members { .. } => SEEN.lock().map_or(0, |mut seen| {
            let times = seen.get_or_insert_default().entry(hasher.finish()).or_default();
            *times += 1;
            *times << 32
        }),
    };
    hasher.write_u64(number);
    hasher.finish()
}

/// The definition of a rank's neighbours in communicator `id`, whose ranks are those of the world in `group`; `None`: it has none.
fn named(id: u32, topology: &TopologyNeighbours, group: &[u32]) -> Option<Definition> {
    topology.is_there.then(|| {
        let [sources, destinations] = [&topology.sources, &topology.destinations].map(|ranks| {
            let there = ranks.iter().flatten();
            RankList::from_ranks(there.map(|&rank| group.get(rank as usize).copied().unwrap_or(NONE)))
        });
        Definition::Neighbours(NeighbourRanks { comm: id, sources, destinations })
    })
}

/// Creates a hasher that gives the same numbers for the same input in every process.
fn hasher() -> impl Hasher {
    foldhash::quality::FixedState::with_seed(0x6c62_7072_6f66).build_hasher()
}
