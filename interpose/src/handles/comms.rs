//! Communicators: handles → what is known of them, and their ids in the log.
//!
//! All members of a communicator give it the same id without talking to each other: a hash of its parent's id, of how many
//! communicators were made from the parent before, and of its members' world ranks.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

use lbprof_collector::definition::{Communicator, Definition, Neighbours, RankList};
use lbprof_collector::problem::ProblemKind;
use lbprof_collector::record::NONE;
use parking_lot::{Mutex, RwLock};

use crate::forward;
use crate::handles::groups;
use crate::harmless::guard;
use crate::mpi::abi::{self, Null, is_null};
use crate::mpi::topology::{self, Topology};
use crate::recording::flush;
use crate::recording::thread::{CACHE, Thread, Word};
use crate::verbs::Birth;

/// What calls need to know of a communicator.
#[derive(Debug)]
pub struct CommInfo {
    /// Id of its definition in the log.
    pub id: u32,
    /// This rank's rank in it.
    pub rank: i32,
    /// Size of its (local) group.
    pub size: i64,
    /// Size of the group that a collective addresses: the remote one of an inter-communicator, else the local one.
    pub others: i64,
    /// Whether it is an inter-communicator.
    pub inter: bool,
    /// Neighbours that send to this rank, in its topology.
    pub sources: i64,
    /// Neighbours that this rank sends to.
    pub destinations: i64,
    /// Which of both are MPI_PROC_NULL, beyond the edge of a grid: a bit for each.
    pub absent: u64,
    /// The same number on all members.
    uid: u64,
    /// Communicators made from it so far.
    children: AtomicU32,
}

impl CommInfo {
    fn next_child(&self) -> u64 {
        u64::from(self.children.fetch_add(1, Relaxed))
    }

    const fn unknown() -> Self {
        CommInfo {
            id: NONE,
            rank: -1,
            size: 0,
            others: 0,
            inter: false,
            sources: 0,
            destinations: 0,
            absent: 0,
            uid: 0,
            children: AtomicU32::new(0),
        }
    }
}

/// MPI_COMM_NULL, and whatever cannot be asked.
static UNKNOWN: CommInfo = CommInfo::unknown();

/// Ids that a log may have.
const MAX_COMMS: u32 = 1 << 20;

/// Communicators in use, by handle. Memory of a description is used again, but not soon, because another thread may be in a call with it.
static COMMS: RwLock<Option<HashMap<Word, &'static CommInfo, foldhash::fast::FixedState>>> = RwLock::new(None);

/// Descriptions of communicators that were freed, the oldest first.
static FREED: Mutex<VecDeque<&'static CommInfo>> = Mutex::new(VecDeque::new());

/// So many communicators are freed before the memory of a description is used again. A call with a communicator that another
/// thread frees is an error of the program (MPI-4.1 §7.4.3), and none lasts for so many creations and deletions.
const QUARANTINE: usize = 1024;

/// A description in memory that lasts: that of one freed long ago, or new.
fn kept(info: CommInfo) -> &'static CommInfo {
    let mut freed = FREED.lock();
    let old = if freed.len() > QUARANTINE { freed.pop_front() } else { None };
    drop(freed);
    match old {
        // SAFETY: made by the line below; no handle and no cache leads to it, and no call that could still read it goes on, see above.
        Some(old) => unsafe {
            let memory = std::ptr::from_ref(old).cast_mut();
            memory.write(info);
            &*memory
        },
        None => Box::leak(Box::new(info)),
    }
}

/// What a communicator's id is made of that outlives its parent.
#[derive(Clone, Copy)]
pub struct Parent {
    id: u32,
    uid: u64,
}

impl CommInfo {
    fn as_parent(&self) -> Parent {
        Parent { id: self.id, uid: self.uid }
    }
}

/// Ids given so far.
static N_COMMS: AtomicU32 = AtomicU32::new(0);

/// What is known of `comm`.
///
/// # Safety
/// `thread` is the calling thread's state; `comm` is a valid handle or a null one.
#[inline(always)]
pub unsafe fn find(thread: *mut Thread, comm: Word) -> &'static CommInfo {
    // SAFETY: the cache holds addresses of descriptions that are never freed.
    unsafe {
        if comm == (*thread).comm_handle && !(*thread).comm.is_null() {
            &*(*thread).comm
        } else {
            look_up(thread, comm)
        }
    }
}

/// Empties a thread's cache.
///
/// # Safety
/// `thread` is the calling thread's state.
pub unsafe fn forget_cached(thread: *mut Thread) {
    // SAFETY: the thread's own state.
    unsafe {
        (*thread).comm_handle = 0;
        (*thread).comm = &UNKNOWN;
        (*thread).comms = [(0, std::ptr::null()); CACHE];
    }
}

/// Where a handle goes in a thread's cache.
#[inline(always)]
pub fn cache_slot(handle: Word) -> usize {
    (handle >> 4 ^ handle >> 9 ^ handle) & (CACHE - 1)
}

#[inline(never)]
unsafe fn look_up(thread: *mut Thread, comm: Word) -> &'static CommInfo {
    // SAFETY: the thread's own state; see `find`.
    unsafe {
        let cached = (&raw mut (*thread).comms).cast::<(Word, *const CommInfo)>().add(cache_slot(comm));
        let info = if (*cached).0 == comm && !(*cached).1.is_null() {
            (*cached).1
        } else {
            let info: *const CommInfo =
                crate::recording::thread::cold(thread, || known_or_seen(thread, comm)).unwrap_or(&UNKNOWN);
            if std::ptr::eq(info, &UNKNOWN) {
                return &UNKNOWN;
            }
            *cached = (comm, info);
            info
        };
        (*thread).comm_handle = comm;
        (*thread).comm = info;
        &*info
    }
}

/// Of a handle that was not seen before nothing is known until a call with it has succeeded ([`crate::recording::thread::learn`]).
#[cold]
unsafe fn known_or_seen(thread: *mut Thread, comm: Word) -> Option<&'static CommInfo> {
    // SAFETY: the thread's own state.
    unsafe {
        if (*thread).asking || comm == 0 || is_null(Null::Comm, comm) {
            return Some(known_or_defined(comm));
        }
        let known = COMMS.read().as_ref().and_then(|comms| comms.get(&comm).copied());
        (*thread).unseen |= known.is_none();
        known
    }
}

#[cold]
fn known_or_defined(comm: Word) -> &'static CommInfo {
    if let Some(info) = COMMS.read().as_ref().and_then(|comms| comms.get(&comm)) {
        return info;
    }
    // SAFETY: a call with the handle has succeeded, so it is valid, or it is null.
    unsafe { define(comm, None, Salt::Members { with_parent: false }) }
}

/// A communicator was made from `parent` (a handle; 0 where there is none).
///
/// # Safety
/// `comm` was returned by a successful call; it may be null.
pub unsafe fn created(parent: Word, comm: Word, birth: Birth) -> &'static CommInfo {
    let parent = if parent == 0 || is_null(Null::Comm, parent) { None } else { Some(known_or_defined(parent)) };
    // SAFETY: the caller's promise.
    unsafe {
        match birth {
            // Counted by all members of the parent, also those that are not in the new one.
            Birth::FromParent => {
                let number = parent.map_or(0, CommInfo::next_child);
                define(comm, parent.map(CommInfo::as_parent), Salt::Number(number))
            }
            Birth::InGroup => define(comm, parent.map(CommInfo::as_parent), Salt::Members { with_parent: true }),
            Birth::Inter => define(comm, parent.map(CommInfo::as_parent), Salt::Members { with_parent: false }),
        }
    }
}

/// Counts a communicator that `parent` is making.
pub fn next_child(parent: Word) -> (Parent, u64) {
    let parent = known_or_defined(parent);
    (parent.as_parent(), parent.next_child())
}

/// The communicator that [`next_child`] counted exists.
///
/// # Safety
/// As [`created`].
pub unsafe fn created_as(parent: Parent, number: u64, comm: Word) {
    // SAFETY: the caller's promise.
    unsafe { define(comm, Some(parent), Salt::Number(number)) };
}

/// What, besides the members, tells a communicator from others.
enum Salt {
    /// How many were made from its parent before.
    Number(u64),
    /// How many with the same members (and the same parent) were made before: for calls that not all members of the parent
    /// take part in.
    Members { with_parent: bool },
}

/// Ids of communicators by [`Salt::Members`], and how many there were.
static SEEN: Mutex<Option<HashMap<u64, u64, foldhash::fast::FixedState>>> = Mutex::new(None);

/// Forgets a communicator that is about to be freed.
///
/// # Safety
/// `comm` is valid.
pub unsafe fn forget(comm: Word) {
    let known = COMMS.write().as_mut().and_then(|comms| comms.remove(&comm));
    // SAFETY: the states of registered threads are live.
    flush::for_each_thread(|thread| unsafe {
        uncache(&raw mut (*thread).comm_handle, comm);
        let cached = (&raw mut (*thread).comms).cast::<(Word, *const CommInfo)>().add(cache_slot(comm));
        uncache(&raw mut (*cached).0, comm);
    });
    // Only now, when nothing leads to it any more.
    if let Some(known) = known {
        FREED.lock().push_back(known);
    }
}

/// Empties an entry of a thread's cache, by its handle, if it is that of `handle`.
///
/// The thread may be at work on the entry, for another handle: what it stores stays. What belongs to the handle is the thread's alone
/// and is left as it is.
///
/// # Safety
/// `entry` is in the state of a live thread.
pub unsafe fn uncache(entry: *mut Word, handle: Word) {
    // SAFETY: the caller's promise; aligned as a word is.
    let _ = unsafe { AtomicUsize::from_ptr(entry) }.compare_exchange(handle, 0, Relaxed, Relaxed);
}

/// Defines MPI_COMM_WORLD as communicator 0 and MPI_COMM_SELF as 1.
pub fn define_predefined() {
    known_or_defined(abi::comm_world());
    known_or_defined(abi::comm_self());
}

/// Describes a communicator and writes its definition to the log.
unsafe fn define(comm: Word, parent: Option<Parent>, salt: Salt) -> &'static CommInfo {
    if is_null(Null::Comm, comm) || comm == 0 {
        return &UNKNOWN;
    }
    let mut rank = -1;
    // SAFETY: a local look-up.
    unsafe { forward::call2(c"PMPI_Comm_rank", comm, &raw mut rank as Word) };
    // What is no communicator has no rank. A call with it may seem to have succeeded, because the program's error handler came back.
    if rank < 0 {
        return &UNKNOWN;
    }
    let id = N_COMMS.fetch_add(1, Relaxed);
    if id >= MAX_COMMS {
        N_COMMS.fetch_sub(1, Relaxed);
        guard::tell(
            ProblemKind::TooMany,
            format_args!("more than {MAX_COMMS} communicators; further ones share no id"),
        );
        return &UNKNOWN;
    }
    // SAFETY: the handle is valid; these are local look-ups.
    let (group, remote, topology) = unsafe {
        let mut inter = 0;
        forward::call2(c"PMPI_Comm_test_inter", comm, &raw mut inter as Word);
        let group = if inter == 0 { own_ranks(comm) } else { world_ranks(comm, c"PMPI_Comm_group") };
        let remote = if inter != 0 { world_ranks(comm, c"PMPI_Comm_remote_group") } else { Vec::new() };
        (group, remote, topology::of(comm))
    };
    let uid = {
        let mut hasher = hasher();
        // Both sides of an inter-communicator see the groups in turn.
        let (first, second) = if !remote.is_empty() && remote < group { (&remote, &group) } else { (&group, &remote) };
        for side in [first, second] {
            hasher.write_usize(side.len());
            side.iter().for_each(|&rank| hasher.write_u32(rank));
        }
        if !matches!(salt, Salt::Members { with_parent: false }) {
            hasher.write_u64(parent.map_or(0, |parent| parent.uid));
        }
        let number = match salt {
            Salt::Number(number) => number,
            Salt::Members { .. } => {
                let mut seen = SEEN.lock();
                let times = seen.get_or_insert_default().entry(hasher.finish()).or_default();
                *times += 1;
                *times << 32
            }
        };
        hasher.write_u64(number);
        hasher.finish()
    };
    let info = kept(CommInfo {
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
    });
    COMMS.write().get_or_insert_default().insert(comm, info);
    let neighbours = named(id, &topology, &group);
    flush::define(Definition::Communicator(Communicator {
        id,
        uid,
        parent: parent.map_or(NONE, |parent| parent.id),
        rank: u32::try_from(rank).unwrap_or(NONE),
        group: RankList::from_ranks(group),
        remote: RankList::from_ranks(remote),
    }));
    neighbours.into_iter().for_each(flush::define);
    info
}

/// The definition of a rank's neighbours in communicator `id`, whose ranks are those of the world in `group`; `None`: it has none.
fn named(id: u32, topology: &Topology, group: &[u32]) -> Option<Definition> {
    let world = |ranks: &[Option<u32>]| {
        let there = ranks.iter().flatten();
        RankList::from_ranks(there.map(|&rank| group.get(rank as usize).copied().unwrap_or(NONE)))
    };
    topology.is_there.then(|| {
        let (sources, destinations) = (world(&topology.sources), world(&topology.destinations));
        Definition::Neighbours(Neighbours { comm: id, sources, destinations })
    })
}

/// The same numbers from the same input in every process.
fn hasher() -> impl Hasher {
    foldhash::quality::FixedState::with_seed(0x6c62_7072_6f66).build_hasher()
}

/// How many ranks MPI_COMM_WORLD has; 0 where there is none.
static WORLD_SIZE: AtomicU32 = AtomicU32::new(0);

/// World ranks of an intra-communicator's group.
///
/// Open MPI looks for each rank by going through the world's, which for a communicator as large as the world takes a time that grows with
/// its square. So the world is not asked about, and others of its size first whether they are like it.
unsafe fn own_ranks(comm: Word) -> Vec<u32> {
    let is_world = comm == abi::comm_world();
    let mut size = 0i32;
    // SAFETY: local look-ups on valid communicators.
    unsafe {
        forward::call2(c"PMPI_Comm_size", comm, &raw mut size as Word);
        let size = u32::try_from(size).unwrap_or(0);
        if is_world {
            WORLD_SIZE.store(size, Relaxed);
        }
        let mut comparison = abi::abi().undefined;
        if !is_world && size != 0 && size == WORLD_SIZE.load(Relaxed) {
            forward::call3(c"PMPI_Comm_compare", comm, abi::comm_world(), &raw mut comparison as Word);
        }
        if is_world || comparison == abi::congruent() {
            (0..size).collect()
        } else {
            world_ranks(comm, c"PMPI_Comm_group")
        }
    }
}

/// World ranks of a communicator's group; empty where MPI gives none. Ranks outside of MPI_COMM_WORLD are [`NONE`].
unsafe fn world_ranks(comm: Word, which: &'static std::ffi::CStr) -> Vec<u32> {
    // SAFETY: local group operations on a valid communicator; every group made here is freed here.
    unsafe {
        let mut group: Word = 0;
        if forward::call2(which, comm, &raw mut group as Word) != 0 {
            return Vec::new();
        }
        let ranks = groups::world_ranks(group);
        forward::call2(c"PMPI_Group_free", &raw mut group as Word, 0);
        ranks
    }
}
