//! MPI_Pcontrol, the standard's own marker (MPI-4.1 §15.2.4).

use std::ffi::c_char;

use lbprof_collector::definition::RegionKind;

use crate::recording::flush;
use crate::sources::markers::marks::{begin_phase, end_phase, marker_text, run_marker, set_recording};

/// Handles MPI_Pcontrol: 0 stops, 1 starts, 2 flushes; n ≥ 5 starts and −n ends phase n.
pub fn handle_pcontrol(level: i32) {
    match level {
        0 => set_recording(false),
        1 => set_recording(true),
        2 => run_marker(flush::flush_now),
        5.. => begin_phase(&format!("phase {level}"), RegionKind::Useful, false),
        ..=-5 => end_phase(&format!("phase {}", level.unsigned_abs())),
        _ => {}
    }
}

/// Handles MPI_Pcontrol in the dialect of labels: (1, "name") starts, (−1, "name") ends a phase; else as [`handle_pcontrol`].
///
/// # Safety
/// `label` is a string where `level` is 1 or −1.
pub unsafe fn control_labelled(level: i32, label: *const c_char) {
    // Other levels come without a label. Its register may then hold anything.
    let label = if level.unsigned_abs() == 1 { label } else { std::ptr::null() };
    // SAFETY: the caller's promise.
    match (level, unsafe { marker_text(label) }) {
        (1, Some(name)) => begin_phase(&name, RegionKind::Useful, false),
        (-1, Some(name)) => end_phase(&name),
        _ => handle_pcontrol(level),
    }
}
