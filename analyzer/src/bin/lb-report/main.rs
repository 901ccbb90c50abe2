//! `lb-report`: arguments, progress, exit codes, nothing else. Each command is a file, with what the user may choose of it.

mod compare;
mod dump;
mod examples;
mod exit;
mod export;
mod memory;
mod on_disk;
mod output;
mod processor;
mod progress;
mod report;
mod run;
mod shell;
mod study;
mod whole_file;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use clap_complete::Shell;

use crate::compare::CompareArguments;
use crate::dump::DumpArguments;
use crate::exit::{Exit, fail};
use crate::export::ExportArguments;
use crate::output::Common;
use crate::report::ReportArguments;
use crate::study::StudyArguments;

/// Reports how well a recorded MPI run was balanced: how much time was lost, where and why.
#[derive(Parser)]
#[command(name = "lb-report", version, args_conflicts_with_subcommands = true)]
#[command(after_help = examples::SHORT, after_long_help = examples::REPORT)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    common: Common,
}

#[derive(Subcommand)]
enum Command {
    /// Explain what changed between runs; in CI, fail on conditions.
    #[command(after_help = examples::MORE, after_long_help = examples::COMPARE)]
    Compare(CompareArguments),
    /// Keep the figures of several runs and show them side by side.
    Study(StudyArguments),
    /// Print every record of a run as JSON lines.
    Dump(DumpArguments),
    /// Write a run in a format that other programs read.
    #[command(after_help = examples::MORE, after_long_help = examples::EXPORT)]
    Export(ExportArguments),
    /// Print a shell's completion script.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the manual page, or write the pages of all commands into DIR.
    Man {
        /// Folder for the manual pages, one file per command.
        dir: Option<PathBuf>,
    },
}

fn main() -> ExitCode {
    // To follow all ranks their logs are open at once. What the system refuses is reported where a log cannot be opened.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Good };
            // Help that nobody reads to its end is no error.
            let _ = error.print();
            return exit.into();
        }
    };
    let result = match &arguments.command {
        Some(Command::Compare(compare)) => compare::run(compare),
        Some(Command::Study(study)) => study::run(study),
        Some(Command::Dump(dump)) => dump::run(dump),
        Some(Command::Export(export)) => export::run(export),
        Some(Command::Completions { shell }) => shell::completions(*shell),
        Some(Command::Man { dir }) => shell::manual(dir.as_deref()),
        None => report::run(&arguments.report, &arguments.common),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) => fail(&error).into(),
    }
}
