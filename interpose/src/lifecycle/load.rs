//! The recorder is loaded.

use crate::forward::{bypass, weak};
use crate::harmless::{enter, guard};
use crate::lifecycle::mpi_not_started;
use crate::machine::processor;

/// Runs when the dynamic loader has loaded the recorder, before the program.
#[ctor::ctor(unsafe)]
fn at_load() {
    processor::detect_processor();
    guard::remember_stderr();
    bypass::remember_visible_mpi();
    enter::enter_cold(weak::clear_missing_references);
    enter::enter_cold(mpi_not_started::prepare_end_line);
}
