//! Converts a run-time library's reports on its threads to the times of a team's members.
//!
//! ```text
//!   thread 0  parallel begin, task begin |== useful ==|wait begin .. end|== useful ==|wait begin ... end|task end, parallel end
//!   thread 1                task begin   |======= useful =======|wait begin ......................| (end: at its next region, or never)
//! ```
//!
//! A thread's last wait in a region is the barrier that ends it. All threads but the first learn of its end, and of the end of their task, only when
//! they are needed again, after the region's times were taken. So a thread's times are complete whenever a wait at a barrier begins, and a wait's
//! length is added when the thread has worked after it.

use std::ffi::{c_int, c_uint, c_void};

use crate::openmp::marks;
use crate::openmp::mutexes;
use crate::openmp::region_code::RegionCode;
use crate::openmp::sums::{self, RegionSite, RegionSpan};
use crate::openmp::team;
use crate::openmp::waits::{WaitKind, of_kind};
use crate::processor::{BYTES_OF_CALL, EnteredCall};
use crate::recording::mpi_time;
use crate::state::entered;
use crate::state::parallel::{AwaitedMutex, LeagueStart, RegionLaunch, ReportedRegion, TeamMember};
use crate::state::thread::{self, RecorderThread};
use crate::system::clock::read_ticks;
use crate::system::stack;
use crate::word::Word;
use lbprof_collector::parallel::{MemberTimes, MutexKind};

/// `ompt_scope_begin`.
const BEGIN: c_int = 1;

/// Flags of a region: the league of a `teams` construct; of an implicit task: an initial one.
const LEAGUE: c_int = 0x4000_0000;
const INITIAL_TASK: c_int = 1;

/// In a task's data: its thread is in a region that is measured, or in another; it is alone in its team; the wait that the task is in, as its kind's
/// number.
const IS_MEASURED: u64 = 1;
const IS_COUNTED: u64 = 2;
const IS_ALONE: u64 = 4;
const FLAGS: u64 = IS_MEASURED | IS_COUNTED | IS_ALONE;
const WAIT_SHIFT: u32 = 8;

/// The library's frames of a task (`ompt_frame_t`).
#[repr(C)]
struct TaskFrames {
    exit: usize,
    enter: usize,
}

/// The callbacks by their numbers (`ompt_callbacks_t`).
pub fn event_callbacks() -> [(c_int, *const c_void); 7] {
    [
        (3, on_parallel_begin as *const c_void),
        (4, on_parallel_end as *const c_void),
        (6, on_task_schedule as *const c_void),
        (7, on_implicit_task as *const c_void),
        (16, on_wait as *const c_void),
        (26, on_mutex_acquire as *const c_void),
        (27, on_mutex_acquired as *const c_void),
    ]
}

unsafe extern "C" fn on_parallel_begin(
    _task: *mut u64,
    frames: *const TaskFrames,
    parallel: *mut u64,
    threads: c_uint,
    flags: c_int,
    caller: usize,
) {
    let thread = thread::current_thread();
    // SAFETY: the thread's own state; the library's own arguments.
    unsafe {
        let site = std::mem::replace(&mut (*thread).team.reported_site, std::ptr::null()).cast::<RegionSite>();
        let launch = std::mem::replace(&mut (*thread).team.launch, RegionLaunch { location: 0, function: 0 });
        *parallel = 0;
        let threads = threads.max(1) as usize;
        // LLVM's library reports a league as a region with another one in it, which runs the code of the `teams` construct and is none of the
        // program's: no entry of ours has seen its start. Intel's does not.
        let league = std::mem::replace(&mut (*thread).team.league, LeagueStart::None);
        if flags & LEAGUE != 0 {
            (*thread).team.league = LeagueStart::League;
            return;
        }
        if league == LeagueStart::League && launch.function == 0 && site.is_null() {
            (*thread).team.league = LeagueStart::Team;
            return;
        }
        let is_outermost = (*thread).team.depth == 0;
        if !is_outermost || !team::is_measurable(thread) || team::make_room(thread, threads).is_none() {
            return;
        }
        let site = match site.as_ref() {
            Some(site) => Some(site),
            None => find_site(thread, frames, RegionCode::with_launch(launch, caller), caller),
        };
        let Some(site) = site else { return };
        let region = (*thread).team.reported;
        if region.is_null() {
            return;
        }
        (*thread).team.regions += 1;
        *region = ReportedRegion {
            site: std::ptr::from_ref(site).cast(),
            slots: (*thread).team.slots,
            room: threads,
            team: 0,
            number: (*thread).team.regions,
            begin: marks::mark_region_begin(thread, site.call_site),
            beside: team::join_others(threads),
        };
        *parallel = region as u64;
    }
}

/// Finds the site of a region that the calling thread starts by a function of libgomp's name, while its entry's words are there.
///
/// # Safety
/// `thread` is the calling thread's state, entered by a stub of the wrappers.
pub unsafe fn note_site(thread: *mut RecorderThread, function: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if (*thread).team.depth == 0 && team::is_measurable(thread) {
            let site = sums::region_site(thread, RegionCode::with_function(function));
            (*thread).team.reported_site = site.map_or(std::ptr::null(), |site| std::ptr::from_ref(site).cast());
        }
    }
}

/// Returns the call site of a region that starts at `caller`.
///
/// # Safety
/// `thread` is the calling thread's state, and the frames belong to the task that starts it.
unsafe fn find_site(
    thread: *mut RecorderThread,
    frames: *const TaskFrames,
    code: RegionCode,
    caller: usize,
) -> Option<&'static RegionSite> {
    // SAFETY: the caller's promise. A frame that is on this thread's stack has two words.
    unsafe {
        if (*thread).sp != 0 {
            return None;
        }
        (*thread).caller = caller;
        if let Some(site) = sums::known_site(thread, code) {
            return Some(site);
        }
        let frame = frames.as_ref().map_or(0, |frames| frames.enter);
        let here = 0_u8;
        let is_on_stack = frame.is_multiple_of(size_of::<usize>())
            && frame > &raw const here as usize
            && stack::in_use(&raw const here as usize).contains(&(frame + size_of::<usize>()));
        if BYTES_OF_CALL > 0 && is_on_stack && ((frame + size_of::<usize>()) as *const usize).read() == caller {
            let bp = (frame as *const usize).read();
            entered::note_entry(thread, EnteredCall { caller, next: 0, sp: frame + size_of::<usize>(), bp });
            let site = sums::region_site(thread, code);
            entered::leave_entry_state(thread);
            return site;
        }
        sums::region_site(thread, code)
    }
}

unsafe extern "C" fn on_parallel_end(parallel: *mut u64, _task: *mut u64, _flags: c_int, _caller: usize) {
    let end = read_ticks();
    let thread = thread::current_thread();
    // SAFETY: what `on_parallel_begin` made on this thread. No other thread of the team touches its slot any more, but to undo a wait.
    unsafe {
        let Some(region) = (std::mem::replace(&mut *parallel, 0) as *const ReportedRegion).as_ref() else { return };
        close_lone_team(thread, region);
        team::leave_others(region.room);
        let slots = std::slice::from_raw_parts(region.slots, region.room);
        let team = slots.iter().take_while(|slot| slot.region == region.number).map(|slot| &slot.times);
        // Where the library was started by the region itself, a wrapper of ours has measured it.
        if team.clone().next().is_some()
            && team::is_measurable(thread)
            && let Some(site) = region.site.cast::<RegionSite>().as_ref()
        {
            team::finish_region(thread, site, RegionSpan { begin: region.begin, end, beside: region.beside }, team);
        }
    }
}

unsafe extern "C" fn on_implicit_task(
    which_end: c_int,
    parallel: *mut u64,
    task: *mut u64,
    team: c_uint,
    index: c_uint,
    flags: c_int,
) {
    if flags & INITIAL_TASK != 0 || task.is_null() {
        return;
    }
    let thread = thread::current_thread();
    // SAFETY: the thread's own state; the library's own arguments. A region that is measured is there until all threads have come to its end.
    unsafe {
        let own = &mut (*thread).team;
        if which_end != BEGIN {
            own.task = std::ptr::null_mut();
            if *task & IS_ALONE != 0 && !own.slot.is_null() && own.wait == 0 {
                // No barrier ends its region, which is over only after this.
                begin_wait(thread, WaitKind::Barrier, read_ticks());
            }
            let own = &mut (*thread).team;
            if *task & IS_MEASURED != 0 {
                leave_region(own);
            } else if *task & IS_COUNTED != 0 {
                own.depth = own.depth.saturating_sub(1);
            }
            *task = 0;
            return;
        }
        own.task = task;
        if std::mem::replace(&mut own.league, LeagueStart::None) == LeagueStart::Team {
            return;
        }
        let region = parallel.as_ref().map_or(std::ptr::null_mut(), |data| *data as *mut ReportedRegion);
        let Some(region) = region.as_mut().filter(|region| (index as usize) < region.room) else {
            *task = IS_COUNTED;
            own.depth += 1;
            return;
        };
        own.site = region.site;
        own.reported_size = team;
        *task = IS_MEASURED | if team == 1 { IS_ALONE } else { 0 };
        if index == 0 {
            region.team = team;
        }
        let slot = region.slots.add(index as usize);
        (own.slot, own.number, own.depth, own.wait, own.pending) = (slot, region.number, 1, 0, 0);
        let begin = mpi_time::begin_mpi_time(thread);
        (*slot).times = MemberTimes { begin, ..MemberTimes::default() };
    }
}

/// The thread that has started the region is at its end, where a team of one has no barrier.
unsafe fn close_lone_team(thread: *mut RecorderThread, region: &ReportedRegion) {
    // SAFETY: the thread's own state and slot.
    unsafe {
        if region.team == 1 && (*region.slots).region != region.number {
            let own = &mut (*thread).team;
            (own.slot, own.number, own.wait) = (region.slots, region.number, 0);
            begin_wait(thread, WaitKind::Barrier, read_ticks());
        }
        leave_region(&mut (*thread).team);
    }
}

fn leave_region(own: &mut TeamMember) {
    (own.slot, own.depth, own.wait, own.pending, own.mpi_since) = (std::ptr::null_mut(), 0, 0, 0, 0);
}

unsafe extern "C" fn on_wait(kind: c_int, which_end: c_int, _parallel: *mut u64, task: *mut u64, _caller: usize) {
    let kind = match kind {
        1..=4 | 8..=10 => WaitKind::Barrier,
        5 | 6 => WaitKind::Tasks,
        _ => return,
    };
    let thread = thread::current_thread();
    // SAFETY: the thread's own state; the library's own arguments.
    unsafe {
        if (*thread).team.slot.is_null() {
            return;
        }
        let waits = (which_end == BEGIN).then_some(kind);
        note_wait(data_of_waiting(thread, task), waits.map_or(0, |kind| kind as u64));
        change_wait(thread, waits);
    }
}

/// Notes in a task's data the wait that it is in: the number of a kind, or 0.
///
/// # Safety
/// `task` is null, or the library's data of a task that has not ended.
unsafe fn note_wait(task: *mut u64, kind: u64) {
    // SAFETY: the caller's promise.
    if let Some(data) = unsafe { task.as_mut() } {
        *data = *data & FLAGS | kind << WAIT_SHIFT;
    }
}

/// Returns the data of the task that waits. At the end of a task group, which loops of tasks have, libomp passes the address of a copy in its own frame.
///
/// # Safety
/// `thread` is the calling thread's state.
unsafe fn data_of_waiting(thread: *mut RecorderThread, task: *mut u64) -> *mut u64 {
    /// Bytes of the frames between that one and ours at most.
    const NEAR: usize = 1 << 12;
    let here = 0_u8;
    let is_copy = (task as usize).wrapping_sub(&raw const here as usize) < NEAR;
    // SAFETY: the caller's promise.
    let known = unsafe { (*thread).team.task };
    if is_copy && !known.is_null() { known } else { task }
}

/// A thread leaves a task for another one: that may be waiting itself.
unsafe extern "C" fn on_task_schedule(_task: *mut u64, _status: c_int, next: *mut u64) {
    let thread = thread::current_thread();
    // SAFETY: the thread's own state; the library's own arguments.
    unsafe {
        (*thread).team.task = next;
        let Some(next) = next.as_ref().filter(|_| !(*thread).team.slot.is_null()) else { return };
        change_wait(thread, WaitKind::from_number((*next >> WAIT_SHIFT) as u32));
    }
}

unsafe extern "C" fn on_mutex_acquire(kind: c_int, _hint: c_uint, _way: c_uint, id: u64, caller: usize) {
    let thread = thread::current_thread();
    // SAFETY: the thread's own state.
    unsafe {
        if let Some(wait) = mutex_wait(kind).filter(|_| !(*thread).team.slot.is_null()) {
            let own = &mut (*thread).team;
            if own.mutex.caller == 0 && matches!(wait, WaitKind::Mutex) {
                let (kind, address) = match kind {
                    CRITICAL => (MutexKind::Critical, 0),
                    ATOMIC => (MutexKind::Atomic, 0),
                    _ => (MutexKind::Lock, id as usize),
                };
                own.mutex = AwaitedMutex { kind, address, caller };
            }
            begin_wait(thread, wait, read_ticks());
        }
    }
}

unsafe extern "C" fn on_mutex_acquired(kind: c_int, _id: u64, _caller: usize) {
    let thread = thread::current_thread();
    // SAFETY: the thread's own state.
    unsafe {
        if !(*thread).team.slot.is_null()
            && let Some(wait) = mutex_wait(kind)
        {
            end_wait(thread, read_ticks());
            let own = &mut (*thread).team;
            if matches!(wait, WaitKind::Mutex) && own.pending_wait == wait as u32 {
                let (mutex, waited) = (std::mem::replace(&mut own.mutex, AwaitedMutex::NONE), own.pending);
                mutexes::add_mutex_wait(thread, mutex, waited);
            }
        }
    }
}

/// Kinds of mutex (`ompt_mutex_t`).
const CRITICAL: c_int = 5;
const ATOMIC: c_int = 6;

/// The kind of wait of a thread that acquires a mutex of this kind (`ompt_mutex_t`), or `None` if it only tries.
fn mutex_wait(kind: c_int) -> Option<WaitKind> {
    match kind {
        1 | 3 | 5 | 6 => Some(WaitKind::Mutex),
        7 => Some(WaitKind::Ordered),
        _ => None,
    }
}

/// The thread waits from now on, or works.
///
/// # Safety
/// As [`begin_wait`].
unsafe fn change_wait(thread: *mut RecorderThread, kind: Option<WaitKind>) {
    // SAFETY: the caller's promise.
    unsafe {
        match kind {
            Some(kind) => begin_wait(thread, kind, read_ticks()),
            None => end_wait(thread, read_ticks()),
        }
    }
}

/// The thread waits from now on, if it does not wait already.
///
/// # Safety
/// `thread` is the calling thread's state, which has a slot.
unsafe fn begin_wait(thread: *mut RecorderThread, kind: WaitKind, now: u64) {
    // SAFETY: the thread's own state and slot, which is there as long as the process.
    unsafe {
        let own = &mut (*thread).team;
        if own.wait != 0 {
            return;
        }
        let slot = &mut *own.slot;
        if let Some(past) = WaitKind::from_number(own.pending_wait) {
            *of_kind(&mut slot.times, past) += std::mem::replace(&mut own.pending, 0);
        }
        (own.wait, own.wait_since) = (kind as u32, now);
        let number = own.number;
        if matches!(kind, WaitKind::Barrier) {
            slot.times.mpi += mpi_time::so_far(thread);
            mpi_time::begin_mpi_time(thread);
            slot.times.end = now;
            slot.region = number;
        }
    }
}

/// Makes a call in which the thread waits, which the library does not report. The thread may run other tasks meanwhile.
pub fn wait_unreported(kind: WaitKind, call: impl FnOnce() -> Word) -> Word {
    let thread = thread::current_thread();
    // SAFETY: the thread's own state, and the library's data of its task, which is there until the task has ended.
    unsafe {
        if (*thread).team.slot.is_null() {
            return call();
        }
        let task = (*thread).team.task;
        note_wait(task, kind as u64);
        begin_wait(thread, kind, read_ticks());
        let result = call();
        end_wait(thread, read_ticks());
        note_wait(task, 0);
        result
    }
}

/// The thread works from now on. How long it has waited is added when it waits again.
///
/// # Safety
/// As [`begin_wait`].
unsafe fn end_wait(thread: *mut RecorderThread, now: u64) {
    // SAFETY: the thread's own state.
    unsafe {
        let own = &mut (*thread).team;
        if own.wait != 0 {
            (own.pending, own.pending_wait) = (now.saturating_sub(own.wait_since), std::mem::replace(&mut own.wait, 0));
        }
    }
}
