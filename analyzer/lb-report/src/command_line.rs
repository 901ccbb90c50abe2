//! The command line.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use lbprof_collector::words::explain_unknown_option;

use crate::commands::compare;
use crate::commands::compare::CompareArguments;
use crate::commands::dump;
use crate::commands::dump::DumpArguments;
use crate::commands::export;
use crate::commands::export::ExportArguments;
use crate::commands::report;
use crate::commands::report::ReportArguments;
use crate::commands::study;
use crate::commands::study::StudyArguments;
use crate::examples;
use crate::exit::{ReportExit, program_name, report_failure};
use crate::limits::limit_memory;
use crate::output::CommonOptions;
use crate::shell;

/// Reports how well a recorded MPI run was balanced: how much time was lost, where and why.
#[derive(Parser)]
#[command(name = "lb-report", version, args_conflicts_with_subcommands = true)]
#[command(after_help = examples::SHORT, after_long_help = examples::REPORT)]
pub struct CommandLine {
    #[command(subcommand)]
    command: Option<ReportCommand>,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    common: CommonOptions,
}

#[derive(Subcommand)]
enum ReportCommand {
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

/// Runs the command, and reports errors.
pub fn run_command(arguments: &CommandLine) -> ReportExit {
    limit_memory();
    let result = match &arguments.command {
        Some(ReportCommand::Compare(compare)) => compare::run_compare(compare),
        Some(ReportCommand::Study(study)) => study::run_study(study),
        Some(ReportCommand::Dump(dump)) => dump::run_dump(dump),
        Some(ReportCommand::Export(export)) => export::run_export(export),
        Some(ReportCommand::Completions { shell }) => shell::print_completions(*shell, &mut CommandLine::command()),
        Some(ReportCommand::Man { dir }) => shell::write_manual(CommandLine::command(), dir.as_deref()),
        None => report::run_report(&arguments.report, &arguments.common, &CommandLine::command()),
    };
    result.unwrap_or_else(|error| report_failure(&error))
}

/// Parses the arguments of this process. Help and errors are printed if `prints`, and lead to the returned exit.
pub fn parse_arguments(prints: bool) -> Result<CommandLine, ReportExit> {
    CommandLine::try_parse().map_err(|error| {
        if prints {
            // A closed pipe during help is no error.
            let _ = match explain_unknown(&error) {
                Some(message) => writeln!(io::stderr(), "{}: {message}", program_name()),
                None => error.print(),
            };
        }
        if error.use_stderr() { ReportExit::Usage } else { ReportExit::Good }
    })
}

/// Explains an unknown option. The parser suggests to pass the word as a value, which few users mean.
fn explain_unknown(error: &clap::Error) -> Option<String> {
    let (ErrorKind::UnknownArgument, Some(ContextValue::String(option))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
    else {
        return None;
    };
    let grammar = CommandLine::command();
    let (mut command, mut path) = (&grammar, program_name().to_owned());
    for word in std::env::args().skip(1) {
        if let Some(inner) = command.find_subcommand(&word) {
            command = inner;
            path = format!("{path} {word}");
        }
    }
    let names: Vec<&str> = command.get_arguments().filter_map(Arg::get_long).collect();
    explain_unknown_option(option, &names, &path)
}
