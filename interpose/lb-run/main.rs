//! `lb-run`: runs one rank of an MPI program with liblbprof.so preloaded.
//!
//! `mpirun -n 4 lb-run [options] ./app arguments`: it sets LD_PRELOAD and `LBPROF_*` for the program alone, and becomes it.
//! Output, exit code, open files and signals are the program's own.
//!
//! | module | what it does |
//! |---|---|
//! | `options` | the command line, the manual |
//! | `library` | where liblbprof.so lies; LD_PRELOAD |
//! | `inspect` | why a program could not be recorded |
//! | `replace` | becoming the program |
//! | `report_after` | staying as the program's parent, and the report at its end |
//! | `launch_exit`, `messages` | exit codes, messages |

// Without Rust's start-up, which would change what the program inherits: it ignores SIGPIPE and opens closed descriptors.
#![cfg_attr(not(test), no_main)]

mod inspect;
mod launch_exit;
mod library;
mod messages;
mod options;
mod replace;
mod report_after;

use std::ffi::{OsString, c_char, c_int};

use lbprof_collector::words::SystemError;
use lbprof_launch::job;

use crate::inspect::RecordingObstacle;
use crate::launch_exit::LaunchExit;
use crate::messages::print_message;
use crate::replace::become_program;

/// Returns whether this is the first rank, as far as the launcher says. It alone prints messages that concern all ranks.
fn is_first_rank() -> bool {
    job::RANK_VARIABLES.iter().find_map(|name| std::env::var(name).ok()).is_none_or(|number| number.trim() == "0")
}

fn run_rank() -> LaunchExit {
    let options = match options::parse_command_line(std::env::args_os()) {
        Ok(options) => options,
        Err(exit) => return exit,
    };
    let library = match library::find_library() {
        Ok(Some(library)) => library,
        Ok(None) => {
            if is_first_rank() {
                print_message(format_args!(
                    "/proc is not there, so nothing is recorded: mount it (mount -t proc proc /proc)"
                ));
            }
            return become_program(&options.command, &options.settings);
        }
        Err(error) => {
            if is_first_rank() {
                print_message(format_args!("{error:#}"));
            }
            return LaunchExit::Library;
        }
    };
    let obstacles = inspect::find_obstacles(&options.command, &library);
    for obstacle in obstacles.iter().filter(|_| is_first_rank()) {
        print_message(format_args!("{obstacle}"));
    }
    let mut settings = options.settings;
    if !obstacles.iter().any(RecordingObstacle::is_in_the_loader) {
        settings.push(("LD_PRELOAD".into(), library::preload_list(&library, std::env::var_os("LD_PRELOAD"))));
    }
    settings.push(("ASAN_OPTIONS".into(), library::asan_options(std::env::var_os("ASAN_OPTIONS"))));
    // An inherited key does not belong to this job, unless the user has chosen it.
    let key = job::job_key().filter(|key| !key.starts_with(job::PARENT)).unwrap_or_else(job::parent_key);
    settings.push((job::VARIABLE.into(), key.into()));
    if options.reports && is_first_rank() {
        settings.push(fork_for_report());
    }
    settings.push((job::PROCESS_VARIABLE.into(), std::process::id().to_string().into()));
    become_program(&options.command, &settings)
}

/// Starts another process that returns from here, to become the program; this one prints the report at its end. Returns the variable by which the recorder
/// finds where to write the run's folder; empty if the report cannot be printed.
fn fork_for_report() -> (OsString, OsString) {
    let forked =
        report_after::make_folder_file().and_then(|file| Ok((report_after::fork_program(file.clone())?, file)));
    let file = match forked {
        Ok((Some(parent), _)) => parent.report_and_end(),
        Ok((None, file)) => file.into_os_string(),
        Err(error) => {
            print_message(format_args!("no report will be printed: {}", SystemError(&error)));
            OsString::new()
        }
    };
    (job::FOLDER_VARIABLE.into(), file)
}

/// # Safety
/// Called by the C library, once.
#[cfg_attr(not(test), unsafe(export_name = "main"))]
#[cfg_attr(test, expect(dead_code, reason = "the tests bring their own"))]
unsafe extern "C" fn entry(_count: c_int, _arguments: *const *const c_char) -> c_int {
    // The C library gives the arguments to std::env, too.
    run_rank() as c_int
}
