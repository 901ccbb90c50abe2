//! Waits for critical sections, atomic operations and locks, by region and by mutex: so that a loss has the section's name.
//!
//! ```text
//!   thread 1   |== works ==|...waits...|== in the section ==|      add: region, mutex, 11 ticks
//!   table      (region, size of its team, address of the mutex) -> waits, ticks, place of the first wait, name
//! ```
//!
//! A wait that is over at once costs nothing here. Any thread may add; sums are never freed.

use std::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicPtr, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use lbprof_collector::Definition;
use lbprof_collector::parallel::{MutexKind, MutexSums};
use lbprof_collector::record::NONE;

use crate::harmless::enter;
use crate::harmless::signals::critical;
use crate::log::LOG;
use crate::openmp::runtime::{self, RuntimeFunction};
use crate::openmp::sums::RegionSite;
use crate::state::parallel::{AwaitedMutex, TeamMember};
use crate::state::thread::RecorderThread;
use crate::system::{objects, symbols};
use crate::unwind::PathCall;

/// Ticks up to which a wait is over at once: about a microsecond.
const SHORTEST: u64 = 2048;

/// The waits of threads in a region for one mutex.
struct MutexWaits {
    region: *const RegionSite,
    team: u32,
    kind: MutexKind,
    address: usize,
    id: u32,
    /// Found when it is written first: not while threads wait.
    name: OnceLock<String>,
    call_site: u32,
    waits: AtomicU64,
    ticks: AtomicU64,
    /// Waits that the log has.
    written: AtomicU64,
}

const MAX_MUTEXES: usize = 1024;
static MUTEXES: [AtomicPtr<MutexWaits>; MAX_MUTEXES] = [const { AtomicPtr::new(std::ptr::null_mut()) }; MAX_MUTEXES];

/// Adds a wait of the calling thread, which is in a region that is measured.
///
/// # Safety
/// `thread` is the calling thread's state.
#[inline(always)]
pub unsafe fn add(thread: *mut RecorderThread, mutex: AwaitedMutex, ticks: u64) {
    if ticks > SHORTEST {
        // SAFETY: the caller's promise.
        unsafe { add_long(thread, mutex, ticks) };
    }
}

/// # Safety
/// As [`add`].
#[cold]
#[inline(never)]
unsafe fn add_long(thread: *mut RecorderThread, mutex: AwaitedMutex, ticks: u64) {
    // SAFETY: the thread's own state; sites are never freed.
    let Some(site) = (unsafe { (*thread).team.site.cast::<RegionSite>().as_ref() }) else { return };
    // SAFETY: the caller's promise.
    let region = TeamOfRegion { site, team: unsafe { team_size(thread, mutex.caller) } };
    let waits = match find(region, mutex) {
        MutexSearch::Known(waits) => waits,
        MutexSearch::Unknown => {
            // SAFETY: the caller's promise.
            unsafe { enter::recording(thread, || critical(|| insert(region, mutex))) };
            let MutexSearch::Known(waits) = find(region, mutex) else { return };
            waits
        }
    };
    waits.ticks.fetch_add(ticks, Relaxed);
    waits.waits.fetch_add(1, Relaxed);
}

/// A region with one size of team.
#[derive(Clone, Copy)]
struct TeamOfRegion {
    site: &'static RegionSite,
    team: u32,
}

/// The threads of the outermost region that the calling thread is in, from which it has called the run-time library at `caller`.
///
/// # Safety
/// `thread` is the calling thread's state, which is in a region that is measured.
unsafe fn team_size(thread: *mut RecorderThread, caller: usize) -> u32 {
    // SAFETY: the caller's promise.
    let TeamMember { reported_size, depth, .. } = unsafe { (*thread).team };
    if reported_size != 0 {
        return reported_size;
    }
    let [level, size] = [RuntimeFunction::omp_get_level, RuntimeFunction::omp_get_team_size]
        .map(|function| runtime::next(function, caller));
    if level == 0 || size == 0 {
        return 0;
    }
    // SAFETY: the functions of these names, of the library that runs the region.
    unsafe {
        let level = std::mem::transmute::<usize, extern "C" fn() -> c_int>(level)();
        let size = std::mem::transmute::<usize, extern "C" fn(c_int) -> c_int>(size);
        size(level.saturating_add(1).saturating_sub_unsigned(depth)).max(0) as u32
    }
}

/// The result of a search for the waits for a mutex.
enum MutexSearch {
    Known(&'static MutexWaits),
    Unknown,
}

fn find(region: TeamOfRegion, mutex: AwaitedMutex) -> MutexSearch {
    for place in places(region, mutex) {
        // SAFETY: null, or one that is never freed.
        match unsafe { place.load(Acquire).as_ref() } {
            Some(waits) if waits.is_for(region, mutex) => return MutexSearch::Known(waits),
            Some(_) => {}
            None => break,
        }
    }
    MutexSearch::Unknown
}

/// Returns the places of the table in the order of a search.
fn places(region: TeamOfRegion, mutex: AwaitedMutex) -> impl Iterator<Item = &'static AtomicPtr<MutexWaits>> {
    let word = (&raw const *region.site as usize) ^ mutex.address.rotate_left(20) ^ mutex.kind as usize;
    let first = word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - MAX_MUTEXES.ilog2());
    MUTEXES.iter().cycle().skip(first).take(MAX_MUTEXES)
}

impl MutexWaits {
    fn is_for(&self, region: TeamOfRegion, mutex: AwaitedMutex) -> bool {
        std::ptr::eq(self.region, region.site)
            && self.team == region.team
            && self.kind == mutex.kind
            && self.address == mutex.address
    }
}

/// Inserts a mutex that is not in the table. The log's lock keeps others from doing the same.
fn insert(region: TeamOfRegion, mutex: AwaitedMutex) {
    let mut log = LOG.lock();
    let Some(log) = log.as_deref_mut().and_then(Option::as_mut) else { return };
    for place in places(region, mutex) {
        // SAFETY: null, or one that is never freed.
        match unsafe { place.load(Acquire).as_ref() } {
            Some(waits) if waits.is_for(region, mutex) => return,
            Some(_) => {}
            None => {
                let number = MUTEXES.iter().filter(|one| !one.load(Relaxed).is_null()).count() as u32;
                let waits = Box::new(MutexWaits {
                    region: region.site,
                    team: region.team,
                    kind: mutex.kind,
                    address: mutex.address,
                    id: number,
                    name: OnceLock::new(),
                    call_site: log.call_path(&[PathCall::To(mutex.caller)], true).unwrap_or(NONE),
                    waits: AtomicU64::default(),
                    ticks: AtomicU64::default(),
                    written: AtomicU64::default(),
                });
                place.store(Box::into_raw(waits), Release);
                return;
            }
        }
    }
}

/// Returns the name of the critical section, or FILE+0xADDRESS of the variable, at an address; empty where there is none.
fn name(address: usize) -> String {
    let described = objects::look_at(address, |object| {
        let offset = address.wrapping_sub(object.base());
        let known = if object.is_program() { symbols::critical_section(offset) } else { None };
        known.unwrap_or_else(|| {
            let path = object.path().to_string_lossy();
            match path.rsplit('/').next().filter(|file| !file.is_empty()) {
                Some(file) => format!("{file}+{offset:#x}"),
                None => format!("{}+{offset:#x}", symbols::program().unwrap_or("program")),
            }
        })
    });
    described.unwrap_or_default()
}

/// Returns the sums that the log lacks.
pub fn unwritten() -> Vec<Definition> {
    let mut sums = Vec::new();
    for place in &MUTEXES {
        // SAFETY: null, or one that is never freed; neither are sites.
        let Some(waits) = (unsafe { place.load(Acquire).as_ref() }) else { continue };
        let n = waits.waits.load(Relaxed);
        if waits.written.swap(n, Relaxed) == n {
            continue;
        }
        // SAFETY: sites are never freed.
        let Some(region) = (unsafe { waits.region.as_ref() }) else { continue };
        sums.push(Definition::MutexSums(MutexSums {
            id: waits.id,
            thread: region.number,
            region: region.call_site,
            kind: waits.kind,
            name: waits.name.get_or_init(|| name(waits.address)).clone(),
            call_site: waits.call_site,
            waits: n,
            ticks: waits.ticks.load(Relaxed),
            team: waits.team,
        }));
    }
    sums
}
