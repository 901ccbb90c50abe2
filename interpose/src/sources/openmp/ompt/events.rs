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

use crate::machine::processor::{BYTES_OF_CALL, EnteredCall};
use crate::machine::system::clock::read_ticks;
use crate::machine::system::stack;
use crate::machine::word::Word;
use crate::recording::mpi_time;
use crate::sources::openmp::mutexes;
use crate::sources::openmp::region_code::RegionCode;
use crate::sources::openmp::sums::{self, RegionSite};
use crate::sources::openmp::team;
use crate::sources::openmp::waits::{WaitKind, of_kind};
use crate::state::entered;
use crate::state::parallel::{AwaitedMutex, LeagueStart, RegionLaunch, ReportedRegion, StartedRegion, TeamMember};
use crate::state::thread::{self, RecorderThread};
use lbprof_collector::parallel::MutexKind;

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
    let site = thread.team.reported_site.replace(std::ptr::null()).cast::<RegionSite>();
    let launch = thread.team.launch.replace(RegionLaunch { location: 0, function: 0 });
    // SAFETY: the library's own argument.
    unsafe { *parallel = 0 };
    let threads = threads.max(1) as usize;
    // LLVM's library reports a league as a region with another one in it, which runs the code of the `teams` construct and is none of the
    // program's: no entry of ours has seen its start. Intel's does not.
    let league = thread.team.league.replace(LeagueStart::None);
    if flags & LEAGUE != 0 {
        return thread.team.league.set(LeagueStart::League);
    }
    if league == LeagueStart::League && launch.function == 0 && site.is_null() {
        return thread.team.league.set(LeagueStart::Team);
    }
    let is_outermost = thread.team.depth.get() == 0;
    if !is_outermost || !team::is_measurable(thread) || team::make_room(thread, threads).is_none() {
        return;
    }
    let region = thread.team.reported.get();
    // SAFETY: sites are never freed; the library's own arguments; the thread's own region.
    unsafe {
        let known = site.as_ref();
        let site = known.or_else(|| find_site(thread, frames, RegionCode::with_launch(launch, caller), caller));
        if let Some(site) = site.filter(|_| !region.is_null()) {
            *region = ReportedRegion { started: team::start_region(thread, site, threads), team: 0 };
            *parallel = region as u64;
        }
    }
}

/// Finds the site of a region that the calling thread starts by a function of libgomp's name, while its entry's words are there.
pub fn note_site(thread: &RecorderThread, function: usize) {
    if thread.team.depth.get() == 0 && team::is_measurable(thread) {
        let site = sums::region_site(thread, RegionCode::with_function(function));
        thread.team.reported_site.set(site.map_or(std::ptr::null(), |site| std::ptr::from_ref(site).cast()));
    }
}

/// Returns the call site of a region that starts at `caller`.
///
/// # Safety
/// The frames belong to the task that starts it.
unsafe fn find_site(
    thread: &RecorderThread,
    frames: *const TaskFrames,
    code: RegionCode,
    caller: usize,
) -> Option<&'static RegionSite> {
    const WORD: usize = size_of::<usize>();
    if thread.sp.get() != 0 {
        return None;
    }
    thread.caller.set(caller);
    if let Ok(site) = sums::find_site(thread, code.address()) {
        return Some(site);
    }
    let here = 0_u8;
    let here = &raw const here as usize;
    // SAFETY: the caller's promise. A frame that is on this thread's stack has two words.
    unsafe {
        let frame = frames.as_ref().map_or(0, |frames| frames.enter);
        let is_on_stack = frame.is_multiple_of(WORD) && frame > here && stack::in_use(here).contains(&(frame + WORD));
        if BYTES_OF_CALL > 0 && is_on_stack && ((frame + WORD) as *const usize).read() == caller {
            let bp = (frame as *const usize).read();
            entered::note_entry(thread, EnteredCall { caller, next: 0, sp: frame + WORD, bp });
            let site = sums::region_site(thread, code);
            entered::leave_entry_state(thread);
            return site;
        }
    }
    sums::region_site(thread, code)
}

unsafe extern "C" fn on_parallel_end(parallel: *mut u64, _task: *mut u64, _flags: c_int, _caller: usize) {
    let end = read_ticks();
    let thread = thread::current_thread();
    // SAFETY: what `on_parallel_begin` made on this thread. No other thread of the team touches its slot any more, but to undo a wait.
    unsafe {
        let Some(region) = (std::mem::replace(&mut *parallel, 0) as *const ReportedRegion).as_ref() else { return };
        close_lone_team(thread, region);
        team::finish_region(thread, &region.started, end, team::is_measurable(thread));
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
    let own = &thread.team;
    // SAFETY: the library's own arguments. A region that is measured is there until all threads have come to its end.
    unsafe {
        if which_end != BEGIN {
            own.task.set(std::ptr::null_mut());
            if *task & IS_ALONE != 0 && !own.slot.get().is_null() && own.wait.get() == 0 {
                // No barrier ends its region, which is over only after this.
                begin_wait(thread, WaitKind::Barrier);
            }
            if *task & IS_MEASURED != 0 {
                leave_region(own);
            } else if *task & IS_COUNTED != 0 {
                own.depth.set(own.depth.get().saturating_sub(1));
            }
            *task = 0;
            return;
        }
        own.task.set(task);
        if own.league.replace(LeagueStart::None) == LeagueStart::Team {
            return;
        }
        let region = parallel.as_ref().map_or(std::ptr::null_mut(), |data| *data as *mut ReportedRegion);
        let Some(region) = region.as_mut().filter(|region| (index as usize) < region.started.room) else {
            *task = IS_COUNTED;
            own.depth.set(own.depth.get() + 1);
            return;
        };
        *task = IS_MEASURED | if team == 1 { IS_ALONE } else { 0 };
        if index == 0 {
            region.team = team;
        }
        own.depth.set(1);
        own.pending.set(0);
        take_slot(own, &region.started, index as usize);
        team::enter_member(thread, &region.started, index as usize);
        own.reported_size.set(team);
    }
}

/// The thread has a slot of a region, in which it does not wait yet.
fn take_slot(own: &TeamMember, region: &StartedRegion, index: usize) {
    own.slot.set(region.slots.wrapping_add(index));
    own.number.set(region.number);
    own.wait.set(0);
}

/// The thread that has started the region is at its end, where a team of one has no barrier.
///
/// # Safety
/// The region has a slot.
unsafe fn close_lone_team(thread: &RecorderThread, region: &ReportedRegion) {
    let started = &region.started;
    // SAFETY: the caller's promise.
    if region.team == 1 && unsafe { (*started.slots).region } != started.number {
        take_slot(&thread.team, started, 0);
        begin_wait(thread, WaitKind::Barrier);
    }
    leave_region(&thread.team);
}

fn leave_region(own: &TeamMember) {
    own.slot.set(std::ptr::null_mut());
    own.depth.set(0);
    own.wait.set(0);
    own.pending.set(0);
    own.mpi_since.set(0);
}

unsafe extern "C" fn on_wait(kind: c_int, which_end: c_int, _parallel: *mut u64, task: *mut u64, _caller: usize) {
    let kind = match kind {
        1..=4 | 8..=10 => WaitKind::Barrier,
        5 | 6 => WaitKind::Tasks,
        _ => return,
    };
    let thread = thread::current_thread();
    if !thread.team.slot.get().is_null() {
        let waits = (which_end == BEGIN).then_some(kind);
        // SAFETY: the library's own argument.
        unsafe { note_wait(data_of_waiting(thread, task), waits.map_or(0, |kind| kind as u64)) };
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
fn data_of_waiting(thread: &RecorderThread, task: *mut u64) -> *mut u64 {
    /// Bytes of the frames between that one and ours at most.
    const NEAR: usize = 1 << 12;
    let here = 0_u8;
    let is_copy = (task as usize).wrapping_sub(&raw const here as usize) < NEAR;
    let known = thread.team.task.get();
    if is_copy && !known.is_null() { known } else { task }
}

/// A thread leaves a task for another one: that may be waiting itself.
unsafe extern "C" fn on_task_schedule(_task: *mut u64, _status: c_int, next: *mut u64) {
    let thread = thread::current_thread();
    thread.team.task.set(next);
    // SAFETY: the library's own argument.
    if let Some(next) = unsafe { next.as_ref() }.filter(|_| !thread.team.slot.get().is_null()) {
        change_wait(thread, WaitKind::from_number((*next >> WAIT_SHIFT) as u32));
    }
}

unsafe extern "C" fn on_mutex_acquire(kind: c_int, _hint: c_uint, _way: c_uint, id: u64, caller: usize) {
    let thread = thread::current_thread();
    if let Some(wait) = mutex_wait(kind).filter(|_| !thread.team.slot.get().is_null()) {
        let own = &thread.team;
        if own.mutex.get().caller == 0 && matches!(wait, WaitKind::Mutex) {
            let (kind, address) = match kind {
                CRITICAL => (MutexKind::Critical, 0),
                ATOMIC => (MutexKind::Atomic, 0),
                _ => (MutexKind::Lock, id as usize),
            };
            own.mutex.set(AwaitedMutex { kind, address, caller });
        }
        begin_wait(thread, wait);
    }
}

unsafe extern "C" fn on_mutex_acquired(kind: c_int, _id: u64, _caller: usize) {
    let thread = thread::current_thread();
    if let Some(wait) = mutex_wait(kind).filter(|_| !thread.team.slot.get().is_null()) {
        end_wait(thread);
        let own = &thread.team;
        if matches!(wait, WaitKind::Mutex) && own.pending_wait.get() == wait as u32 {
            mutexes::add_mutex_wait(thread, own.mutex.replace(AwaitedMutex::NONE), own.pending.get());
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
fn change_wait(thread: &RecorderThread, kind: Option<WaitKind>) {
    match kind {
        Some(kind) => begin_wait(thread, kind),
        None => end_wait(thread),
    }
}

/// The thread, which has a slot, waits from now on, if it does not wait already.
fn begin_wait(thread: &RecorderThread, kind: WaitKind) {
    let (own, now) = (&thread.team, read_ticks());
    if own.wait.get() != 0 {
        return;
    }
    // SAFETY: the thread's own slot, which is there as long as the process.
    let slot = unsafe { &mut *own.slot.get() };
    if let Some(past) = WaitKind::from_number(own.pending_wait.get()) {
        *of_kind(&mut slot.times, past) += own.pending.take();
    }
    own.wait.set(kind as u32);
    own.wait_since.set(now);
    if matches!(kind, WaitKind::Barrier) {
        slot.times.mpi += mpi_time::so_far(thread);
        mpi_time::begin_mpi_time(thread);
        slot.times.end = now;
        slot.region = own.number.get();
    }
}

/// The thread works from now on. How long it has waited is added when it waits again.
fn end_wait(thread: &RecorderThread) {
    let (own, now) = (&thread.team, read_ticks());
    if own.wait.get() != 0 {
        own.pending.set(now.saturating_sub(own.wait_since.get()));
        own.pending_wait.set(own.wait.take());
    }
}

/// Makes a call in which the thread waits, which the library does not report. The thread may run other tasks meanwhile.
pub fn wait_unreported(kind: WaitKind, call: impl FnOnce() -> Word) -> Word {
    let thread = thread::current_thread();
    if thread.team.slot.get().is_null() {
        return call();
    }
    let task = thread.team.task.get();
    // SAFETY: the library's data of its task, which is there until the task has ended.
    unsafe { note_wait(task, kind as u64) };
    begin_wait(thread, kind);
    let result = call();
    end_wait(thread);
    // SAFETY: as above.
    unsafe { note_wait(task, 0) };
    result
}
