//! The head: what ran, on how many ranks, how long.

use super::{BOLD, DIM, TextOptions};
use crate::Report;
use crate::phrases::names::LONGEST_NAME;
use crate::words::{clean, count, mpi_name, plural, seconds, shorten, width, wrap};
use lbprof_analysis::read::open::ranges;

/// Most parameters of the user's in the head.
const MOST_PARAMS: usize = 8;

/// Columns that a command line needs beside the facts.
const SHORT_COMMAND: usize = 24;

/// Most programs in the head.
const MOST_PROGRAMS: usize = 4;

pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    let facts = &report.facts;
    let mut parts = vec![format!("{} on {}", ranks(report), plural(report.data.hosts as u64, "host"))];
    if !facts.mpi.is_empty() {
        parts.push(shown_mpi(&facts.mpi));
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
    // In one line, if the command leaves room.
    let room = options.columns.saturating_sub(width(&parts) + 3);
    let command = in_columns(&facts.command, if room < SHORT_COMMAND { options.columns } else { room });
    match width(&command) <= room {
        true => format!("{BOLD}{command}{BOLD:#}{DIM} · {parts}{DIM:#}\n\n"),
        false => format!("{BOLD}{command}{BOLD:#}\n{DIM}{}{DIM:#}\n\n", wrap(&parts, options.columns, 0)),
    }
}

/// Returns a command line in so many columns.
fn in_columns(command: &[String], columns: usize) -> String {
    let words: Vec<String> = command.iter().map(|word| clean(word)).collect();
    shorten(&words.join(" "), columns)
}

/// Returns a line for each of several programs, with its ranks.
fn commands(report: &Report, options: &TextOptions) -> String {
    let programs = &report.facts.programs.programs;
    let mut text = String::new();
    for program in programs.iter().take(MOST_PROGRAMS) {
        let all: Vec<u32> = program.ranks.iter().collect();
        let ranks = format!(" ({} {})", if all.len() == 1 { "rank" } else { "ranks" }, ranges(&all));
        let ranks = shorten(&ranks, options.columns / 2);
        let columns = options.columns.saturating_sub(ranks.chars().count());
        text.push_str(&format!("{BOLD}{}{BOLD:#}{DIM}{ranks}{DIM:#}\n", in_columns(&program.command, columns)));
    }
    if programs.len() > MOST_PROGRAMS {
        let more = plural((programs.len() - MOST_PROGRAMS) as u64, "more program");
        text.push_str(&format!("{DIM}and {more} or arguments; the JSON has them{DIM:#}\n"));
    }
    text
}

/// `8 ranks`, or `4 of 8 ranks` if ranks were selected.
fn ranks(report: &Report) -> String {
    let all = plural(u64::from(report.facts.n_ranks), "rank");
    match &report.facts.selected.ranks {
        Some(selected) => format!("{} of {all}", count(selected.len() as u64)),
        None => all,
    }
}

/// Name and version of an MPI, as a line has room for them.
fn shown_mpi(mpi: &str) -> String {
    let words: Vec<&str> = mpi_name(mpi).split_whitespace().collect();
    shorten(&clean(&words.join(" ")), LONGEST_NAME)
}
