//! The functions of lbprof.h.

use std::borrow::Cow;
use std::ffi::{c_char, c_double, c_int};

use lbprof_collector::Operation;
use lbprof_collector::definition::RegionKind;
use lbprof_collector::record::Record;

use crate::harmless::guard;
use crate::machine::system::clock::read_ticks;
use crate::recording::room::append_record;
use crate::sources::markers::marks::{begin_phase, end_phase, marker_text, run_marker, set_param, set_recording};
use crate::sources::markers::regions::intern_counter;
use crate::sources::markers::stack::open_phases;
use crate::state::stage::{RecordingState, recording_state};

/// The functions that lbprof.h calls, in its order.
#[repr(C)]
pub struct MarkerApi {
    size: usize,
    phase_begin: unsafe extern "C" fn(*const c_char, c_int),
    phase_end: unsafe extern "C" fn(*const c_char),
    iteration_begin: unsafe extern "C" fn(*const c_char),
    iteration_end: unsafe extern "C" fn(*const c_char),
    work: unsafe extern "C" fn(c_double, c_double),
    count: unsafe extern "C" fn(*const c_char, c_double),
    param: unsafe extern "C" fn(*const c_char, c_double),
    record: unsafe extern "C" fn(c_int),
}

static API: MarkerApi = MarkerApi {
    size: size_of::<MarkerApi>(),
    phase_begin: api_phase_begin,
    phase_end: api_phase_end,
    iteration_begin: api_iteration_begin,
    iteration_end: api_phase_end,
    work: api_work,
    count: api_count,
    param: api_param,
    record: api_record,
};

/// Returns the functions for lbprof.h, which looks this entry up; null for a version that this library does not have.
#[unsafe(no_mangle)]
pub extern "C" fn lbprof_api(version: c_int) -> *const MarkerApi {
    if version == 1 { &API } else { std::ptr::null() }
}

unsafe extern "C" fn api_phase_begin(name: *const c_char, kind: c_int) {
    let kind = match kind {
        1 => RegionKind::Control,
        2 => RegionKind::Serial,
        _ => RegionKind::Useful,
    };
    // SAFETY: the header passes the program's string.
    unsafe { with_marker_name(name, |name| begin_phase(&name, kind, false)) };
}

unsafe extern "C" fn api_phase_end(name: *const c_char) {
    // SAFETY: the header passes the program's string.
    unsafe { with_marker_name(name, |name| end_phase(&name)) };
}

unsafe extern "C" fn api_iteration_begin(name: *const c_char) {
    // SAFETY: the header passes the program's string.
    unsafe { with_marker_name(name, |name| begin_phase(&name, RegionKind::Useful, true)) };
}

unsafe extern "C" fn api_work(operations: c_double, quanta: c_double) {
    run_marker(|thread| {
        let region = open_phases(thread).map_or(0, |open| open.innermost());
        let record = Record::new(Operation::Work, read_ticks());
        let (sent, received) = (operations.to_bits(), quanta.to_bits());
        append_record(thread, Record { sent, received, request: region, ..record });
    });
}

unsafe extern "C" fn api_count(name: *const c_char, value: c_double) {
    run_marker(|thread| {
        // SAFETY: the header passes the program's string.
        if let Some(id) = unsafe { marker_text(name) }.and_then(|name| intern_counter(&name)) {
            let record = Record::new(Operation::Counter, read_ticks());
            append_record(thread, Record { sent: value.to_bits(), request: id, ..record });
        }
    });
}

unsafe extern "C" fn api_param(name: *const c_char, value: c_double) {
    // SAFETY: the header passes the program's string.
    unsafe { with_marker_name(name, |name| set_param(name.into_owned(), value)) };
}

unsafe extern "C" fn api_record(on: c_int) {
    set_recording(on != 0);
}

/// Gives a marker's name to `work`, if it has one and the process records or will record.
///
/// # Safety
/// `name` is a C string or null.
unsafe fn with_marker_name(name: *const c_char, work: impl FnOnce(Cow<str>)) {
    if recording_state() == RecordingState::Done {
        return;
    }
    // SAFETY: the caller's promise, as `text` wants it.
    guard::run_guarded(|| unsafe { marker_text(name) }.map_or((), work));
}
