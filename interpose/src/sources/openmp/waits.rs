//! Waits in regions: at barriers, for critical sections and locks, for a turn, for tasks.

use crate::machine::system::clock::read_ticks;
use crate::machine::word::Word;
use crate::sources::openmp::mutexes;
use crate::state::parallel::AwaitedMutex;
use crate::state::thread;
use lbprof_collector::parallel::MemberTimes;

#[derive(Clone, Copy)]
#[repr(u32)]
pub enum WaitKind {
    /// Wait for the team's threads, at a barrier.
    Barrier = 1,
    /// A critical section, an atomic operation or a lock.
    Mutex,
    /// Its turn in an ordered section.
    Ordered,
    Tasks,
}

/// Makes a call in which the thread waits, and adds the time to its waits, less the time of tasks that it runs meanwhile.
#[inline(always)]
pub fn wait_in_region(kind: WaitKind, call: impl FnOnce() -> Word) -> Word {
    wait_timed(kind, call).0
}

#[inline(always)]
pub fn wait_if(may_wait: bool, kind: WaitKind, call: impl FnOnce() -> Word) -> Word {
    if may_wait { wait_in_region(kind, call) } else { call() }
}

/// Makes a call that acquires a mutex, as [`wait_in_region`] does, and notes how long the thread waited for it.
#[inline(always)]
pub fn wait_for_mutex(mutex: AwaitedMutex, call: impl FnOnce() -> Word) -> Word {
    let (result, waited) = wait_timed(WaitKind::Mutex, call);
    mutexes::add_mutex_wait(thread::current_thread(), mutex, waited);
    result
}

/// Makes a call as [`wait_in_region`] does. Returns its result and the ticks of waiting, 0 outside of regions.
#[inline(always)]
fn wait_timed(kind: WaitKind, call: impl FnOnce() -> Word) -> (Word, u64) {
    let thread = thread::current_thread();
    let slot = thread.team.slot.get();
    if slot.is_null() {
        return (call(), 0);
    }
    let begin = read_ticks();
    let outer = thread.team.tasks.replace(0);
    thread.team.waits.set(thread.team.waits.get() + 1);
    let result = call();
    thread.team.waits.set(thread.team.waits.get() - 1);
    let tasks = thread.team.tasks.replace(outer);
    let waited = read_ticks().saturating_sub(begin).saturating_sub(tasks);
    // SAFETY: the thread's own slot, which is there until the region has ended.
    *of_kind(unsafe { &mut (*slot).times }, kind) += waited;
    (result, waited)
}

impl WaitKind {
    /// Returns the kind of a number, or `None` if it is 0, which is no wait.
    #[inline(always)]
    pub fn from_number(number: u32) -> Option<WaitKind> {
        const KINDS: [WaitKind; 4] = [WaitKind::Barrier, WaitKind::Mutex, WaitKind::Ordered, WaitKind::Tasks];
        KINDS.into_iter().find(|kind| *kind as u32 == number)
    }
}

pub fn of_kind(times: &mut MemberTimes, kind: WaitKind) -> &mut u64 {
    match kind {
        WaitKind::Barrier => &mut times.barrier,
        WaitKind::Mutex => &mut times.mutex,
        WaitKind::Ordered => &mut times.ordered,
        WaitKind::Tasks => &mut times.tasks,
    }
}
