//! Forks.

use crate::harmless::{guard, memory};
use crate::lifecycle::process_state::OPEN;
use crate::machine::system::faults;
use crate::recording::close;
use crate::sampling;
use crate::state::stage::{RecordingState, set_state};
use crate::state::thread;
use std::sync::atomic::Ordering::Relaxed;

pub unsafe extern "C" fn before_fork() {
    sampling::end_reader_before_fork();
}

/// Runs in the child of a fork: the log, the rings and the rank are its parent's.
pub unsafe extern "C" fn in_child() {
    set_state(RecordingState::Done);
    OPEN.store(false, Relaxed);
    memory::abandon_heap();
    guard::stop_mirroring();
    faults::uncover_sigbus();
    sampling::abandon_sampling();
    close::abandon_ring(thread::current_thread());
}
