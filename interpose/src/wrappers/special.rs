//! The functions that a row of the table cannot describe, each in C and in Fortran.

use std::ffi::{c_char, c_int};

use crate::handles::datatypes;
use crate::harmless::{enter, guard};
use crate::lifecycle::{end, finalize, process_state, start};
use crate::markers::pcontrol;
use crate::mpi::lang::{ArgumentLanguage, C, ConvertedHandle, Fortran};
use crate::mpi::symbols::{self, symbol};
use crate::mpi::{abi, call, detect};
use crate::processor::entry;
use crate::state::entered;
use crate::state::thread::{self, RecorderThread};
use crate::word::{Word, int_at};

/// Looks a function up, by its profiling name or, where it has none, by its own; calls it. Rare calls only.
macro_rules! forward {
    ($next:literal, $own:expr, ($($argument:expr),*)) => {{
        let function = symbols::find($next, $own);
        if function == 0 {
            abi::abi().err_other as Word
        } else {
            // SAFETY: the program's own arguments, passed on to the function that it meant to call.
            unsafe {
                let function: unsafe extern "C-unwind" fn($(forward!(@word $argument)),*) -> Word = std::mem::transmute(function);
                function($($argument),*)
            }
        }
    }};
    (@word $argument:expr) => { Word };
}

/// Runs the library's part of a rare function.
fn cold(work: impl FnOnce(*mut RecorderThread)) {
    let thread = thread::current();
    // SAFETY: the calling thread's state.
    unsafe { enter::cold(thread, || work(thread)) };
}

/// Returns whether a Fortran call succeeded; `ierror` is optional in mpi_f08.
///
/// # Safety
/// `ierror` is null or the address of an INTEGER.
unsafe fn succeeded(ierror: Word) -> bool {
    // SAFETY: null or the address of an INTEGER.
    ierror == 0 || unsafe { int_at(ierror) == 0 }
}

/// The thread level that MPI_Init_thread has stored, or MPI's own word where the program does not want to know.
///
/// # Safety
/// `provided` is null, or the address that a successful call has filled.
unsafe fn provided_level(provided: Word) -> c_int {
    let mut level: c_int = 0;
    // SAFETY: null, or the address that a successful call has filled.
    unsafe {
        if provided != 0 {
            return int_at(provided);
        }
        call::call2(c"PMPI_Query_thread", &raw mut level as Word, 0);
    }
    level
}

fn initialised(level: c_int) {
    let thread = thread::current();
    // Also if recording was given up by now, for the other ranks count on this one.
    // SAFETY: the calling thread's state; MPI has just said that it is initialised.
    unsafe {
        enter::quiet(thread, || {
            guard::caught(|| {
                if detect::detect() {
                    start::initialised(thread, start::thread_level(level));
                }
            })
        })
    };
}

/// Returns whether a wrapper of the same family is under way on this thread: Fortran's MPI_Init may call C's.
fn outermost<T>(work: impl FnOnce(bool) -> T) -> T {
    use std::cell::Cell;
    thread_local!(static DEPTH: Cell<u32> = const { Cell::new(0) });
    let depth = DEPTH.replace(DEPTH.get() + 1);
    let result = work(depth == 0);
    DEPTH.set(DEPTH.get().saturating_sub(1));
    result
}

/// A name as a C string.
macro_rules! c_name {
    ($name:literal) => {
        // SAFETY: a literal without an inner NUL, and one appended.
        unsafe { std::ffi::CStr::from_bytes_with_nul_unchecked(concat!($name, "\0").as_bytes()) }
    };
}

macro_rules! init {
    ($name:literal, $next:literal, ($($argument:ident),*), $ok:expr, $level:expr) => {
        const _: () = {
            // MPI-4.1 §11.2.1
            #[allow(unused_unsafe, reason = "only some flavours read what the call filled")]
            #[unsafe(export_name = $name)]
            unsafe extern "C-unwind" fn init($($argument: Word),*) -> Word {
                cold(|_| start::before_init());
                outermost(|outermost| {
                    let result = forward!($next, c_name!($name), ($($argument),*));
                    // SAFETY: what the call has just filled.
                    unsafe {
                        if outermost && ($ok)(result) {
                            initialised($level);
                        }
                    }
                    result
                })
            }
        };
    };
}

init!("MPI_Init", c"PMPI_Init", (argc, argv), |result: Word| result as i32 == 0, 0);
init!(
    "MPI_Init_thread",
    c"PMPI_Init_thread",
    (argc, argv, required, provided),
    |result: Word| result as i32 == 0,
    provided_level(provided)
);

macro_rules! fortran_init {
    ($name:literal, $next:literal) => {
        init!($name, $next, (ierror), |_| succeeded(ierror), 0);
    };
}

macro_rules! fortran_init_thread {
    ($name:literal, $next:literal) => {
        init!($name, $next, (required, provided, ierror), |_| succeeded(ierror), provided_level(provided));
    };
}

macro_rules! finalize {
    ($name:literal, $next:literal) => {
        const _: () = {
            // MPI-4.1 §11.2.2. C has no argument; that of Fortran is then a register that nobody reads.
            unsafe extern "C-unwind" fn body(ierror: Word) -> Word {
                outermost(|outermost| {
                    if outermost {
                        // SAFETY: MPI is still initialised.
                        unsafe { end::finalising(thread::current()) };
                    }
                    // SAFETY: the calling thread's state, which the entry has filled.
                    unsafe { entered::leave(thread::current()) };
                    let result = forward!($next, c_name!($name), (ierror));
                    if outermost {
                        finalize::note_return();
                    }
                    result
                })
            }
            entry!($name, body);
        };
    };
}
finalize!("MPI_Finalize", c"PMPI_Finalize");

macro_rules! fortran_finalize {
    ($name:literal, $next:literal) => {
        finalize!($name, $next);
    };
}

macro_rules! abort {
    ($name:literal, $next:literal, $language:ty) => {
        const _: () = {
            // MPI-4.1 §11.4.1
            #[unsafe(export_name = $name)]
            unsafe extern "C-unwind" fn abort(comm: Word, errorcode: Word, ierror: Word) -> Word {
                cold(|thread| {
                    // SAFETY: the function's own arguments.
                    unsafe { end::aborting(thread, <$language as ArgumentLanguage>::int(errorcode)) };
                });
                forward!($next, c_name!($name), (comm, errorcode, ierror))
            }
        };
    };
}
abort!("MPI_Abort", c"PMPI_Abort", C);

macro_rules! fortran_abort {
    ($name:literal, $next:literal) => {
        abort!($name, $next, Fortran);
    };
}

macro_rules! type_free {
    ($name:literal, $next:literal, $language:ty) => {
        const _: () = {
            // Local, but the handle may be given to another datatype.
            #[unsafe(export_name = $name)]
            unsafe extern "C-unwind" fn type_free(datatype: Word, ierror: Word) -> Word {
                cold(|_| {
                    if detect::detect() {
                        // SAFETY: the address of the handle.
                        datatypes::forget(unsafe {
                            <$language as ArgumentLanguage>::handle_at(datatype, 0, ConvertedHandle::Datatype)
                        });
                    }
                });
                forward!($next, c_name!($name), (datatype, ierror))
            }
        };
    };
}
type_free!("MPI_Type_free", c"PMPI_Type_free", C);

macro_rules! fortran_type_free {
    ($name:literal, $next:literal) => {
        type_free!($name, $next, Fortran);
    };
}

fn control(level: i32, label: Word) {
    cold(|thread| {
        // Markers refuse to run inside the recorder, which this is not.
        // SAFETY: the calling thread's state.
        unsafe { (*thread).busy -= 1 };
        if process_state::pcontrol_labels() {
            // SAFETY: the user said that the program passes labels.
            unsafe { pcontrol::control_labelled(level, label as *const c_char) };
        } else {
            pcontrol::control(level);
        }
        // SAFETY: as above.
        unsafe { (*thread).busy += 1 };
    });
}

/// MPI-4.1 §15.2.4. The C function is variadic; a second argument, where there is one, is in the register of `label`.
#[unsafe(export_name = "MPI_Pcontrol")]
unsafe extern "C-unwind" fn pcontrol(level: c_int, label: Word) -> Word {
    control(level, label);
    let next = symbols::find(c"PMPI_Pcontrol", c"MPI_Pcontrol");
    if next == 0 {
        return 0;
    }
    // SAFETY: the function's own signature; it ignores what it does not know.
    unsafe {
        let next: unsafe extern "C-unwind" fn(c_int, ...) -> c_int = std::mem::transmute(next);
        next(level, label) as u32 as Word
    }
}

macro_rules! fortran_pcontrol {
    ($name:literal, $next:literal) => {
        const _: () = {
            #[unsafe(export_name = $name)]
            unsafe extern "C-unwind" fn pcontrol(level: Word) -> Word {
                // SAFETY: the address of an INTEGER. Fortran's has no label.
                control(unsafe { int_at(level) }, 0);
                forward!($next, c_name!($name), (level))
            }
        };
    };
}

/// C's handle of a session that MPI_Session_init has stored.
///
/// # Safety
/// `session` is the address of a handle that MPI has stored.
unsafe fn session_at<L: ArgumentLanguage>(session: Word) -> Word {
    let f2c = if L::FORTRAN { symbol(c"PMPI_Session_f2c") } else { 0 };
    // SAFETY: the address of a handle; Fortran's is turned into C's by a local look-up.
    unsafe {
        if f2c == 0 {
            L::handle_at(session, 0, ConvertedHandle::Comm)
        } else {
            let f2c: unsafe extern "C" fn(c_int) -> Word = std::mem::transmute(f2c);
            f2c(int_at(session))
        }
    }
}

macro_rules! session_init {
    ($name:literal, $next:literal, $language:ty) => {
        const _: () = {
            // MPI-4.1 §11.3. Recording starts with the first communicator.
            #[unsafe(export_name = $name)]
            unsafe extern "C-unwind" fn init(info: Word, errhandler: Word, session: Word, ierror: Word) -> Word {
                cold(|_| start::before_init());
                outermost(|outermost| {
                    let result = forward!($next, c_name!($name), (info, errhandler, session, ierror));
                    // SAFETY: what the call has just filled.
                    let ok = if <$language>::FORTRAN { unsafe { succeeded(ierror) } } else { result as i32 == 0 };
                    if outermost && ok {
                        cold(|thread| {
                            if detect::detect() {
                                // SAFETY: as above.
                                unsafe { start::session_initialised(thread, session_at::<$language>(session)) };
                            }
                        });
                    }
                    result
                })
            }
        };
    };
}
session_init!("MPI_Session_init", c"PMPI_Session_init", C);

macro_rules! fortran_session_init {
    ($name:literal, $next:literal) => {
        session_init!($name, $next, Fortran);
    };
}

macro_rules! session_finalize {
    ($name:literal, $next:literal) => {
        const _: () = {
            unsafe extern "C-unwind" fn finalize(session: Word, ierror: Word) -> Word {
                outermost(|outermost| {
                    if outermost {
                        // SAFETY: MPI is still initialised.
                        unsafe { end::finalising(thread::current()) };
                    }
                    // SAFETY: the calling thread's state, which the entry has filled.
                    unsafe { entered::leave(thread::current()) };
                    forward!($next, c_name!($name), (session, ierror))
                })
            }
            entry!($name, finalize);
        };
    };
}
session_finalize!("MPI_Session_finalize", c"PMPI_Session_finalize");

macro_rules! fortran_session_finalize {
    ($name:literal, $next:literal) => {
        session_finalize!($name, $next);
    };
}

// The Fortran entries of all of these, in each flavour.
include!(concat!(env!("OUT_DIR"), "/special.rs"));
