//! The head: command, ranks and elapsed time.

use super::{BOLD, DIM, TextOptions};
use crate::Report;
use crate::phrases::names::LONGEST_NAME;
use crate::phrases::ranks::named_ranks;
use crate::words::{clean, count, mpi_name, plural, seconds, shorten, width, wrap};

const MOST_PARAMS: usize = 8;

/// Minimum width of a command on the line of the facts.
const SHORT_COMMAND: usize = 24;

const MOST_PROGRAMS: usize = 4;

pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    let facts = &report.facts;
    let mut parts = vec![format!("{} on {}", ranks(report), plural(report.data.hosts as u64, "host"))];
    if !facts.mpi.is_empty() {
        let words: Vec<&str> = mpi_name(&facts.mpi).split_whitespace().collect();
        parts.push(shorten(&clean(&words.join(" ")), LONGEST_NAME));
    }
    parts.push(seconds(report.data.elapsed_s));
    parts.extend(facts.params.iter().take(MOST_PARAMS).map(|(name, value)| format!("{}={value}", clean(name))));
    if facts.params.len() > MOST_PARAMS {
        parts.push(plural((facts.params.len() - MOST_PARAMS) as u64, "more parameter"));
    }
    let parts = parts.join(" · ");
    if facts.programs.programs.len() > 1 {
        return format!("{}{DIM}{}{DIM:#}\n\n", commands(report, options), wrap(&parts, options.columns, 0));
    }
    let room = options.columns.saturating_sub(width(&parts) + 3);
    let command = in_columns(&facts.command, if room < SHORT_COMMAND { options.columns } else { room });
    match width(&command) <= room {
        true => format!("{BOLD}{command}{BOLD:#}{DIM} · {parts}{DIM:#}\n\n"),
        false => format!("{BOLD}{command}{BOLD:#}\n{DIM}{}{DIM:#}\n\n", wrap(&parts, options.columns, 0)),
    }
}

fn in_columns(command: &[String], columns: usize) -> String {
    let words: Vec<String> = command.iter().map(|word| clean(word)).collect();
    shorten(&words.join(" "), columns)
}

/// Returns a line per program with its ranks.
fn commands(report: &Report, options: &TextOptions) -> String {
    let programs = &report.facts.programs.programs;
    let mut text = String::new();
    for program in programs.iter().take(MOST_PROGRAMS) {
        let all: Vec<u32> = program.ranks.iter().collect();
        let ranks = shorten(&format!(" ({})", named_ranks(&all)), options.columns / 2);
        let columns = options.columns.saturating_sub(ranks.chars().count());
        text.push_str(&format!("{BOLD}{}{BOLD:#}{DIM}{ranks}{DIM:#}\n", in_columns(&program.command, columns)));
    }
    if programs.len() > MOST_PROGRAMS {
        let more = plural((programs.len() - MOST_PROGRAMS) as u64, "more program");
        text.push_str(&format!("{DIM}and {more} or arguments; the JSON has them{DIM:#}\n"));
    }
    text
}

/// Formats e.g. `8 ranks`, or `4 of 8 ranks` after a selection.
fn ranks(report: &Report) -> String {
    let all = plural(u64::from(report.facts.n_ranks), "rank");
    match &report.facts.selected.ranks {
        Some(selected) => format!("{} of {all}", count(selected.len() as u64)),
        None => all,
    }
}
