//! The ends of a program without MPI that run no function at exit: `_exit`, by which some shells end, and becoming another program.
//!
//! The functions go on to the next one of their name, or to the system. Before that they report something only in the process that `lb-run` became, while
//! MPI was not started. They neither allocate nor lock: they may be called in a signal handler, or in a child that shares its parent's memory.

use std::ffi::{c_char, c_int};

use crate::lifecycle::mpi_not_started;
use crate::system::foreign::NextFunction;

type Exit = unsafe extern "C" fn(c_int) -> !;
type Execute = unsafe extern "C" fn(*const c_char, *const *const c_char, *const *const c_char) -> c_int;
type ExecuteAsIs = unsafe extern "C" fn(*const c_char, *const *const c_char) -> c_int;

static EXIT: NextFunction = NextFunction::named(c"_exit");
static EXECVE: NextFunction = NextFunction::named(c"execve");
static EXECV: NextFunction = NextFunction::named(c"execv");
static EXECVP: NextFunction = NextFunction::named(c"execvp");

/// Runs when the dynamic loader has loaded the recorder, before the program.
#[ctor::ctor(unsafe)]
fn at_load() {
    for next in [&EXIT, &EXECVE, &EXECV, &EXECVP] {
        next.address();
    }
}

/// POSIX.1-2017, _exit.
#[unsafe(export_name = "_exit")]
unsafe extern "C" fn exit_at_once(status: c_int) -> ! {
    mpi_not_started::report_unstarted(Some(status));
    let next = EXIT.known_address();
    // SAFETY: the function of this name has this signature; so has the system call, which does not return.
    unsafe {
        if next != 0 {
            std::mem::transmute::<usize, Exit>(next)(status);
        }
        loop {
            libc::syscall(libc::SYS_exit_group, status);
        }
    }
}

/// POSIX.1-2017, exec.
#[unsafe(export_name = "execve")]
unsafe extern "C" fn execute_program(
    path: *const c_char,
    argv: *const *const c_char,
    envp: *const *const c_char,
) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        mpi_not_started::report_execution(path, envp);
        match EXECVE.known_address() {
            0 => libc::syscall(libc::SYS_execve, path, argv, envp) as c_int,
            next => std::mem::transmute::<usize, Execute>(next)(path, argv, envp),
        }
    }
}

/// POSIX.1-2017, exec: with the process's own environment.
#[unsafe(export_name = "execv")]
unsafe extern "C" fn execute_in_place(path: *const c_char, argv: *const *const c_char) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe { execute_as_is(&EXECV, path, argv) }
}

/// Replaces the process by a file that is looked for in PATH.
#[unsafe(export_name = "execvp")]
unsafe extern "C" fn execute_from_path(file: *const c_char, argv: *const *const c_char) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe { execute_as_is(&EXECVP, file, argv) }
}

/// Goes on to `next`, which executes a file with the process's own environment.
///
/// # Safety
/// The arguments fit such a function.
unsafe fn execute_as_is(next: &NextFunction, file: *const c_char, argv: *const *const c_char) -> c_int {
    unsafe extern "C" {
        static environ: *const *const c_char;
    }
    // SAFETY: the program's own arguments; the environment ends with null. Every C library has functions of these names.
    unsafe {
        mpi_not_started::report_execution(file, environ);
        match next.known_address() {
            0 => -1,
            next => std::mem::transmute::<usize, ExecuteAsIs>(next)(file, argv),
        }
    }
}
