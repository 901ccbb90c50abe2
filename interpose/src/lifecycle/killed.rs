//! Notes in the first ring's head the time at which a signal ends the process from outside.
//!
//! A launcher whose time is over, or that the user interrupts, ends the ranks by SIGTERM or SIGINT. Without the time of that signal, the report of a job
//! that hung would end with its last call. If the program leaves such a signal to the system, which ends the process, a handler notes the time and then
//! has the system do so. A program's own handlers, and signals that it ignores, are left alone.
//!
//! The program does not find the handler: it is withdrawn before the program asks for the action or sets one, and before the program gives up
//! rights that the handler needs ([`super::withdrawal`]).
//!
//! The handler makes system calls that POSIX allows there. It allocates nothing and takes no lock.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::harmless::guard;
use crate::lifecycle::process_state::{OPEN, PID};
use crate::system::actions::{self, SignalAction};
use crate::system::clock::read_ticks;

/// Signals by which launchers end ranks.
const SIGNALS: [c_int; 2] = [libc::SIGTERM, libc::SIGINT];

/// True if handlers were ever installed: a child of a fork, which has memory of its own or its parent's, inherits them.
static WATCHED: AtomicBool = AtomicBool::new(false);

/// Installs the handlers.
pub fn watch_signals() {
    // The system does not end the first process of a namespace by a signal that is left to it, and a handler would interrupt its waits.
    if std::process::id() == 1 {
        return;
    }
    WATCHED.store(true, Relaxed);
    // The system's action holds again when the handler begins, and the signal may come while it runs.
    let flags = libc::SA_RESETHAND | libc::SA_NODEFER | libc::SA_ONSTACK;
    let ours = SignalAction::of_handler(handler_address(), flags as u32 as u64);
    for signal in SIGNALS {
        actions::replace_action(signal, libc::SIG_DFL, &ours);
    }
}

/// Leaves the signals to the system again, unless the program has taken them meanwhile.
pub fn unwatch_signals() {
    for signal in SIGNALS {
        withdraw_handler(signal);
    }
}

/// Leaves a signal to the system again if it is watched and the program has not taken it meanwhile.
pub fn withdraw_handler(signal: c_int) {
    if WATCHED.load(Relaxed) && SIGNALS.contains(&signal) {
        actions::replace_action(signal, handler_address(), &SignalAction::DEFAULT);
    }
}

fn handler_address() -> usize {
    on_signal as *const () as usize
}

/// Notes the time, and has the system end the process by the same signal.
extern "C" fn on_signal(signal: c_int) {
    // A child of a fork has inherited the handler, not the ring.
    if OPEN.load(Relaxed)
        && PID.load(Relaxed) == std::process::id()
        && let Some(head) = guard::mirrored_head()
        && head.end_reason.load(Relaxed) == 0
    {
        head.killed_ticks.store(read_ticks(), Relaxed);
    }
    end_by(signal);
}

/// Ends the process as the system would. Returns in the first process of a namespace, which the system does not end.
fn end_by(signal: c_int) {
    // A program that has found the handler by a system call of its own may have put it back without our flags, or call it.
    actions::exchange_action(signal, Some(&SignalAction::DEFAULT));
    actions::unblock_signal(signal);
    // SAFETY: to this process, which does not return from the first call unless a filter forbids it.
    unsafe {
        let process = libc::getpid();
        libc::kill(process, signal);
        if process == 1 {
            return;
        }
        libc::syscall(libc::SYS_tgkill, process, libc::gettid(), signal);
        // Shells show this status for the signal. Without it the process would go on for ever.
        libc::syscall(libc::SYS_exit_group, 128 + signal);
    }
}
