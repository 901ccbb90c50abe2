//! A process that a signal ends from outside: the first ring's head gets the time.
//!
//! A launcher whose time is over, or that the user interrupts, ends the ranks by SIGTERM or SIGINT. Without that time a job that hung would end for the report with its last
//! call. Where the program leaves such a signal to the system, which ends the process, a handler notes the time and then has the system do
//! so. A program's own handlers, and signals that it ignores, are left alone.
//!
//! The handler makes system calls that POSIX allows there. It allocates nothing and takes no lock.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::sync::atomic::Ordering::Relaxed;

use crate::harmless::guard;
use crate::lifecycle::kept::{OPEN, PID};
use crate::system::clock::ticks;

/// Signals by which launchers end ranks.
const SIGNALS: [c_int; 2] = [libc::SIGTERM, libc::SIGINT];

/// From now on the time of such a signal is noted.
pub fn watch() {
    exchange(libc::SIG_DFL, caught as *const () as usize);
}

/// The log has its end: the signals are the system's again, unless the program has taken them meanwhile.
pub fn unwatch() {
    exchange(caught as *const () as usize, libc::SIG_DFL);
}

/// Installs one action for those signals that have another one.
fn exchange(from: usize, to: usize) {
    for signal in SIGNALS {
        // SAFETY: plain structures, which the calls fill or read.
        unsafe {
            let mut before = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
            if libc::sigaction(signal, std::ptr::null(), &mut before) != 0 || before.sa_sigaction != from {
                continue;
            }
            let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
            action.sa_sigaction = to;
            if to != libc::SIG_DFL {
                // The system's action holds again when the handler begins, and the signal may come while it runs.
                action.sa_flags = libc::SA_RESETHAND | libc::SA_NODEFER | libc::SA_ONSTACK;
            }
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

/// Notes the time, and has the system end the process by the same signal.
extern "C" fn caught(signal: c_int) {
    // A child of a fork has inherited the handler, not the ring.
    if OPEN.load(Relaxed)
        && PID.load(Relaxed) == std::process::id()
        && let Some(head) = guard::mirrored()
        && head.end_reason.load(Relaxed) == 0
    {
        head.killed_ticks.store(ticks(), Relaxed);
    }
    // SAFETY: to this process, which does not return from it.
    unsafe { libc::kill(libc::getpid(), signal) };
}
