//! The functions that a row of the table cannot describe, each in C and in Fortran.

use std::ffi::{CStr, c_char, c_int};

use crate::forward::{self, NEXT, fortran_names};
use crate::handles::datatypes;
use crate::harmless::{enter, guard};
use crate::lifecycle::{end, finalize, process_state, start};
use crate::markers::pcontrol;
use crate::mpi::lang::{ArgumentLanguage, C, ConvertedHandle, Fortran};
use crate::mpi::symbols::{self, symbol};
use crate::mpi::{abi, call, detect};
use crate::processor::{entry, fortran_entry};
use crate::state::entered;
use crate::state::thread::{self, RecorderThread};
use crate::word::{Word, int_at};

/// Calls the function at an address that `next` gives. Rare calls only.
macro_rules! forward {
    ($next:expr, ($($argument:expr),*)) => {{
        let function = $next;
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

/// Defines the function of this name, with the entry that notes the call and its way to `$body`. One in Fortran has a place among the names.
macro_rules! special_entry {
    ($name:literal, [], $body:path) => {
        entry!($name, $body);
    };
    ($name:literal, [$index:literal], $body:path) => {
        fortran_entry!($name, ".text.lbprof", $index, NEXT, fortran_names::choose, $body);
    };
}

/// The function to forward to: one in C is looked up by name, one in Fortran was found by the entry.
macro_rules! next_function {
    ($name:literal, []) => {{
        // SAFETY: literals without an inner NUL, and one appended.
        let (profiling, own) = unsafe {
            (
                CStr::from_bytes_with_nul_unchecked(concat!("P", $name, "\0").as_bytes()),
                CStr::from_bytes_with_nul_unchecked(concat!($name, "\0").as_bytes()),
            )
        };
        symbols::find(profiling, own)
    }};
    ($name:literal, [$index:literal]) => {
        forward::next($index)
    };
}

/// Forgets what the entry has noted, of which these functions need nothing.
fn leave_entry() {
    // SAFETY: the calling thread's state, which the entry has filled.
    unsafe { entered::leave(thread::current()) };
}

macro_rules! init {
    ($name:literal, $place:tt, ($($argument:ident),*), $ok:expr, $level:expr) => {
        const _: () = {
            // MPI-4.1 §11.2.1
            #[allow(unused_unsafe, reason = "only some flavours read what the call filled")]
            unsafe extern "C-unwind" fn init($($argument: Word),*) -> Word {
                leave_entry();
                cold(|_| start::before_init());
                outermost(|outermost| {
                    let result = forward!(next_function!($name, $place), ($($argument),*));
                    // SAFETY: what the call has just filled.
                    unsafe {
                        if outermost && ($ok)(result) {
                            initialised($level);
                        }
                    }
                    result
                })
            }
            special_entry!($name, $place, init);
        };
    };
}

init!("MPI_Init", [], (argc, argv), |result: Word| result as i32 == 0, 0);
init!(
    "MPI_Init_thread",
    [],
    (argc, argv, required, provided),
    |result: Word| result as i32 == 0,
    provided_level(provided)
);

macro_rules! fortran_init {
    ($name:literal, $index:literal) => {
        init!($name, [$index], (ierror), |_| succeeded(ierror), 0);
    };
}

macro_rules! fortran_init_thread {
    ($name:literal, $index:literal) => {
        init!($name, [$index], (required, provided, ierror), |_| succeeded(ierror), provided_level(provided));
    };
}

macro_rules! finalize {
    ($name:literal, $place:tt) => {
        const _: () = {
            // MPI-4.1 §11.2.2. C has no argument; that of Fortran is then a register that nobody reads.
            unsafe extern "C-unwind" fn body(ierror: Word) -> Word {
                outermost(|outermost| {
                    if outermost {
                        // SAFETY: MPI is still initialised.
                        unsafe { end::finalising(thread::current()) };
                    }
                    leave_entry();
                    let result = forward!(next_function!($name, $place), (ierror));
                    if outermost {
                        finalize::note_return();
                    }
                    result
                })
            }
            special_entry!($name, $place, body);
        };
    };
}
finalize!("MPI_Finalize", []);

macro_rules! fortran_finalize {
    ($name:literal, $index:literal) => {
        finalize!($name, [$index]);
    };
}

macro_rules! abort {
    ($name:literal, $place:tt, $language:ty) => {
        const _: () = {
            // MPI-4.1 §11.4.1
            unsafe extern "C-unwind" fn abort(comm: Word, errorcode: Word, ierror: Word) -> Word {
                leave_entry();
                cold(|thread| {
                    // SAFETY: the function's own arguments.
                    unsafe { end::aborting(thread, <$language as ArgumentLanguage>::int(errorcode)) };
                });
                forward!(next_function!($name, $place), (comm, errorcode, ierror))
            }
            special_entry!($name, $place, abort);
        };
    };
}
abort!("MPI_Abort", [], C);

macro_rules! fortran_abort {
    ($name:literal, $index:literal) => {
        abort!($name, [$index], Fortran);
    };
}

macro_rules! type_free {
    ($name:literal, $place:tt, $language:ty) => {
        const _: () = {
            // Local, but the handle may be given to another datatype.
            unsafe extern "C-unwind" fn type_free(datatype: Word, ierror: Word) -> Word {
                leave_entry();
                cold(|_| {
                    if detect::detect() {
                        // SAFETY: the address of the handle.
                        datatypes::forget(unsafe {
                            <$language as ArgumentLanguage>::handle_at(datatype, 0, ConvertedHandle::Datatype)
                        });
                    }
                });
                forward!(next_function!($name, $place), (datatype, ierror))
            }
            special_entry!($name, $place, type_free);
        };
    };
}
type_free!("MPI_Type_free", [], C);

macro_rules! fortran_type_free {
    ($name:literal, $index:literal) => {
        type_free!($name, [$index], Fortran);
    };
}

fn control(level: i32, label: Word) {
    // Not within the recorder, where markers refuse to run.
    guard::guarded(|| {
        if process_state::pcontrol_labels() {
            // SAFETY: the user said that the program passes labels.
            unsafe { pcontrol::control_labelled(level, label as *const c_char) };
        } else {
            pcontrol::control(level);
        }
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
    ($name:literal, $index:literal) => {
        const _: () = {
            unsafe extern "C-unwind" fn pcontrol(level: Word) -> Word {
                leave_entry();
                // SAFETY: the address of an INTEGER. Fortran's has no label.
                control(unsafe { int_at(level) }, 0);
                forward!(next_function!($name, [$index]), (level))
            }
            special_entry!($name, [$index], pcontrol);
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
    ($name:literal, $place:tt, $language:ty) => {
        const _: () = {
            // MPI-4.1 §11.3. Recording starts with the first communicator.
            unsafe extern "C-unwind" fn init(info: Word, errhandler: Word, session: Word, ierror: Word) -> Word {
                leave_entry();
                cold(|_| start::before_init());
                outermost(|outermost| {
                    let result = forward!(next_function!($name, $place), (info, errhandler, session, ierror));
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
            special_entry!($name, $place, init);
        };
    };
}
session_init!("MPI_Session_init", [], C);

macro_rules! fortran_session_init {
    ($name:literal, $index:literal) => {
        session_init!($name, [$index], Fortran);
    };
}

macro_rules! session_finalize {
    ($name:literal, $place:tt) => {
        const _: () = {
            unsafe extern "C-unwind" fn finalize(session: Word, ierror: Word) -> Word {
                outermost(|outermost| {
                    if outermost {
                        // SAFETY: MPI is still initialised.
                        unsafe { end::finalising(thread::current()) };
                    }
                    leave_entry();
                    forward!(next_function!($name, $place), (session, ierror))
                })
            }
            special_entry!($name, $place, finalize);
        };
    };
}
session_finalize!("MPI_Session_finalize", []);

macro_rules! fortran_session_finalize {
    ($name:literal, $index:literal) => {
        session_finalize!($name, [$index]);
    };
}

// The Fortran entries of all of these, in each flavour.
include!(concat!(env!("OUT_DIR"), "/special.rs"));
