//! Completions for shells and manual pages of lb-report.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use clap::Command;
use clap_complete::Shell;

use crate::exit::ReportExit;

pub fn print_completions(shell: Shell, grammar: &mut Command) -> anyhow::Result<ReportExit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, grammar, "lb-report", &mut script);
    // The script for bash names the cases of commands differently where the program's name has a hyphen (clap_complete 4.6.11).
    let script = String::from_utf8_lossy(&script).replace("lb__subcmd__report", "lb__report");
    io::stdout().lock().write_all(script.as_bytes()).context("standard output")?;
    Ok(ReportExit::Good)
}

/// Adds a synopsis that includes the values of options.
fn with_synopsis(command: Command) -> Command {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned();
    let mut words = vec![name];
    for option in command.get_arguments().filter(|one| !one.is_positional() && !one.is_hide_set()) {
        let Some(long) = option.get_long() else { continue };
        let short = option.get_short().map_or_else(String::new, |short| format!("-{short}|"));
        let takes_value = option.get_action().takes_values();
        let names = option.get_value_names().filter(|_| takes_value).unwrap_or_default().join(" ");
        let value = match option.get_num_args().map_or(1, |count| count.min_values()) {
            _ if names.is_empty() => String::new(),
            0 => format!(" [{names}]"),
            _ => format!(" {names}"),
        };
        words.push(format!("[{short}--{long}{value}]"));
    }
    for one in command.get_positionals().filter(|one| !one.is_hide_set()) {
        let name = one.get_value_names().unwrap_or_default().join(" ");
        words.push(if one.is_required_set() { name } else { format!("[{name}]") });
    }
    let mut usage = words.join(" ");
    if command.has_subcommands() {
        usage.push_str(&format!("\n{} COMMAND ...", words[0]));
    }
    command.override_usage(usage).mut_subcommands(with_synopsis)
}

/// Prints the manual, or writes a page per command into a folder.
pub fn write_manual(grammar: Command, dir: Option<&Path>) -> anyhow::Result<ReportExit> {
    let mut command = grammar.disable_help_subcommand(true);
    command.build();
    let command = with_synopsis(command);
    match dir {
        Some(dir) => {
            let written = fs::create_dir_all(dir).and_then(|()| clap_mangen::generate_to(command, dir));
            written.with_context(|| dir.display().to_string())?;
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page)?;
            io::stdout().lock().write_all(&page).context("standard output")?;
        }
    }
    Ok(ReportExit::Good)
}
