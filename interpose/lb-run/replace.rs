//! Becoming the program: same process, same open files, same signals.

use std::ffi::{CString, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use lbprof_collector::words::SystemError;

use crate::inspect;
use crate::launch_exit::LaunchExit;
use crate::messages::print_message;

/// Executes the program with these variables set. If that fails, says why and returns the code to end with, as a shell would.
pub fn become_program(command: &[OsString], settings: &[(OsString, OsString)]) -> LaunchExit {
    let error = execute_command(command, settings);
    let program = command.first().map(|program| program.to_string_lossy()).unwrap_or_default();
    let found = inspect::find_program(command);
    let number = error.raw_os_error();
    let is_missing = found.is_none() && matches!(number, Some(libc::ENOENT | libc::ENOTDIR));
    let message = match (number, found) {
        (Some(libc::ENOENT), _) if program.is_empty() => "the name of the program is empty".to_owned(),
        (Some(libc::ENOENT | libc::ENOTDIR), None) if program.contains('/') => {
            format!("{program}: no such file: is the path right on this node and from this folder?")
        }
        (Some(libc::ENOENT | libc::ENOTDIR), None) => {
            format!("{program}: no such command in PATH; to run a program in this folder, write ./{program}")
        }
        (Some(libc::ENOENT), Some(path)) => {
            format!("{}: its interpreter or dynamic loader does not exist", path.display())
        }
        (Some(libc::EACCES), _) if Path::new(&*program).is_dir() => {
            format!("{program}: this is a folder, not a program")
        }
        (Some(libc::EACCES), _) => format!("{program}: permission denied; chmod +x makes a file executable"),
        _ => format!("{program}: {}", SystemError(&error)),
    };
    print_message(format_args!("{message}"));
    if is_missing { LaunchExit::NotFound } else { LaunchExit::NotExecutable }
}

/// Returns the addresses of strings, and null at the end.
fn string_pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]).collect()
}

fn execute_command(command: &[OsString], settings: &[(OsString, OsString)]) -> io::Error {
    let Ok(arguments) = command.iter().map(|word| CString::new(word.as_bytes())).collect::<Result<Vec<_>, _>>() else {
        return io::ErrorKind::InvalidInput.into();
    };
    let Some(program) = arguments.first() else { return io::ErrorKind::InvalidInput.into() };
    let inherited = std::env::vars_os().filter(|(name, _)| settings.iter().all(|(set, _)| set != name));
    let environment: Vec<CString> = inherited
        .chain(settings.iter().cloned())
        .filter_map(|(name, value)| CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()).ok())
        .collect();
    let (argv, envp) = (string_pointers(&arguments), string_pointers(&environment));
    // execvpe passes files that the system cannot execute to a shell: right for a script without a first line, not for the
    // machine code of another processor.
    let binary = inspect::find_program(command).filter(|path| inspect::is_binary(path));
    let binary = binary.and_then(|path| CString::new(path.into_os_string().into_vec()).ok());
    // SAFETY: both lists end with null and point to strings that live on.
    unsafe {
        match binary {
            Some(path) => libc::execve(path.as_ptr(), argv.as_ptr(), envp.as_ptr()),
            None => libc::execvpe(program.as_ptr(), argv.as_ptr(), envp.as_ptr()),
        };
    }
    io::Error::last_os_error()
}
