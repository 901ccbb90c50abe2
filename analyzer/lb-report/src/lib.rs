//! The commands of `lb-report` and `lb-report-mpi`: arguments, progress and exit codes. Each command is a file.

mod ascii;
mod atomic_file;
pub mod code_reader;
pub mod command_line;
mod compare;
mod dump;
mod examples;
pub mod exit;
mod export;
pub mod limits;
mod live;
pub mod opening;
mod output;
mod progress;
mod report;
mod run;
mod shell;
mod study;
mod watch;
