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
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64};

use lbprof_collector::Definition;
use lbprof_collector::parallel::{MutexKind, MutexSums};
use lbprof_collector::record::NONE;

use crate::harmless::enter;

use crate::log::LOG;
use crate::machine::system::loader::objects;
use crate::machine::system::{process, symbols};
use crate::machine::unwind::PathCall;
use crate::sources::openmp::runtime::{GET_LEVEL, GET_TEAM_SIZE};
use crate::sources::openmp::sums::RegionSite;
use crate::state::parallel::AwaitedMutex;
use crate::state::thread::RecorderThread;

/// Ticks up to which a wait is over at once: about a microsecond.
const SHORTEST: u64 = 2048;

struct MutexWaits {
    region: &'static RegionSite,
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

/// A place of the table; null: it is free.
type MutexPlace = AtomicPtr<MutexWaits>;

const MAX_MUTEXES: usize = 1024;
static MUTEXES: [MutexPlace; MAX_MUTEXES] = [const { AtomicPtr::new(std::ptr::null_mut()) }; MAX_MUTEXES];

/// Adds a wait of the calling thread, which is in a region that is measured.
#[inline(always)]
pub fn add_mutex_wait(thread: &RecorderThread, mutex: AwaitedMutex, ticks: u64) {
    if ticks > SHORTEST {
        add_long(thread, mutex, ticks);
    }
}

#[cold]
#[inline(never)]
fn add_long(thread: &RecorderThread, mutex: AwaitedMutex, ticks: u64) {
    // SAFETY: sites are never freed.
    let Some(site) = (unsafe { thread.team.site.get().cast::<RegionSite>().as_ref() }) else { return };
    let region = TeamOfRegion { site, team: team_size(thread, mutex.caller) };
    if find_mutex(region, mutex).is_err() {
        enter::run_critical(|| insert_mutex(region, mutex));
    }
    if let Ok(waits) = find_mutex(region, mutex) {
        waits.ticks.fetch_add(ticks, Relaxed);
        waits.waits.fetch_add(1, Relaxed);
    }
}

#[derive(Clone, Copy)]
struct TeamOfRegion {
    site: &'static RegionSite,
    team: u32,
}

/// The threads of the outermost region that the calling thread is in, from which it has called the run-time library at `caller`.
fn team_size(thread: &RecorderThread, caller: usize) -> u32 {
    let (reported_size, depth) = (thread.team.reported_size.get(), thread.team.depth.get());
    if reported_size != 0 {
        return reported_size;
    }
    let [level, size] = [&GET_LEVEL, &GET_TEAM_SIZE].map(|function| function.address(caller));
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

/// Returns the waits for a mutex if the table has it; else a free place for it, if there is one.
fn find_mutex(region: TeamOfRegion, mutex: AwaitedMutex) -> Result<&'static MutexWaits, Option<&'static MutexPlace>> {
    for place in mutex_places(region, mutex) {
        // SAFETY: null, or one that is never freed.
        match unsafe { place.load(Acquire).as_ref() } {
            Some(waits) if waits.is_for(region, mutex) => return Ok(waits),
            Some(_) => {}
            None => return Err(Some(place)),
        }
    }
    Err(None)
}

/// Returns the places of the table in the order of a search.
fn mutex_places(region: TeamOfRegion, mutex: AwaitedMutex) -> impl Iterator<Item = &'static MutexPlace> {
    let word = (&raw const *region.site as usize) ^ mutex.address.rotate_left(20) ^ mutex.kind as usize;
    let first = word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - MAX_MUTEXES.ilog2());
    MUTEXES.iter().cycle().skip(first).take(MAX_MUTEXES)
}

impl MutexWaits {
    fn is_for(&self, region: TeamOfRegion, mutex: AwaitedMutex) -> bool {
        std::ptr::eq(self.region, region.site)
            && (self.team, self.kind, self.address) == (region.team, mutex.kind, mutex.address)
    }

    /// Returns the sums, unless the log has them.
    fn unwritten(&self) -> Option<MutexSums> {
        let waits = self.waits.load(Relaxed);
        if self.written.swap(waits, Relaxed) == waits {
            return None;
        }
        Some(MutexSums {
            id: self.id,
            thread: self.region.number,
            region: self.region.call_site,
            kind: self.kind,
            name: self.name.get_or_init(|| mutex_name(self.address)).clone(),
            call_site: self.call_site,
            waits,
            ticks: self.ticks.load(Relaxed),
            team: self.team,
        })
    }
}

/// Inserts a mutex into the table. The log's lock keeps other threads from doing the same.
fn insert_mutex(region: TeamOfRegion, mutex: AwaitedMutex) {
    LOG.with(|log| {
        let Err(Some(place)) = find_mutex(region, mutex) else { return };
        let waits = Box::new(MutexWaits {
            region: region.site,
            team: region.team,
            kind: mutex.kind,
            address: mutex.address,
            id: MUTEXES.iter().filter(|one| !one.load(Relaxed).is_null()).count() as u32,
            name: OnceLock::new(),
            call_site: log.call_path(&[PathCall::To(mutex.caller)], true).unwrap_or(NONE),
            waits: AtomicU64::default(),
            ticks: AtomicU64::default(),
            written: AtomicU64::default(),
        });
        place.store(Box::into_raw(waits), Release);
    });
}

/// Returns the name of the critical section, or FILE+0xADDRESS of the variable, at an address; empty where there is none.
fn mutex_name(address: usize) -> String {
    let described = objects::look_at(address, |object| {
        let offset = address.wrapping_sub(object.base());
        let known = if object.is_program() { symbols::find_in_program(offset, section_name) } else { None };
        known.unwrap_or_else(|| {
            let path = object.path().to_string_lossy();
            let file = path.rsplit('/').next().filter(|file| !file.is_empty());
            format!("{}+{offset:#x}", file.map_or_else(process::program_name, str::to_owned))
        })
    });
    described.unwrap_or_default()
}

/// Returns the name of a critical section by the name of the variable that GCC or LLVM makes for it; empty if it has none in the source.
fn section_name(variable: &str) -> Option<String> {
    let name = variable.strip_prefix('.').unwrap_or(variable).strip_prefix("gomp_critical_user_")?;
    Some(name.strip_suffix(".var").unwrap_or(name).to_owned())
}

/// Returns the sums that the log lacks.
pub fn unwritten_mutex_sums() -> Vec<Definition> {
    // SAFETY: null, or one that is never freed.
    let all = MUTEXES.iter().filter_map(|place| unsafe { place.load(Acquire).as_ref() });
    all.filter_map(MutexWaits::unwritten).map(Definition::MutexSums).collect()
}
