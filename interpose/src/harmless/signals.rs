//! What runs in a signal handler may exit, call MPI or MPI_Abort, or leave by siglongjmp, whatever the thread was doing.
//!
//! Sections of the recorder that hold a lock, use its heap or change a thread's log are marked ([`critical`]). What comes in a
//! handler looks at the mark ([`in_critical`]) and keeps away from all three where it finds the thread in such a section: the
//! ring and the log are whole at each instant, so the process may end there, and a call of MPI is passed on unrecorded.
//!
//! Blocking the signals would be simpler, and wrong: while one thread holds a signal off, the system gives it to another one, be
//! it a helper of MPI, and a handler that leaves by siglongjmp would do so on a stack that is not its own.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{
    AtomicPtr,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::state::stage;
use crate::state::thread::{self, Thread};
use crate::system::clock::monotonic_ns;

/// How long the end of the process waits for a lock that another thread holds.
const PATIENCE_NS: u64 = 1_000_000_000;

/// Runs `work`, which does not unwind, as a critical section.
pub fn critical<T>(work: impl FnOnce() -> T) -> T {
    let thread = thread::current();
    // SAFETY: the calling thread's state.
    unsafe {
        enter(thread);
        let result = work();
        leave(thread);
        result
    }
}

/// Whether the thread is in a critical section; in a handler: whether that has interrupted one.
///
/// # Safety
/// `thread` is the calling thread's state.
pub unsafe fn in_critical(thread: *mut Thread) -> bool {
    // SAFETY: the caller's promise.
    unsafe { (&raw const (*thread).critical).read_volatile() != 0 }
}

/// # Safety
/// `thread` is the calling thread's state.
unsafe fn enter(thread: *mut Thread) {
    // SAFETY: the caller's: the thread's own state. A handler in between leaves the count as it found it.
    unsafe {
        let count = &raw mut (*thread).critical;
        count.write_volatile(count.read_volatile() + 1);
    }
}

/// # Safety
/// `thread` is the calling thread's state. It has entered as often.
unsafe fn leave(thread: *mut Thread) {
    // SAFETY: as above.
    unsafe {
        let count = &raw mut (*thread).critical;
        count.write_volatile(count.read_volatile() - 1);
    }
}

/// A lock whose holder is in a critical section. Waiting for it neither allocates nor parks: it may be the C library's malloc that
/// a handler has interrupted.
pub struct Lock<T> {
    /// Null: nobody has it.
    holder: AtomicPtr<Thread>,
    value: UnsafeCell<T>,
}

// SAFETY: one thread at a time reaches the value.
unsafe impl<T: Send> Sync for Lock<T> {}

/// What a [`Lock`] guards, until dropped, by the thread that took it.
pub struct Held<'a, T> {
    lock: &'a Lock<T>,
    thread: *mut Thread,
}

impl<T> Lock<T> {
    /// Nobody has it.
    pub const fn new(value: T) -> Self {
        Lock { holder: AtomicPtr::new(std::ptr::null_mut()), value: UnsafeCell::new(value) }
    }

    /// Waits for it. `None`: this very thread has it, in a section that a handler has interrupted or left by siglongjmp; or
    /// recording was given up.
    pub fn lock(&self) -> Option<Held<'_, T>> {
        self.wait(stage::disabled)
    }

    /// As [`Lock::lock`], but does not wait for ever: the process ends.
    pub fn lock_at_end(&self) -> Option<Held<'_, T>> {
        let end = monotonic_ns() + PATIENCE_NS;
        self.wait(|| monotonic_ns() > end)
    }

    fn wait(&self, in_vain: impl Fn() -> bool) -> Option<Held<'_, T>> {
        let thread = thread::current();
        let mut tries = 0u32;
        loop {
            // SAFETY: the calling thread's state.
            unsafe { enter(thread) };
            let holder = match self.holder.compare_exchange(std::ptr::null_mut(), thread, Acquire, Relaxed) {
                Ok(_) => return Some(Held { lock: self, thread }),
                Err(holder) => holder,
            };
            // SAFETY: as above.
            unsafe { leave(thread) };
            if holder == thread || in_vain() {
                return None;
            }
            tries = tries.saturating_add(1);
            pause(tries);
        }
    }
}

/// Leaves the processor to others: a flush takes some 50 µs, on a slow disk much longer.
fn pause(tries: u32) {
    // SAFETY: plain system calls.
    unsafe {
        if tries < 50 {
            libc::sched_yield();
        } else {
            let nap = libc::timespec { tv_sec: 0, tv_nsec: 50_000 };
            libc::nanosleep(&nap, std::ptr::null_mut());
        }
    }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the lock is held.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        self.lock.holder.store(std::ptr::null_mut(), Release);
        // SAFETY: the state of the thread that took it, which is the one that drops it.
        unsafe { leave(self.thread) };
    }
}
