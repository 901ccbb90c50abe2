//! The functions that a row of the table cannot describe. Each serves C and Fortran, whose arguments may be fewer: then the last ones are
//! registers that are not read.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int};

use crate::forward::{self, NEXT, fortran_names};
use crate::handles::datatypes;
use crate::harmless::{enter, guard};
use crate::lifecycle::{end, finalize, process_state, start};
use crate::machine::processor::{entry, fortran_entry};
use crate::machine::word::{Word, int_at};
use crate::mpi::lang::{ArgumentLanguage, C, ConvertedHandle, Fortran};
use crate::mpi::symbols;
use crate::mpi::{abi, call, detect};
use crate::sources::markers::pcontrol;
use crate::state::entered;
use crate::state::thread::{self, RecorderThread};

/// A call of one of these functions, on its way to the function that the program meant to call.
#[derive(Clone, Copy)]
struct SpecialCall {
    /// The name for profiling in C.
    profiling: &'static CStr,
    /// The place in [`NEXT`] that an entry in Fortran has noted.
    next: usize,
}

impl SpecialCall {
    /// Reads the entry's note, so it comes first.
    fn new(profiling: &'static CStr) -> Self {
        SpecialCall { profiling, next: thread::current_thread().next.get() }
    }

    /// Makes the real call. The function in C is looked up by name, the one in Fortran was found by the entry.
    ///
    /// # Safety
    /// The arguments are the program's own.
    unsafe fn forward<L: ArgumentLanguage>(self, [a, b, c, d]: [Word; 4]) -> Word {
        let function = if L::FORTRAN {
            forward::next_at(self.next)
        } else {
            let own = self.profiling.to_bytes_with_nul().get(1..).unwrap_or_default();
            symbols::find_function(self.profiling, CStr::from_bytes_with_nul(own).unwrap_or_default())
        };
        let code = match function {
            0 => abi::current_abi().err_other,
            // SAFETY: the program's own arguments, passed on to the function that it meant to call.
            _ => unsafe { call::call_at(function, [a, b, c, d, 0, 0, 0, 0]) },
        };
        code as u32 as Word
    }
}

/// Runs the library's part of a rare function.
fn run_cold(work: impl FnOnce(&RecorderThread)) {
    enter::enter_cold(|| work(thread::current_thread()));
}

/// Returns whether a call succeeded. `ierror` is optional in mpi_f08.
///
/// # Safety
/// In Fortran, `ierror` is null or the address of an INTEGER.
unsafe fn has_succeeded<L: ArgumentLanguage>(result: Word, ierror: Word) -> bool {
    if !L::FORTRAN {
        return result as i32 == 0;
    }
    // SAFETY: the caller's promise.
    ierror == 0 || unsafe { int_at(ierror) == 0 }
}

/// Returns the thread level that MPI_Init_thread has stored, or MPI's answer if the program does not want to know.
///
/// # Safety
/// `provided` is null, or the address that a successful call has filled.
unsafe fn provided_level(provided: Word) -> c_int {
    // SAFETY: the caller's promise.
    if provided == 0 { call::ask_mpi(c"PMPI_Query_thread", [], 0) } else { unsafe { int_at(provided) } }
}

fn on_initialised(level: c_int) {
    // Also if recording was given up by now, because the other ranks count on this one.
    enter::enter_quietly(|| {
        guard::catch_panic(|| {
            if detect::detect_mpi() {
                start::on_initialised(thread::current_thread(), start::thread_level(level));
            }
        });
    });
}

/// Runs `work`, which is given whether it is outside of all other such calls on this thread: Fortran's MPI_Init may call C's.
fn run_outermost<T>(work: impl FnOnce(bool) -> T) -> T {
    thread_local!(static DEPTH: Cell<u32> = const { Cell::new(0) });
    let depth = DEPTH.replace(DEPTH.get() + 1);
    let result = work(depth == 0);
    DEPTH.set(DEPTH.get().saturating_sub(1));
    result
}

/// Forgets the entry's note, which these functions do not need any more.
fn leave_entry() {
    entered::leave_entry_state(thread::current_thread());
}

/// Initialises MPI. `note` runs after the outermost call, if that was successful.
///
/// # Safety
/// The arguments are the program's own.
unsafe fn initialise_mpi<L: ArgumentLanguage>(
    call: SpecialCall,
    arguments: [Word; 4],
    ierror: Word,
    note: impl FnOnce(),
) -> Word {
    leave_entry();
    run_cold(|_| start::before_init());
    // SAFETY: the caller's promise; the call has just filled `ierror`.
    run_outermost(|outermost| unsafe {
        let result = call.forward::<L>(arguments);
        if outermost && has_succeeded::<L>(result, ierror) {
            note();
        }
        result
    })
}

/// Finalises MPI. `note` runs after the outermost call.
///
/// # Safety
/// The arguments are the program's own.
unsafe fn finalise<L: ArgumentLanguage>(call: SpecialCall, arguments: [Word; 4], note: impl FnOnce()) -> Word {
    // SAFETY: MPI is still initialised; the caller's promise.
    run_outermost(|outermost| unsafe {
        if outermost {
            end::on_finalize(thread::current_thread());
        }
        leave_entry();
        let result = call.forward::<L>(arguments);
        if outermost {
            note();
        }
        result
    })
}

/// MPI_Init(argc, argv), in Fortran (ierror) (MPI-4.1 §11.2.1).
unsafe extern "C-unwind" fn wrap_init<L: ArgumentLanguage>(a: Word, b: Word) -> Word {
    // SAFETY: the program's own arguments.
    unsafe { initialise_mpi::<L>(SpecialCall::new(c"PMPI_Init"), [a, b, 0, 0], a, || on_initialised(0)) }
}
entry!("MPI_Init", wrap_init::<C>);

/// MPI_Init_thread(argc, argv, required, provided), in Fortran (required, provided, ierror).
unsafe extern "C-unwind" fn wrap_init_thread<L: ArgumentLanguage>(a: Word, b: Word, c: Word, d: Word) -> Word {
    let provided = if L::FORTRAN { b } else { d };
    let call = SpecialCall::new(c"PMPI_Init_thread");
    // SAFETY: the program's own arguments, of which a successful call has filled `provided`.
    unsafe { initialise_mpi::<L>(call, [a, b, c, d], c, || on_initialised(provided_level(provided))) }
}
entry!("MPI_Init_thread", wrap_init_thread::<C>);

/// MPI_Finalize (MPI-4.1 §11.2.2), which has no argument in C.
unsafe extern "C-unwind" fn wrap_finalize<L: ArgumentLanguage>(ierror: Word) -> Word {
    // SAFETY: the program's own argument.
    unsafe { finalise::<L>(SpecialCall::new(c"PMPI_Finalize"), [ierror, 0, 0, 0], finalize::note_return) }
}
entry!("MPI_Finalize", wrap_finalize::<C>);

unsafe extern "C-unwind" fn wrap_abort<L: ArgumentLanguage>(comm: Word, errorcode: Word, ierror: Word) -> Word {
    let call = SpecialCall::new(c"PMPI_Abort");
    leave_entry();
    // SAFETY: the program's own arguments.
    unsafe {
        run_cold(|thread| end::on_abort(thread, L::int(errorcode)));
        call.forward::<L>([comm, errorcode, ierror, 0])
    }
}
entry!("MPI_Abort", wrap_abort::<C>);

/// MPI_Type_free is local, but the handle may be given to another datatype.
unsafe extern "C-unwind" fn wrap_type_free<L: ArgumentLanguage>(datatype: Word, ierror: Word) -> Word {
    let call = SpecialCall::new(c"PMPI_Type_free");
    leave_entry();
    // SAFETY: the program's own arguments, the first of them the address of the handle.
    unsafe {
        run_cold(|_| {
            if detect::detect_mpi() {
                datatypes::forget_datatype(L::handle_at(datatype, 0, ConvertedHandle::Datatype));
            }
        });
        call.forward::<L>([datatype, ierror, 0, 0])
    }
}
entry!("MPI_Type_free", wrap_type_free::<C>);

fn control_phases(level: i32, label: Word) {
    // Not within the recorder, where markers refuse to run.
    guard::run_guarded(|| {
        if process_state::pcontrol_labels() {
            // SAFETY: the user has set that the program passes labels.
            unsafe { pcontrol::control_labelled(level, label as *const c_char) };
        } else {
            pcontrol::handle_pcontrol(level);
        }
    });
}

/// MPI-4.1 §15.2.4. The C function is variadic; a second argument, if there is one, is in the register of `label`.
#[unsafe(export_name = "MPI_Pcontrol")]
unsafe extern "C-unwind" fn pcontrol(level: c_int, label: Word) -> Word {
    control_phases(level, label);
    let next = symbols::find_function(c"PMPI_Pcontrol", c"MPI_Pcontrol");
    if next == 0 {
        return 0;
    }
    // SAFETY: the function's own signature; it ignores arguments that it does not know.
    unsafe {
        let next: unsafe extern "C-unwind" fn(c_int, ...) -> c_int = std::mem::transmute(next);
        next(level, label) as u32 as Word
    }
}

/// MPI_PCONTROL of Fortran, which has no label.
unsafe extern "C-unwind" fn wrap_pcontrol<L: ArgumentLanguage>(level: Word) -> Word {
    let call = SpecialCall::new(c"PMPI_Pcontrol");
    leave_entry();
    // SAFETY: the program's own argument.
    unsafe {
        control_phases(L::int(level), 0);
        call.forward::<L>([level, 0, 0, 0])
    }
}

/// MPI_Session_init (MPI-4.1 §11.3). Recording starts with the first communicator.
unsafe extern "C-unwind" fn wrap_session_init<L: ArgumentLanguage>(
    info: Word,
    errhandler: Word,
    session: Word,
    ierror: Word,
) -> Word {
    let call = SpecialCall::new(c"PMPI_Session_init");
    // SAFETY: the program's own arguments, of which a successful call has filled `session`.
    unsafe {
        initialise_mpi::<L>(call, [info, errhandler, session, ierror], ierror, || {
            run_cold(|thread| {
                if detect::detect_mpi() {
                    start::session_initialised(thread, L::handle_at(session, 0, ConvertedHandle::Session));
                }
            });
        })
    }
}
entry!("MPI_Session_init", wrap_session_init::<C>);

unsafe extern "C-unwind" fn wrap_session_finalize<L: ArgumentLanguage>(session: Word, ierror: Word) -> Word {
    // SAFETY: the program's own arguments.
    unsafe { finalise::<L>(SpecialCall::new(c"PMPI_Session_finalize"), [session, ierror, 0, 0], || {}) }
}
entry!("MPI_Session_finalize", wrap_session_finalize::<C>);

// The Fortran entries of all of these, in each flavour.
include!(concat!(env!("OUT_DIR"), "/special.rs"));
