//! Locks and critical sections that withstand signal handlers: a handler may exit, call MPI or MPI_Abort, or leave by siglongjmp, at any instant.
//!
//! Sections of the recorder that hold a lock, use its heap or change a thread's log are marked ([`run_critical_section`]). Code in a
//! handler looks at the mark ([`in_critical`]) and keeps away from all three if it finds the thread in such a section: the
//! ring and the log are whole at each instant, so the process may end there, and a call of MPI is passed on unrecorded.
//!
//! A section that is left by siglongjmp keeps its locks for ever, and recording ends. The thread itself notices that at its next call. Other
//! threads wait for a limited time ([`HolderPatience`]), which is prolonged only by signs that the holder is at work. Then recording ends, and they go on
//! without the data that the lock guards.
//!
//! A thread that waits sleeps (futex(2)), and a thread that leaves a section wakes one, in the order in which they came. Each also wakes by itself now
//! and then, because the one that was woken may never come. After a long section, because the disk is slow, the lock is kept for the woken thread: else
//! the thread that leaves would be back in the next section before the other one runs. After short sections any thread takes it: hundreds of threads would
//! do nothing but wait for the one to run.
//!
//! Blocking the signals would be simpler, and wrong: while one thread holds a signal off, the system gives it to another one, be
//! it a helper of MPI, and a handler that leaves by siglongjmp would do so on a stack that is not its own.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU32, AtomicU64, AtomicUsize};

use crate::machine::system::clock::monotonic_ns;
use crate::machine::system::process::{self, ThreadActivity};
use crate::machine::system::sandbox;
use crate::state::stage;
use crate::state::thread::{self, RecorderThread, VolatileCell};

/// Time for which the end of the process waits for a lock that another thread holds.
const PATIENCE_NS: u64 = 1_000_000_000;

/// Time for which a thread waits while nothing shows that the holder is at work.
const SILENCE_NS: u64 = 2_000_000_000;

/// Time for which a thread waits for one holder in any case: a disk that does not answer may never do.
const LONGEST_NS: u64 = 60_000_000_000;

/// Interval at which a waiting thread looks at the holder.
const LOOK_NS: u64 = 100_000_000;

/// Time between two tries counts only up to this: the process may have been stopped meanwhile, or had no core.
const STEP_NS: u64 = 60_000_000;

/// Maximum time for which a thread sleeps before it looks at the lock again: at first in each section, and then. A section that outlives the
/// first sleep is long.
const FIRST_SLEEP_NS: u64 = 2_000_000;
const SLEEP_NS: u64 = 50_000_000;

/// Time for which a lock is kept, after a long section, for the thread that was woken.
const TURN_NS: u64 = 20_000_000;

/// Number of tries of [`HandlerLock::wait_while`] before it naps.
const TRIES: u32 = 50;

/// System calls of sections that may take long. A holder that waits in one of them is at work.
const SLOW: &[libc::c_long] = &[
    libc::SYS_write,
    libc::SYS_pwrite64,
    libc::SYS_read,
    libc::SYS_pread64,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_open,
    libc::SYS_openat,
    libc::SYS_close,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_fallocate,
    libc::SYS_ftruncate,
    libc::SYS_mmap,
    libc::SYS_munmap,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
];

/// Why a thread waited in vain for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InVain {
    /// The holder did nothing: it was left by siglongjmp.
    Silent = 1,
    /// The holder waits for the system.
    NoAnswer = 2,
}

/// Why a thread waited in vain, maybe for the heap, until that is reported; 0: none did.
static IN_VAIN: AtomicU8 = AtomicU8::new(0);

/// Returns whether a thread has waited in vain since this was last asked. Recording has ended then.
pub fn waited_in_vain() -> Option<InVain> {
    if IN_VAIN.load(Relaxed) == 0 {
        return None;
    }
    match IN_VAIN.swap(0, Relaxed) {
        0 => None,
        1 => Some(InVain::Silent),
        _ => Some(InVain::NoAnswer),
    }
}

/// Runs `work`, which does not unwind, as a critical section.
pub fn run_critical_section<T>(work: impl FnOnce() -> T) -> T {
    let thread = thread::current_thread();
    enter_section(thread);
    let result = work();
    leave_section(thread);
    result
}

/// Returns whether the thread is in a critical section; in a handler: whether that has interrupted one.
pub fn in_critical(thread: &RecorderThread) -> bool {
    thread.critical.get_volatile() != 0
}

fn enter_section(thread: &RecorderThread) {
    // A handler in between leaves the count as it found it.
    thread.critical.set_volatile(thread.critical.get_volatile() + 1);
}

fn leave_section(thread: &RecorderThread) {
    thread.critical.set_volatile(thread.critical.get_volatile() - 1);
}

/// A lock whose holder is in a critical section. Waiting for it neither allocates nor parks: it may be the C library's malloc that
/// a handler has interrupted.
pub struct HandlerLock<T> {
    /// Address of the state of the thread that has it; 0: it is free. With [`AWAITED`] if a thread may wait for it.
    holder: AtomicUsize,
    used: LastHolder,
    /// True if a thread has seen that the section under way takes long.
    is_section_long: AtomicBool,
    /// Time until which threads that have just come leave the free lock to those that have slept, in nanoseconds; 0: they do not. A hint: the thread that
    /// was woken may have given up, or been left by siglongjmp, or have no core.
    kept_until: AtomicU64,
    value: UnsafeCell<T>,
}

// SAFETY: one thread at a time reaches the value.
unsafe impl<T: Send> Sync for HandlerLock<T> {}

/// In a lock's word: a thread may sleep that waits for it. Addresses of states are even.
const AWAITED: usize = 1;

/// A guard that releases a [`HandlerLock`] when the thread that took it drops it.
pub struct LockGuard<'a, T> {
    lock: &'a HandlerLock<T>,
    thread: &'static RecorderThread,
}

impl<T> HandlerLock<T> {
    /// Creates a free lock.
    pub const fn new(value: T) -> Self {
        HandlerLock {
            holder: AtomicUsize::new(0),
            used: LastHolder {
                id: AtomicI32::new(0),
                frame: AtomicUsize::new(0),
                taken: AtomicU32::new(0),
                tries: AtomicU32::new(0),
            },
            is_section_long: AtomicBool::new(false),
            kept_until: AtomicU64::new(0),
            value: UnsafeCell::new(value),
        }
    }

    /// Waits for the lock. Returns `None` if this very thread has it, in a section that a handler has interrupted or left by siglongjmp, or
    /// if recording was given up, maybe because waiting for the holder was in vain.
    pub fn lock(&self) -> Option<LockGuard<'_, T>> {
        let mut patience = HolderPatience::default();
        self.wait(|| {
            if stage::is_disabled() {
                return true;
            }
            let Some(why) = patience.end(&self.used) else { return false };
            if !stage::disable_recording() {
                IN_VAIN.store(why as u8, Relaxed);
            }
            true
        })
    }

    /// Locks like [`HandlerLock::lock`], but does not wait for ever: the process ends.
    pub fn lock_at_end(&self) -> Option<LockGuard<'_, T>> {
        let end = monotonic_ns() + PATIENCE_NS;
        self.wait(|| monotonic_ns() > end)
    }

    /// Waits, without the lock, while `goes_on` says that its holder is not done yet. For a holder that was left by siglongjmp
    /// the wait ends as in [`HandlerLock::lock`].
    pub fn wait_while(&self, goes_on: impl Fn() -> bool) {
        let (mut patience, mut tries) = (HolderPatience::default(), 0u32);
        while goes_on() && patience.end(&self.used).is_none() {
            tries = tries.saturating_add(1);
            yield_processor(tries);
        }
    }

    fn wait(&self, mut in_vain: impl FnMut() -> bool) -> Option<LockGuard<'_, T>> {
        let thread = thread::current_thread();
        let mut has_slept = false;
        // The section in which it slept last. One that has overtaken it may be long, too.
        let mut section = 0;
        loop {
            enter_section(thread);
            let word = self.holder.load(Relaxed);
            let may_take = word & !AWAITED == 0 && (has_slept || !self.is_kept());
            // Where this thread has slept others may sleep still.
            let awaited = if has_slept { AWAITED } else { word & AWAITED };
            if may_take && self.take_from(word, thread.address() | awaited) {
                if self.kept_until.load(Relaxed) != 0 {
                    self.kept_until.store(0, Relaxed);
                }
                if let Some(free) = thread.held.iter().find(|held| held.get().is_null()) {
                    free.set(&raw const self.used.tries);
                }
                self.used.id.store(thread.id.get(), Relaxed);
                self.used.frame.store((&raw const has_slept) as usize, Relaxed);
                self.used.taken.store(self.used.taken.load(Relaxed).wrapping_add(1), Relaxed);
                return Some(LockGuard { lock: self, thread });
            }
            leave_section(thread);
            // Threads that wait for a lock of this thread see that it is at work.
            // SAFETY: counters of locks, which are statics.
            for tries in thread.held.iter().filter_map(|held| unsafe { held.get().as_ref() }) {
                tries.fetch_add(1, Relaxed);
            }
            if word & !AWAITED == thread.address() || in_vain() {
                return None;
            }
            // Where the word has changed meanwhile, the thread may take it now.
            if !may_take && (word & AWAITED != 0 || self.take_from(word, word | AWAITED)) {
                let taken = self.used.taken.load(Relaxed);
                let is_first = !has_slept || taken != section;
                self.sleep(word | AWAITED, if is_first { FIRST_SLEEP_NS } else { SLEEP_NS });
                (has_slept, section) = (true, taken);
            }
        }
    }

    /// Returns whether the lock is kept for threads that have slept.
    fn is_kept(&self) -> bool {
        let until = self.kept_until.load(Relaxed);
        until != 0 && until >= monotonic_ns()
    }

    /// Changes the word from an old value.
    fn take_from(&self, word: usize, new: usize) -> bool {
        self.holder.compare_exchange(word, new, Acquire, Relaxed).is_ok()
    }

    /// Sleeps until it is woken, or for so long, unless the word is another one than this.
    fn sleep(&self, word: usize, most_ns: u64) {
        let taken = self.used.taken.load(Relaxed);
        let is_over = futex_wait(&self.holder, word, most_ns);
        if is_over && word & !AWAITED != 0 && self.used.taken.load(Relaxed) == taken {
            self.is_section_long.store(true, Relaxed);
        }
    }

    /// Frees the lock, and wakes one of the threads that wait.
    fn release(&self) {
        if self.is_section_long.load(Relaxed) {
            self.is_section_long.store(false, Relaxed);
            self.kept_until.store(monotonic_ns() + TURN_NS, Relaxed);
        }
        if self.holder.swap(0, Release) & AWAITED != 0 {
            futex_wake(&self.holder);
        }
    }
}

impl<T> HandlerLock<Option<T>> {
    /// Does `work` with the value under the lock, or returns `None` if there is none or the lock cannot be had.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.lock()?.as_mut().map(work)
    }
}

/// Sleeps while the lower half of `place` is the lower half of `word`, until it is woken or `most_ns` have passed. Returns whether they have.
fn futex_wait(place: &AtomicUsize, word: usize, most_ns: u64) -> bool {
    let most = libc::timespec { tv_sec: 0, tv_nsec: most_ns as libc::c_long };
    // SAFETY: the lower half of a live word comes first; a live duration. The entry of the recorder keeps errno.
    let code = unsafe {
        let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
        libc::syscall(libc::SYS_futex, place.as_ptr(), operation, word as u32, &raw const most)
    };
    // SAFETY: the calling thread's errno.
    code != 0 && unsafe { *libc::__errno_location() } == libc::ETIMEDOUT
}

/// Wakes one thread that sleeps there.
fn futex_wake(place: &AtomicUsize) {
    // SAFETY: a live word.
    unsafe { libc::syscall(libc::SYS_futex, place.as_ptr(), libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1) };
}

/// The patience of a thread that waits for a holder. The counts that it looks at may be of a previous holder: that only prolongs the wait.
#[derive(Default)]
struct HolderPatience {
    /// Time at which it was last asked; 0: never.
    asked: u64,
    /// Times for which it has waited; since it last looked; and for which nothing has shown that the holder is at work.
    waited: u64,
    since_look: u64,
    silent: u64,
    /// Counts at the last look: how often the lock was taken, and how often its holders have tried to get another one.
    taken: u32,
    tries: u32,
}

impl HolderPatience {
    /// Returns why waiting is in vain, if it is. Asked again and again while a thread waits for a lock.
    fn end(&mut self, lock: &LastHolder) -> Option<InVain> {
        let (now, taken) = (monotonic_ns(), lock.taken.load(Relaxed));
        if self.asked == 0 || taken != self.taken {
            *self = HolderPatience { asked: now, taken, ..HolderPatience::default() };
            return None;
        }
        let step = now.saturating_sub(std::mem::replace(&mut self.asked, now)).min(STEP_NS);
        self.waited += step;
        self.since_look += step;
        self.silent += step;
        if self.since_look < LOOK_NS {
            return None;
        }
        self.since_look = 0;
        let tries = lock.tries.load(Relaxed);
        if std::mem::replace(&mut self.tries, tries) != tries || lock.holder_is_at_work() {
            self.silent = 0;
        }
        if self.waited > LONGEST_NS {
            Some(InVain::NoAnswer)
        } else {
            (self.silent > SILENCE_NS).then_some(InVain::Silent)
        }
    }
}

/// The thread that took a lock last.
struct LastHolder {
    /// The thread's number in the system; 0: not known.
    id: AtomicI32,
    /// An address on its stack at that time.
    frame: AtomicUsize,
    /// Number of times that the lock was taken.
    taken: AtomicU32,
    /// Number of times that its holders have tried to get another lock.
    tries: AtomicU32,
}

impl LastHolder {
    /// Returns whether the holder runs, maybe on a machine that has no core for it; or waits in a system call that sections make; or in
    /// another one, further down the stack than it was then: a library may stand between the recorder and its file. `false` also where that
    /// cannot be known.
    fn holder_is_at_work(&self) -> bool {
        /// The stack that such a library takes.
        const DEPTH: usize = 1 << 20;
        let (id, frame) = (self.id.load(Relaxed), self.frame.load(Relaxed));
        if id == 0 {
            return false;
        }
        if sandbox::is_filtered() || !process::is_proc_of_own_namespace() {
            // The system's facts about the holder are in files that may not be opened now, or whose names are not known.
            return WRITING.load(Relaxed) == id;
        }
        process::thread_activity(id).is_some_and(|doing| match doing {
            ThreadActivity::Runs => true,
            ThreadActivity::Waits(call, stack) => {
                SLOW.contains(&call) || frame.checked_sub(stack).is_some_and(|depth| 0 < depth && depth < DEPTH)
            }
        })
    }
}

/// Number in the system of the thread that writes to the disk, which holds a lock; 0: none. It stays if a handler leaves the write by siglongjmp.
static WRITING: AtomicI32 = AtomicI32::new(0);

/// Runs `write`, which may take long, so that other threads see even under a system call filter that this one is at work.
pub fn note_writing<T>(write: impl FnOnce() -> T) -> T {
    WRITING.store(thread::current_thread().id.get(), Relaxed);
    let result = write();
    WRITING.store(0, Relaxed);
    result
}

/// Leaves the processor to others.
fn yield_processor(tries: u32) {
    // SAFETY: plain system calls.
    unsafe {
        if tries < TRIES {
            libc::sched_yield();
        } else {
            let nap = libc::timespec { tv_sec: 0, tv_nsec: 50_000 };
            libc::nanosleep(&nap, std::ptr::null_mut());
        }
    }
}

impl<T> Deref for LockGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the lock is held.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for LockGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for LockGuard<'_, T> {
    fn drop(&mut self) {
        // The thread that took it is the one that drops it.
        if let Some(held) = self.thread.held.iter().find(|held| held.get() == &raw const self.lock.used.tries) {
            held.set(std::ptr::null());
        }
        self.lock.release();
        leave_section(self.thread);
    }
}
