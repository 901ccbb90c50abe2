//! Sums over the instances of regions, by call site, thread that starts them, and size of team.
//!
//! Each is changed by one thread only, without a lock. Any thread may write them to the log: a sum that changes meanwhile is written again later.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};

use lbprof_collector::Definition;
use lbprof_collector::parallel::{MAX_MEMBERS, MemberSums, MemberTimes, ParallelSums, TeamTime, divide_thread_time};
use lbprof_collector::parallel_marks::ParallelInstance;
use lbprof_collector::problem::ProblemKind;
use lbprof_collector::record::NONE;

use crate::harmless::{enter, guard};
use crate::log::{self, LOG};
use crate::openmp::region_code::RegionCode;
use crate::openmp::{marks, placement};
use crate::recording::call_path;
use crate::state::thread::RecorderThread;
use crate::unwind::PathCall;

/// A region of one thread that starts it.
pub struct RegionSite {
    thread: *mut RecorderThread,
    /// Address that distinguishes it from others.
    address: usize,
    /// The thread's number in the log, or [`NONE`].
    pub number: u32,
    pub call_site: u32,
    /// Sums by size of the team, in a list.
    teams: AtomicPtr<TeamSums>,
}

#[derive(Clone, Copy)]
pub struct RegionSpan {
    /// Its begin, in ticks.
    pub begin: u64,
    /// Its end, in ticks.
    pub end: u64,
    /// Threads of other teams that were in regions at its begin.
    pub beside: u32,
}

#[derive(Default)]
struct TeamSums {
    id: u32,
    team: u32,
    instances: AtomicU64,
    elapsed: AtomicU64,
    time: [AtomicU64; 8],
    longest: AtomicU64,
    /// The most threads of other teams in regions at the begin of an instance.
    beside: AtomicU32,
    /// Useful time, MPI, waits, and instances in which it works longest, by thread.
    members: Vec<[AtomicU64; 4]>,
    /// Instances that the log has.
    written: AtomicU64,
    next: AtomicPtr<TeamSums>,
}

const MAX_SITES: usize = 4096;
static SITES: [AtomicPtr<RegionSite>; MAX_SITES] = [const { AtomicPtr::new(std::ptr::null_mut()) }; MAX_SITES];
static IDS: AtomicU32 = AtomicU32::new(0);

/// Threads of the largest team so far.
static LARGEST: AtomicU32 = AtomicU32::new(0);

/// Returns the site of the region of this code that the calling thread starts, or `None` if there can be no more sites.
///
/// # Safety
/// `thread` is the calling thread's state, in which the caller is noted.
#[inline]
pub unsafe fn region_site(thread: *mut RecorderThread, code: RegionCode) -> Option<&'static RegionSite> {
    // SAFETY: the caller's promise.
    unsafe {
        match find_site(thread, code.address()) {
            Ok(site) => Some(site),
            Err(free) => new_site(thread, code, free?),
        }
    }
}

/// Returns the site of the region that the calling thread starts, or `None` if it has started none there before.
///
/// # Safety
/// `thread` is the calling thread's state, in which the caller is noted.
#[inline]
pub unsafe fn known_site(thread: *mut RecorderThread, code: RegionCode) -> Option<&'static RegionSite> {
    // SAFETY: the caller's promise.
    unsafe { find_site(thread, code.address()) }.ok()
}

/// Returns the site if it is known; else a free place for it, if there is one.
///
/// # Safety
/// As [`known_site`].
#[inline(always)]
unsafe fn find_site(
    thread: *mut RecorderThread,
    address: usize,
) -> Result<&'static RegionSite, Option<&'static AtomicPtr<RegionSite>>> {
    // SAFETY: the thread's own state; sites are never freed.
    unsafe {
        let first = site_place(thread, address);
        for at in first..first + MAX_SITES {
            let Some(place) = SITES.get(at % MAX_SITES) else { break };
            match place.load(Acquire).as_ref() {
                // Another thread may have had this state before.
                Some(site)
                    if site.thread == thread && site.address == address && site.number == thread_number(thread) =>
                {
                    return Ok(site);
                }
                Some(_) => {}
                None => return Err(Some(place)),
            }
        }
        Err(None)
    }
}

/// Returns the index at which the search for a site begins.
#[inline(always)]
fn site_place(thread: *mut RecorderThread, address: usize) -> usize {
    let hash = (address ^ (thread as usize >> 6)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash >> (usize::BITS - MAX_SITES.ilog2())
}

impl RegionSite {
    #[inline(always)]
    fn team_sums(&self) -> impl Iterator<Item = &'static TeamSums> {
        // SAFETY: sums are never freed, and their links do not change.
        unsafe {
            let first = self.teams.load(Acquire).as_ref();
            std::iter::successors(first, |sums| sums.next.load(Relaxed).as_ref())
        }
    }
}

/// Returns the number in the log of the calling thread, or [`NONE`].
///
/// # Safety
/// `thread` is the calling thread's state.
#[inline(always)]
unsafe fn thread_number(thread: *mut RecorderThread) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { (*thread).log.as_ref().map_or(NONE, |log| log.number) }
}

/// # Safety
/// As [`region_site`].
#[cold]
#[inline(never)]
unsafe fn new_site(
    thread: *mut RecorderThread,
    code: RegionCode,
    place: &'static AtomicPtr<RegionSite>,
) -> Option<&'static RegionSite> {
    // SAFETY: the caller's promise.
    unsafe {
        let caller = (*thread).caller;
        let known = call_path::current_or_none(thread);
        let mut made = std::ptr::null_mut();
        enter::run_critical(thread, || {
            let call_site = LOG.with(|log| {
                // A thread without records has no path.
                let caller = match known.checked_sub(1) {
                    Some(id) => Some(id as u32),
                    None => log.call_path(&[PathCall::To(caller)], true),
                };
                match code.call() {
                    Some(call) => log.call_within(caller.unwrap_or(NONE), &call).or(caller),
                    None => caller,
                }
            });
            made = Box::into_raw(Box::new(RegionSite {
                thread,
                address: code.address(),
                number: thread_number(thread),
                call_site: call_site.flatten().unwrap_or(NONE),
                teams: AtomicPtr::new(std::ptr::null_mut()),
            }));
        });
        let made = made.as_ref()?;
        // Where another thread has taken the place meanwhile, this one finds its own on the next call.
        let taken = place.compare_exchange(std::ptr::null_mut(), std::ptr::from_ref(made).cast_mut(), AcqRel, Acquire);
        taken.ok().map(|_| made)
    }
}

/// Adds an instance, in which its team has had these times, and returns it, or `None` if there is no room for its sums.
///
/// # Safety
/// `thread` is the calling thread's state, which has started it.
#[inline]
pub unsafe fn add_instance<'a>(
    thread: *mut RecorderThread,
    site: &'static RegionSite,
    span: RegionSpan,
    team: impl Iterator<Item = &'a MemberTimes> + Clone,
) -> Option<ParallelInstance> {
    let RegionSpan { begin, end, beside } = span;
    let size = team.clone().count() as u32;
    // SAFETY: the thread's own site.
    let sums = unsafe { sums_of(thread, site, size) }?;
    let (mut heavy_thread, mut longest) = (0, 0);
    for (number, member) in (0..).zip(team.clone()) {
        let own = member.useful();
        if own > longest {
            (heavy_thread, longest) = (number, own);
        }
        if let Some([useful, mpi, waits, _]) = sums.members.get(number as usize) {
            increase_sum(useful, own);
            increase_sum(mpi, member.mpi);
            increase_sum(waits, member.mutex + member.ordered + member.tasks);
        }
    }
    if let Some([.., times_longest]) = sums.members.get(heavy_thread as usize) {
        increase_sum(times_longest, 1);
    }
    let time = divide_thread_time(begin, end, team);
    for (sum, part) in sums.time.iter().zip(time.parts()) {
        increase_sum(sum, part);
    }
    increase_sum(&sums.elapsed, end.saturating_sub(begin));
    increase_sum(&sums.longest, longest);
    if beside > sums.beside.load(Relaxed) {
        sums.beside.store(beside, Relaxed);
    }
    increase_sum(&sums.instances, 1);
    Some(ParallelInstance {
        begin,
        end,
        call_site: marks::in_ring(site.call_site),
        team: size,
        heavy_thread,
        longest,
        time,
    })
}

/// Adds to a sum that no other thread changes.
#[inline(always)]
fn increase_sum(sum: &AtomicU64, by: u64) {
    sum.store(sum.load(Relaxed).wrapping_add(by), Relaxed);
}

/// Returns the sums of teams of this size.
///
/// # Safety
/// `thread` is the calling thread's state, and the site is its own.
#[inline]
unsafe fn sums_of(thread: *mut RecorderThread, site: &'static RegionSite, size: u32) -> Option<&'static TeamSums> {
    match site.team_sums().find(|sums| sums.team == size) {
        Some(sums) => Some(sums),
        // SAFETY: the caller's promise.
        None => unsafe { new_sums(thread, site, size) },
    }
}

/// # Safety
/// As [`sums_of`].
#[cold]
#[inline(never)]
unsafe fn new_sums(thread: *mut RecorderThread, site: &'static RegionSite, size: u32) -> Option<&'static TeamSums> {
    let mut made = std::ptr::null_mut();
    // SAFETY: the caller's promise.
    unsafe {
        enter::run_critical(thread, || {
            made = Box::into_raw(Box::new(TeamSums {
                id: IDS.fetch_add(1, Relaxed),
                team: size,
                members: (0..MAX_MEMBERS.min(size as usize)).map(|_| Default::default()).collect(),
                next: AtomicPtr::new(site.teams.load(Acquire)),
                ..TeamSums::default()
            }));
            site.teams.store(made, Release);
            if LARGEST.fetch_max(size, Relaxed) < size && size > 1 {
                log::define_now(Definition::TeamPlacement(placement::find_placement(size, (*thread).caller)));
            }
        });
        made.as_ref()
    }
}

impl TeamSums {
    /// Returns the sums that the log does not have yet, or `None` if it has all.
    fn unwritten(&self, site: &RegionSite) -> Option<Definition> {
        let instances = self.instances.load(Relaxed);
        if self.written.swap(instances, Relaxed) == instances {
            return None;
        }
        let [useful, mpi, idle_for_mpi, imbalance, mutex, ordered, tasks, fork_join] =
            self.time.each_ref().map(|part| part.load(Relaxed));
        let members = self.members.iter().map(|member| {
            let [useful, mpi, waits, longest] = member.each_ref().map(|sum| sum.load(Relaxed));
            MemberSums { useful, mpi, waits, longest }
        });
        Some(Definition::ParallelSums(ParallelSums {
            id: self.id,
            thread: site.number,
            call_site: site.call_site,
            team: self.team,
            instances,
            elapsed: self.elapsed.load(Relaxed),
            time: TeamTime { useful, mpi, idle_for_mpi, imbalance, mutex, ordered, tasks, fork_join },
            longest: self.longest.load(Relaxed),
            beside: self.beside.load(Relaxed),
            members: members.collect(),
        }))
    }
}

/// Returns the sums that the log lacks.
pub fn unwritten_region_sums() -> Vec<Definition> {
    // SAFETY: sites are never freed.
    let sites: Vec<&RegionSite> = SITES.iter().filter_map(|place| unsafe { place.load(Acquire).as_ref() }).collect();
    if sites.len() == MAX_SITES {
        guard::count_problem(ProblemKind::TooMany, 1);
    }
    sites.iter().flat_map(|site| site.team_sums().filter_map(|team| team.unwritten(site))).collect()
}
