//! Run-time libraries that report what threads do by themselves: LLVM's and Intel's, through OpenMP's tools interface (OMPT).
//!
//! ```text
//!   libomp, at its first use     ompt_start_tool (ours)   asks others first: one tool only may answer
//!     answered:                  initialize               keeps the function that registers callbacks
//!   MPI_Init, or later           register                 from here on the library calls back ([`events`])
//!   libomp is unloaded           finalize                 forgets it
//! ```
//!
//! A library is answered only where the process uses MPI, or a launcher has started it as a rank: anywhere else it runs without a tool.
//! A program compiled by GCC may run on such a library, whose functions of libgomp's names then report the same: what it owns ([`reporting::is_owned`]) is
//! not measured a second time.
//!
//! Source: OpenMP API 5.2, chapter 19.

mod events;

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use lbprof_collector::definition::Definition;
use lbprof_collector::problem::ProblemKind;

use crate::harmless::enter;

use crate::log;
use crate::machine::system::loader::foreign;
use crate::run::launcher;
use crate::sources::openmp::reporting::{self, ToolResult};
use crate::sources::openmp::switch::{is_on, is_wanted};

pub use events::{note_site, wait_unreported};

/// Looks up a function of the run-time library by its name.
type LookUp = unsafe extern "C" fn(*const c_char) -> *mut c_void;
type SetCallback = unsafe extern "C" fn(c_int, *const c_void) -> c_int;
type StartTool = unsafe extern "C" fn(c_uint, *const c_char) -> *const ToolResult;

/// True if another tool watches a run-time library.
static HAS_OTHER_TOOL: AtomicBool = AtomicBool::new(false);
/// True if the log has that.
static IS_REPORTED: AtomicBool = AtomicBool::new(false);

/// The function by which a run-time library asks for a tool, before its first use.
///
/// # Safety
/// Called by a run-time library.
#[unsafe(export_name = "ompt_start_tool")]
unsafe extern "C" fn start_tool(version: c_uint, runtime: *const c_char) -> *const ToolResult {
    let next = foreign::next_definition(c"ompt_start_tool");
    if next != 0 {
        // SAFETY: the function of this type, and the library's own arguments.
        let result = unsafe { std::mem::transmute::<usize, StartTool>(next)(version, runtime) };
        if !result.is_null() {
            note_other_tool();
            return result;
        }
    }
    if value_of(c"OMP_TOOL_LIBRARIES").is_some_and(|value| !value.is_empty()) {
        // The library loads and asks these if it gets no answer.
        note_other_tool();
        return std::ptr::null();
    }
    let is_off = value_of(c"LBPROF_OPENMP") == Some(c"off") || value_of(c"LBPROF_MODE") == Some(c"off");
    // The library's own tool for ThreadSanitizer comes last.
    if is_off
        || is_defined_elsewhere(c"__tsan_init")
        || !(is_defined_elsewhere(c"MPI_Init") || launcher::launcher_rank().is_some())
    {
        return std::ptr::null();
    }
    reporting::add_openmp_library(initialize_tool, finalize_tool)
}

/// Takes the functions of a run-time library that has accepted the answer. Other than 0: the tool stays.
unsafe extern "C" fn initialize_tool(look_up: LookUp, _device: c_int, data: *mut u64) -> c_int {
    // SAFETY: the library's own function.
    let set_callback = unsafe { look_up(c"ompt_set_callback".as_ptr()) } as usize;
    if set_callback == 0 || !reporting::keep_set_callback(data, set_callback) {
        return 0;
    }
    if is_wanted() {
        register_callbacks();
    }
    1
}

/// Forgets a run-time library that ends.
unsafe extern "C" fn finalize_tool(data: *mut u64) {
    reporting::remove_openmp_library(data);
}

/// Registers the callbacks with all libraries that have none yet. They stay registered: another thread may be about to call one.
pub fn register_callbacks() {
    reporting::take_unregistered(|function| {
        // SAFETY: `ompt_set_callback` of a library that was not unloaded.
        let set_callback = unsafe { std::mem::transmute::<usize, SetCallback>(function) };
        for (number, callback) in events::event_callbacks() {
            // SAFETY: a callback of the type that this number has.
            unsafe { set_callback(number, callback) };
        }
    });
    // Another definition may come before ours, so that run-time libraries do not ask us.
    let is_first = foreign::visible_definition(c"ompt_start_tool") == start_tool as *const () as usize;
    if HAS_OTHER_TOOL.load(Relaxed) || is_defined_elsewhere(c"__kmpc_fork_call") && !is_first {
        report_other_tool();
    }
}

fn note_other_tool() {
    HAS_OTHER_TOOL.store(true, Relaxed);
    if is_wanted() {
        report_other_tool();
    }
}

fn report_other_tool() {
    if IS_REPORTED.swap(true, Relaxed) {
        return;
    }
    let problem = Definition::Problem(ProblemKind::OtherOpenmpTool as u16, 1, String::new());
    if !is_on() {
        // Recording is about to start, and the log is open.
        return log::define_now(problem);
    }
    enter::run_critical(|| log::define_now(problem));
}

/// Returns whether another object than this one defines a function that all can see.
fn is_defined_elsewhere(name: &CStr) -> bool {
    foreign::next_definition(name) != 0
}

fn value_of(name: &CStr) -> Option<&CStr> {
    // SAFETY: the environment's own string, which is read at once.
    unsafe {
        let value = libc::getenv(name.as_ptr());
        (!value.is_null()).then(|| CStr::from_ptr(value))
    }
}
