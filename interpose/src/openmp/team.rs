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

use crate::openmp::is_on;
use crate::openmp::marks;
use crate::openmp::region_code::RegionCode;
use crate::openmp::runtime::{self, RuntimeFunction};
use crate::openmp::sums::{self, RegionSite, RegionSpan};
use crate::openmp::written_sums;
use crate::recording::mpi_time;
use crate::state::parallel::{MemberSlot, ReportedRegion};
use crate::state::thread::{self, RecorderThread};
use crate::system::clock::read_ticks;
use crate::system::own_code::openmp_section;
use crate::word::Word;
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
    begin: u64,
    /// Slots of the team's times; null in an inner region.
    slots: *mut MemberSlot,
    room: usize,
    region: u64,
    site: *const RegionSite,
    /// Threads of other teams that were in regions at its begin.
    beside: u32,
    /// Time at which thread 0 left the function of an inner region, in ticks.
    left: u64,
}

/// Starts a region of the calling thread with this number of threads, 0: as many as usual. Returns `None` if it is not measured.
///
/// # Safety
/// `thread` is the calling thread's state, entered by a stub of the wrappers; `function` takes `data`, which is null or has at least one word.
#[inline]
pub unsafe fn begin_region(
    thread: *mut RecorderThread,
    function: Word,
    data: Word,
    threads: Word,
) -> Option<RegionFrame> {
    // SAFETY: the thread's own state; the caller's promise.
    unsafe {
        let caller = (*thread).caller;
        if !is_measurable(thread) {
            return None;
        }
        let thread_num = runtime::next_runtime_function(RuntimeFunction::omp_get_thread_num, caller);
        if function == 0 || thread_num == 0 {
            return None;
        }
        let mut frame = RegionFrame {
            first: if data == 0 { 0 } else { (data as *const Word).read() },
            function: std::mem::transmute::<Word, Outlined>(function),
            data,
            thread_num,
            begin: 0,
            slots: std::ptr::null_mut(),
            room: 0,
            region: 0,
            site: std::ptr::null(),
            beside: 0,
            left: 0,
        };
        if (*thread).team.depth == 0 {
            let threads = match threads as u32 {
                0 => max_threads(caller),
                given => given as usize,
            };
            make_room(thread, threads)?;
            frame.site = sums::region_site(thread, RegionCode::with_function(function))?;
            (*thread).team.regions += 1;
            (frame.slots, frame.room, frame.region) = ((*thread).team.slots, threads, (*thread).team.regions);
            frame.beside = join_others(threads);
        }
        frame.begin = match frame.site.as_ref() {
            Some(site) => marks::mark_region_begin(thread, site.call_site),
            None => read_ticks(),
        };
        Some(frame)
    }
}

/// Notes that a team of this size begins a region. Returns the number of threads of other teams that are in regions. [`leave_others`] follows at the
/// region's end.
#[inline(always)]
pub fn join_others(threads: usize) -> u32 {
    IN_REGIONS.fetch_add(threads as u32, Relaxed)
}

/// Notes that a team of this size ends a region.
#[inline(always)]
pub fn leave_others(threads: usize) {
    IN_REGIONS.fetch_sub(threads as u32, Relaxed);
}

/// Returns whether a region that the calling thread starts now is the program's, and recording is on.
///
/// # Safety
/// `thread` is the calling thread's state.
#[inline(always)]
pub unsafe fn is_measurable(thread: *mut RecorderThread) -> bool {
    let here = 0_u8;
    // SAFETY: the thread's own state.
    unsafe {
        // In MPI's own code, and in the recorder's, it is their time.
        let is_inside_call = (&raw const here as usize) < (*thread).inside;
        let is_paused = (*thread).log.as_ref().is_some_and(|log| log.paused.is_some());
        is_on() && (*thread).busy == 0 && !is_inside_call && !is_paused
    }
}

/// Returns the most threads that a region has by default.
fn max_threads(caller: usize) -> usize {
    match runtime::next_runtime_function(RuntimeFunction::omp_get_max_threads, caller) {
        0 => 0,
        // SAFETY: the function of this name.
        function => unsafe { std::mem::transmute::<usize, extern "C" fn() -> c_int>(function)() as usize },
    }
}

/// Makes slots for this number of threads, or returns `None` if there can be none.
///
/// # Safety
/// `thread` is the calling thread's state.
#[inline]
pub unsafe fn make_room(thread: *mut RecorderThread, threads: usize) -> Option<()> {
    // SAFETY: the caller's promise.
    unsafe {
        if (*thread).team.room < threads {
            grow_slots(thread, threads);
        }
        ((*thread).team.room >= threads && threads > 0).then_some(())
    }
}

/// # Safety
/// `thread` is the calling thread's state.
#[cold]
#[inline(never)]
unsafe fn grow_slots(thread: *mut RecorderThread, threads: usize) {
    if threads > MAX_THREADS {
        return;
    }
    // SAFETY: the thread's own state. The old slots stay: another thread may hold the address of one.
    unsafe {
        enter::run_critical(thread, || {
            let slots = vec![MemberSlot::default(); threads.next_power_of_two()];
            (*thread).team.room = slots.len();
            if (*thread).team.reported.is_null() {
                // All zero: no region.
                (*thread).team.reported = Box::into_raw(Box::new(MaybeUninit::<ReportedRegion>::zeroed())).cast();
            }
            (*thread).team.slots = slots.leak().as_mut_ptr();
        });
    }
}

/// Runs on each thread of a team: the run-time library calls it in place of the region's function.
///
/// # Safety
/// `frame` belongs to a region whose team the calling thread is in.
#[unsafe(link_section = openmp_section!())]
pub unsafe extern "C-unwind" fn member(frame: *mut RegionFrame) {
    // SAFETY: the caller's promise: the frame is there until all threads have come to the end, and each has a slot of its own.
    unsafe {
        let thread = thread::current_thread();
        let frame = &mut *frame;
        let thread_num: extern "C" fn() -> c_int = std::mem::transmute(frame.thread_num);
        let number = thread_num() as usize;
        (*thread).team.depth += 1;
        if frame.slots.is_null() || number >= frame.room {
            (frame.function)(frame.data);
            (*thread).team.depth -= 1;
            if number == 0 {
                frame.left = read_ticks();
            }
            return;
        }
        enter_member(thread, frame, number);
        (frame.function)(frame.data);
        leave_member(thread, frame, number);
    }
}

/// The calling thread, of this number in the team, is about to run the region's function. It is in one region more.
///
/// # Safety
/// `thread` is the calling thread's state, and the region of the frame has a slot of this number.
#[inline(always)]
unsafe fn enter_member(thread: *mut RecorderThread, frame: &RegionFrame, number: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let slot = frame.slots.add(number);
        let begin = mpi_time::begin_mpi_time(thread);
        (*slot).times = MemberTimes { begin, ..MemberTimes::default() };
        (*thread).team.slot = slot;
        (*thread).team.site = frame.site.cast();
        (*thread).team.reported_size = 0;
    }
}

/// The calling thread has run the region's function, and is in one region less.
///
/// # Safety
/// As [`enter_member`], which came before.
#[inline(always)]
unsafe fn leave_member(thread: *mut RecorderThread, frame: &RegionFrame, number: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let slot = frame.slots.add(number);
        (*slot).times.mpi = mpi_time::so_far(thread);
        (*slot).region = frame.region;
        (*slot).times.end = read_ticks();
        let team = &mut (*thread).team;
        (team.slot, team.left, team.mpi_since) = (std::ptr::null_mut(), slot, 0);
        team.depth -= 1;
    }
}

/// The run-time library has returned: the team has come to the end.
///
/// # Safety
/// `thread` is the calling thread's state, and `frame` belongs to the region that it has started.
#[inline]
pub unsafe fn end_region(thread: *mut RecorderThread, frame: &RegionFrame) {
    let end = read_ticks();
    // SAFETY: the caller's promise. No thread of the team touches its slot any more.
    unsafe {
        if frame.slots.is_null() {
            // Thread 0 has waited for the others of the inner team.
            if let Some(slot) = (*thread).team.slot.as_mut() {
                slot.times.barrier += end.saturating_sub(frame.left.max(frame.begin));
            }
            return;
        }
        leave_others(frame.room);
        let slots = std::slice::from_raw_parts(frame.slots, frame.room);
        let team = slots.iter().take_while(|slot| slot.region == frame.region).map(|slot| &slot.times);
        if is_on()
            && let Some(site) = frame.site.as_ref()
        {
            finish_region(thread, site, RegionSpan { begin: frame.begin, end, beside: frame.beside }, team);
        }
    }
}

/// An outermost region is over, in which its team has had these times.
///
/// # Safety
/// `thread` is the calling thread's state, which has started it.
#[inline]
pub unsafe fn finish_region<'a>(
    thread: *mut RecorderThread,
    site: &'static RegionSite,
    span: RegionSpan,
    team: impl Iterator<Item = &'a MemberTimes> + Clone,
) {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(instance) = sums::add_instance(thread, site, span, team.clone()) {
            marks::mark_region_end(thread, &instance, team);
            written_sums::write_if_due(thread, instance.end);
        }
    }
}
