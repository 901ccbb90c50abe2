//! Reads and sets the system's actions for signals, by system calls: a wrapper of `sigaction` may say something else.
//!
//! All functions may run in a signal handler.

use std::ffi::c_int;

use crate::machine::processor;

/// The system's action for a signal, in the layout that the system has.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SignalAction {
    /// The address of a handler, or SIG_DFL, or SIG_IGN.
    pub handler: usize,
    /// SA_SIGINFO and others.
    pub flags: u64,
    /// Address that a handler returns to.
    pub restorer: usize,
    /// Signals that are blocked while the handler runs.
    pub mask: u64,
}

/// Flag of the system's headers that the C library does not publish.
const SA_RESTORER: u64 = 0x0400_0000;

impl SignalAction {
    pub const DEFAULT: SignalAction = SignalAction { handler: libc::SIG_DFL, flags: 0, restorer: 0, mask: 0 };

    /// Returns an action that calls a handler, which blocks no further signals.
    pub fn of_handler(handler: usize, flags: u64) -> SignalAction {
        match processor::signal_return() {
            Some(restorer) => SignalAction { handler, flags: flags | SA_RESTORER, restorer, mask: 0 },
            None => SignalAction { handler, flags, restorer: 0, mask: 0 },
        }
    }
}

/// Sets the action of a signal if there is a new one, and returns the one before, or `None` if the system refuses.
pub fn exchange_action(signal: c_int, new: Option<&SignalAction>) -> Option<SignalAction> {
    let mut old = SignalAction::DEFAULT;
    let new = new.map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: both have the system's layout, whose mask is 8 bytes long.
    let code = unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, new, &raw mut old, size_of::<u64>()) };
    (code == 0).then_some(old)
}
