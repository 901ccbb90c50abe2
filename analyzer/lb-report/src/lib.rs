//! The commands of `lb-report` and `lb-report-mpi`: arguments, progress and exit codes. Each command is a file.

pub mod code_reader;
pub mod command_line;
mod commands;
mod examples;
pub mod exit;
pub mod limits;
pub mod opening;
mod output;
mod run;
mod shell;
mod watch;
