//! `lb-run`: runs one rank of an MPI program with liblbprof.so preloaded.
//!
//! `mpirun -n 4 lb-run [options] ./app arguments`: it sets LD_PRELOAD and `LBPROF_*` for the program alone, and becomes it.
//! Output, exit code, open files and signals are the program's own.
//!
//! | module | what it does |
//! |---|---|
//! | `options` | the command line |
//! | `job` | what names the job that the rank is of |
//! | `library` | where liblbprof.so lies; LD_PRELOAD |
//! | `inspect` | why a program could not be recorded |
//! | `warm_up` | what the kernel needs for samples |
//! | `replace` | becoming the program |
//! | `report_after` | staying as the program's parent, and the report at its end |
//! | `shell` | completions, the manual |

// Without Rust's start-up, which would change what the program inherits: it ignores SIGPIPE and opens closed descriptors.
#![cfg_attr(not(test), no_main)]

#[path = "lb-run/inspect.rs"]
mod inspect;
#[path = "../run/job.rs"]
mod job;
#[path = "lb-run/library.rs"]
mod library;
#[path = "lb-run/options.rs"]
mod options;
#[path = "../system/perf/descriptor.rs"]
mod perf_descriptor;
#[path = "lb-run/replace.rs"]
mod replace;
#[path = "lb-run/report_after.rs"]
mod report_after;
#[path = "lb-run/shell.rs"]
mod shell;
#[path = "lb-run/warm_up.rs"]
mod warm_up;

use std::ffi::{OsString, c_char, c_int};
use std::fmt::Arguments;
use std::io::Write;

use crate::inspect::RecordingObstacle;
use crate::report_after::ForkRole;

/// The exit code of lb-run if it does not become the program. Codes of 125 and above are those of `env` and shells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum LaunchExit {
    /// A text about lb-run itself was requested and printed.
    Good = 0,
    /// The manual or completions could not be printed.
    Unwritten = 1,
    /// The command line was wrong.
    Usage = 2,
    /// liblbprof.so was not found.
    Library = 125,
    /// The program was found, but cannot be executed.
    NotExecutable = 126,
    /// The program was not found.
    NotFound = 127,
}

/// Says one line on standard error, in one piece, for ranks share it.
fn say(message: Arguments) {
    // Nobody may be listening: that is no reason not to go on.
    let _ = std::io::stderr().write_all(format!("lb-run: {message}\n").as_bytes());
}

/// Returns whether this is the first rank, as far as the launcher says: what holds for all ranks is said once.
fn is_first_rank() -> bool {
    const RANK: [&str; 9] = [
        "OMPI_COMM_WORLD_RANK",
        "PMIX_RANK",
        "PMI_RANK",
        "MV2_COMM_WORLD_RANK",
        "PALS_RANKID",
        "ALPS_APP_PE",
        "FLUX_TASK_RANK",
        "SLURM_PROCID",
        "JSM_NAMESPACE_RANK",
    ];
    is_zero(&RANK)
}

/// Returns whether the number that a launcher gives in one of these variables is 0; so too where none is set.
fn is_zero(variables: &[&str]) -> bool {
    variables.iter().find_map(|name| std::env::var(name).ok()).is_none_or(|number| number.trim() == "0")
}

fn run() -> LaunchExit {
    let options = match options::parse(std::env::args_os()) {
        Ok(options) => options,
        Err(exit) => return exit,
    };
    let library = match library::find() {
        Ok(Some(library)) => library,
        Ok(None) => {
            if is_first_rank() {
                say(format_args!("/proc is not there, so nothing is recorded: mount it (mount -t proc proc /proc)"));
            }
            return become_program(&options.command, &options.settings);
        }
        Err(error) => {
            if is_first_rank() {
                say(format_args!("{error:#}"));
            }
            return LaunchExit::Library;
        }
    };
    warm_up::warm_up(&options.settings);
    let obstacles = inspect::obstacles(&options.command, &library);
    for obstacle in obstacles.iter().filter(|_| is_first_rank()) {
        say(format_args!("{obstacle}"));
    }
    let mut settings = options.settings;
    if !obstacles.iter().any(RecordingObstacle::is_in_the_loader) {
        settings.push(("LD_PRELOAD".into(), library::preload(&library, std::env::var_os("LD_PRELOAD"))));
    }
    settings.push(("ASAN_OPTIONS".into(), library::asan_options(std::env::var_os("ASAN_OPTIONS"))));
    // One that lb-run has inherited is not of this job.
    settings.push((job::VARIABLE.into(), job::key().unwrap_or_default().into()));
    if options.reports && is_first_rank() {
        settings.push(fork_for_report());
    }
    settings.push((job::PROCESS_VARIABLE.into(), std::process::id().to_string().into()));
    become_program(&options.command, &settings)
}

/// Starts another process that returns from here, to become the program; this one prints the report at its end. Returns the variable by which the recorder
/// finds where to write the run's folder: none where the report cannot be printed.
fn fork_for_report() -> (OsString, OsString) {
    let forked =
        report_after::make_folder_file().and_then(|file| report_after::fork(file.clone()).map(|role| (file, role)));
    let file = match forked {
        Ok((_, ForkRole::Parent(parent))) => parent.report_and_end(),
        Ok((file, ForkRole::Program)) => file.into_os_string(),
        Err(error) => {
            say(format_args!("no report will be printed: {error}"));
            OsString::new()
        }
    };
    (job::FOLDER_VARIABLE.into(), file)
}

/// Becomes the program; returns only if that fails, after saying why.
fn become_program(command: &[OsString], settings: &[(OsString, OsString)]) -> LaunchExit {
    let error = replace::become_program(command, settings);
    say(format_args!("{}", error.message));
    error.exit
}

/// # Safety
/// Called by the C library, once.
#[cfg_attr(not(test), unsafe(export_name = "main"))]
#[cfg_attr(test, expect(dead_code, reason = "the tests bring their own"))]
unsafe extern "C" fn entry(_count: c_int, _arguments: *const *const c_char) -> c_int {
    // The C library gives the arguments to std::env, too.
    run() as c_int
}
