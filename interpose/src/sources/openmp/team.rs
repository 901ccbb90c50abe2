//! Regions: what the thread that starts one and the threads of its team do.
//!
//! ```text
//!   main          GOMP_parallel (ours)      GOMP_parallel (libgomp)      on each thread of the team
//!   |---call----->| begin |-----call------->|                            |
//!                                           |-----------starts---------->| member |--call--> the region's function
//!                 | end   |<----returns-----|<--last barrier-------------| notes begin and end in its slot
//! ```

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::harmless::enter;

use crate::machine::system::clock::read_ticks;
use crate::machine::system::loader::own_code::openmp_section;
use crate::machine::word::Word;
use crate::recording::mpi_time;
use crate::sources::openmp::is_on;
use crate::sources::openmp::marks;
use crate::sources::openmp::region_code::RegionCode;
use crate::sources::openmp::runtime::{GET_MAX_THREADS, GET_THREAD_NUM};
use crate::sources::openmp::sums::{self, RegionSite};
use crate::sources::openmp::written_sums;
use crate::state::parallel::{MemberSlot, ReportedRegion, StartedRegion};
use crate::state::thread::{self, RecorderThread};
use lbprof_collector::parallel::MemberTimes;

/// A function that a compiler made of a region or a task.
pub type Outlined = unsafe extern "C-unwind" fn(Word);

/// Threads of a team at most; larger ones are not measured.
const MAX_THREADS: usize = 1 << 14;

/// Threads of all outermost teams that are in regions now.
static IN_REGIONS: AtomicU32 = AtomicU32::new(0);

/// A region that was started, in the frame of the thread that did. The run-time library passes its address to the team in place of `data`.
#[repr(C)]
pub struct RegionFrame {
    /// The first word of `data`: `GOMP_parallel_reductions` reads it.
    first: Word,
    function: Outlined,
    data: Word,
    /// The run-time library's `omp_get_thread_num`.
    thread_num: Word,
    /// `None` for an inner region.
    outermost: Option<StartedRegion>,
    /// Times at which an inner region began and at which thread 0 left its function, in ticks.
    begin: u64,
    left: u64,
}

/// Starts a region of the calling thread with this number of threads, 0: as many as usual. Returns `None` if it is not measured.
///
/// # Safety
/// The thread was entered by a stub of the wrappers; `function` takes `data`, which is null or has at least one word.
#[inline]
pub unsafe fn begin_region(thread: &RecorderThread, function: Word, data: Word, threads: Word) -> Option<RegionFrame> {
    let caller = thread.caller.get();
    if !is_measurable(thread) {
        return None;
    }
    let thread_num = GET_THREAD_NUM.address(caller);
    if function == 0 || thread_num == 0 {
        return None;
    }
    // SAFETY: the caller's promise.
    let (first, outlined) = unsafe {
        (if data == 0 { 0 } else { (data as *const Word).read() }, std::mem::transmute::<Word, Outlined>(function))
    };
    let mut frame = RegionFrame { first, function: outlined, data, thread_num, outermost: None, begin: 0, left: 0 };
    if thread.team.depth.get() == 0 {
        let threads = match threads as u32 {
            0 => max_threads(caller),
            given => given as usize,
        };
        make_room(thread, threads)?;
        let site = sums::region_site(thread, RegionCode::with_function(function))?;
        frame.outermost = Some(start_region(thread, site, threads));
    } else {
        frame.begin = read_ticks();
    }
    Some(frame)
}

/// Starts an outermost region with this number of threads, for which there are slots.
#[inline]
pub fn start_region(thread: &RecorderThread, site: &'static RegionSite, threads: usize) -> StartedRegion {
    let number = thread.team.regions.get() + 1;
    thread.team.regions.set(number);
    let beside = IN_REGIONS.fetch_add(threads as u32, Relaxed);
    let begin = marks::mark_region_begin(thread, site.call_site);
    let site = std::ptr::from_ref(site).cast();
    StartedRegion { site, slots: thread.team.slots.get(), room: threads, number, begin, beside }
}

/// Returns whether a region that the calling thread starts now is the program's, and recording is on.
#[inline(always)]
pub fn is_measurable(thread: &RecorderThread) -> bool {
    let here = 0_u8;
    // In MPI's own code, and in the recorder's, it is their time.
    let is_inside_call = (&raw const here as usize) < thread.inside.get();
    let is_paused = thread.log().is_some_and(|log| log.paused.is_some());
    is_on() && thread.busy.get() == 0 && !is_inside_call && !is_paused
}

/// Returns the most threads that a region has by default.
fn max_threads(caller: usize) -> usize {
    match GET_MAX_THREADS.address(caller) {
        0 => 0,
        // SAFETY: the function of this name.
        function => unsafe { std::mem::transmute::<usize, extern "C" fn() -> c_int>(function)() as usize },
    }
}

/// Makes slots for this number of threads, or returns `None` if there can be none.
#[inline]
pub fn make_room(thread: &RecorderThread, threads: usize) -> Option<()> {
    if thread.team.room.get() < threads {
        grow_slots(thread, threads);
    }
    (thread.team.room.get() >= threads && threads > 0).then_some(())
}

#[cold]
#[inline(never)]
fn grow_slots(thread: &RecorderThread, threads: usize) {
    if threads > MAX_THREADS {
        return;
    }
    enter::run_critical(|| {
        // The old slots stay: another thread may hold the address of one.
        let slots = vec![MemberSlot::default(); threads.next_power_of_two()];
        thread.team.room.set(slots.len());
        if thread.team.reported.get().is_null() {
            // All zero: no region.
            thread.team.reported.set(Box::into_raw(Box::new(MaybeUninit::<ReportedRegion>::zeroed())).cast());
        }
        thread.team.slots.set(slots.leak().as_mut_ptr());
    });
}

/// Runs on each thread of a team: the run-time library calls it in place of the region's function.
///
/// # Safety
/// `frame` belongs to a region whose team the calling thread is in.
#[unsafe(link_section = openmp_section!())]
pub unsafe extern "C-unwind" fn member(frame: *mut RegionFrame) {
    let thread = thread::current_thread();
    // SAFETY: the caller's promise: the frame is there until all threads have come to the end, and each has a slot of its own.
    unsafe {
        let frame = &mut *frame;
        let thread_num: extern "C" fn() -> c_int = std::mem::transmute(frame.thread_num);
        let number = thread_num() as usize;
        thread.team.depth.set(thread.team.depth.get() + 1);
        let own = frame.outermost.filter(|region| number < region.room);
        if let Some(region) = &own {
            enter_member(thread, region, number);
        }
        (frame.function)(frame.data);
        thread.team.depth.set(thread.team.depth.get() - 1);
        match own {
            Some(region) => leave_member(thread, &region, number),
            None if number == 0 => frame.left = read_ticks(),
            None => {}
        }
    }
}

/// The calling thread, of this number in the team, is about to run the region's function.
///
/// # Safety
/// The region has a slot of this number.
#[inline(always)]
pub unsafe fn enter_member(thread: &RecorderThread, region: &StartedRegion, number: usize) {
    let begin = mpi_time::begin_mpi_time(thread);
    let slot = region.slots.wrapping_add(number);
    // SAFETY: the caller's promise.
    unsafe { (*slot).times = MemberTimes { begin, ..MemberTimes::default() } };
    thread.team.slot.set(slot);
    thread.team.site.set(region.site);
    thread.team.reported_size.set(0);
}

/// The calling thread has run the region's function.
///
/// # Safety
/// As [`enter_member`], which came before.
#[inline(always)]
unsafe fn leave_member(thread: &RecorderThread, region: &StartedRegion, number: usize) {
    let slot = region.slots.wrapping_add(number);
    // SAFETY: the caller's promise.
    unsafe {
        (*slot).times.mpi = mpi_time::so_far(thread);
        (*slot).region = region.number;
        (*slot).times.end = read_ticks();
    }
    thread.team.slot.set(std::ptr::null_mut());
    thread.team.left.set(slot);
    thread.team.mpi_since.set(0);
}

/// The run-time library has returned: the team has come to the end.
///
/// # Safety
/// `frame` belongs to the region that the calling thread has started.
#[inline]
pub unsafe fn end_region(thread: &RecorderThread, frame: &RegionFrame) {
    let end = read_ticks();
    // SAFETY: the caller's promise. No thread of the team touches its slot any more.
    unsafe {
        if let Some(region) = &frame.outermost {
            finish_region(thread, region, end, is_on());
        } else if let Some(slot) = thread.team.slot.get().as_mut() {
            // Thread 0 has waited for the others of the inner team.
            slot.times.barrier += end.saturating_sub(frame.left.max(frame.begin));
        }
    }
}

/// An outermost region is over. If it is wanted, it counts with the times of its team.
///
/// # Safety
/// The calling thread has started it, and no thread of the team touches its slot any more, but to undo a wait.
#[inline]
pub unsafe fn finish_region(thread: &RecorderThread, region: &StartedRegion, end: u64, is_wanted: bool) {
    IN_REGIONS.fetch_sub(region.room as u32, Relaxed);
    // SAFETY: the caller's promise; sites are never freed.
    let (slots, site) =
        unsafe { (std::slice::from_raw_parts(region.slots, region.room), &*region.site.cast::<RegionSite>()) };
    let team = slots.iter().take_while(|slot| slot.region == region.number).map(|slot| &slot.times);
    // Where a library that reports by itself was started by the region itself, a wrapper of ours has measured it: no slot is of this region.
    if is_wanted
        && team.clone().next().is_some()
        && let Some(instance) = sums::add_instance(thread, site, region, end, team.clone())
    {
        marks::mark_region_end(thread, &instance, team);
        written_sums::write_if_due(instance.end);
    }
}
