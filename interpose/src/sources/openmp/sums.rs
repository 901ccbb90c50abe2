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
use crate::machine::unwind::PathCall;
use crate::recording::call_path;
use crate::sources::openmp::region_code::RegionCode;
use crate::sources::openmp::{marks, placement};
use crate::state::parallel::StartedRegion;
use crate::state::thread::RecorderThread;

/// A region of one thread that starts it.
pub struct RegionSite {
    /// The address of its state.
    thread: usize,
    /// Address that distinguishes it from others.
    address: usize,
    /// The thread's number in the log, or [`NONE`].
    pub number: u32,
    pub call_site: u32,
    /// Sums by size of the team, in a list.
    teams: AtomicPtr<TeamSums>,
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
/// The caller is noted in its state.
#[inline]
pub fn region_site(thread: &RecorderThread, code: RegionCode) -> Option<&'static RegionSite> {
    match find_site(thread, code.address()) {
        Ok(site) => Some(site),
        Err(free) => new_site(thread, code, free?),
    }
}

/// Returns the site of the region of code at this address that the calling thread starts, if it is known; else a free place for it, if there is one.
#[inline(always)]
pub fn find_site(
    thread: &RecorderThread,
    address: usize,
) -> Result<&'static RegionSite, Option<&'static AtomicPtr<RegionSite>>> {
    // Another thread may have had this state before.
    let identity = (thread.address(), address, thread_number(thread));
    let first = site_place(thread, address);
    for at in first..first + MAX_SITES {
        let Some(place) = SITES.get(at % MAX_SITES) else { break };
        // SAFETY: sites are never freed.
        match unsafe { place.load(Acquire).as_ref() } {
            Some(site) if (site.thread, site.address, site.number) == identity => return Ok(site),
            Some(_) => {}
            None => return Err(Some(place)),
        }
    }
    Err(None)
}

/// Returns the index at which the search for a site begins.
#[inline(always)]
fn site_place(thread: &RecorderThread, address: usize) -> usize {
    let hash = (address ^ (thread.address() >> 6)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
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
#[inline(always)]
fn thread_number(thread: &RecorderThread) -> u32 {
    thread.log().map_or(NONE, |log| log.number)
}

#[cold]
#[inline(never)]
fn new_site(
    thread: &RecorderThread,
    code: RegionCode,
    place: &'static AtomicPtr<RegionSite>,
) -> Option<&'static RegionSite> {
    let known = call_path::current_or_none(thread);
    let mut made: Option<&'static RegionSite> = None;
    enter::run_critical(|| {
        let call_site = LOG.with(|log| {
            // A thread without records has no path.
            let caller = match known.checked_sub(1) {
                Some(id) => Some(id as u32),
                None => log.call_path(&[PathCall::To(thread.caller.get())], true),
            };
            match code.call() {
                Some(call) => log.ask_sites(|sites| sites.within(caller.unwrap_or(NONE), &call)).or(caller),
                None => caller,
            }
        });
        made = Some(Box::leak(Box::new(RegionSite {
            thread: thread.address(),
            address: code.address(),
            number: thread_number(thread),
            call_site: call_site.flatten().unwrap_or(NONE),
            teams: AtomicPtr::new(std::ptr::null_mut()),
        })));
    });
    // Where another thread has taken the place meanwhile, this one finds its own on the next call.
    let new = std::ptr::from_ref(made?).cast_mut();
    place.compare_exchange(std::ptr::null_mut(), new, AcqRel, Acquire).ok().and(made)
}

/// Adds an instance of a region, in which its team has had these times, and returns it, or `None` if there is no room for its sums.
#[inline]
pub fn add_instance<'a>(
    thread: &RecorderThread,
    site: &'static RegionSite,
    region: &StartedRegion,
    end: u64,
    team: impl Iterator<Item = &'a MemberTimes> + Clone,
) -> Option<ParallelInstance> {
    let StartedRegion { begin, beside, .. } = *region;
    let size = team.clone().count() as u32;
    let known = site.team_sums().find(|sums| sums.team == size);
    let sums = known.or_else(|| new_sums(thread, site, size))?;
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

#[cold]
#[inline(never)]
fn new_sums(thread: &RecorderThread, site: &'static RegionSite, size: u32) -> Option<&'static TeamSums> {
    let mut made: Option<&'static TeamSums> = None;
    enter::run_critical(|| {
        let new: &TeamSums = Box::leak(Box::new(TeamSums {
            id: IDS.fetch_add(1, Relaxed),
            team: size,
            members: (0..MAX_MEMBERS.min(size as usize)).map(|_| Default::default()).collect(),
            next: AtomicPtr::new(site.teams.load(Acquire)),
            ..TeamSums::default()
        }));
        site.teams.store(std::ptr::from_ref(new).cast_mut(), Release);
        made = Some(new);
        if LARGEST.fetch_max(size, Relaxed) < size && size > 1 {
            log::define_now(Definition::TeamPlacement(placement::find_placement(size, thread.caller.get())));
        }
    });
    made
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
