//! The head: command, ranks and elapsed time.

use crate::Report;
use crate::findings::phrases::ranks::named_ranks;
use crate::losses::names::LONGEST_NAME;
use crate::rows::words::{
    escape_name, format_count, format_plural, format_seconds, mpi_name, shorten_text, text_width, wrap_text,
};
use crate::text::{BOLD, DIM, TextOptions};

const MOST_PARAMS: usize = 8;

/// Minimum width of a command on the line of the facts.
const SHORT_COMMAND: usize = 24;

const MOST_PROGRAMS: usize = 4;

pub(in crate::text) fn head_section(report: &Report, options: &TextOptions) -> String {
    let facts = &report.facts;
    let mut parts = vec![format!("{} on {}", rank_count(report), format_plural(report.data.hosts as u64, "host"))];
    if !facts.mpi.is_empty() {
        let words: Vec<&str> = mpi_name(&facts.mpi).split_whitespace().collect();
        parts.push(shorten_text(&escape_name(&words.join(" ")), LONGEST_NAME));
    }
    parts.push(format_seconds(report.data.elapsed_s));
    parts.extend(facts.params.iter().take(MOST_PARAMS).map(|(name, value)| format!("{}={value}", escape_name(name))));
    if facts.params.len() > MOST_PARAMS {
        parts.push(format_plural((facts.params.len() - MOST_PARAMS) as u64, "more parameter"));
    }
    let parts = parts.join(" · ");
    if facts.programs.programs.len() > 1 {
        return format!("{}{DIM}{}{DIM:#}\n\n", command_lines(report, options), wrap_text(&parts, options.columns, 0));
    }
    let room = options.columns.saturating_sub(text_width(&parts) + 3);
    let command = in_columns(&facts.command, if room < SHORT_COMMAND { options.columns } else { room });
    match text_width(&command) <= room {
        true => format!("{BOLD}{command}{BOLD:#}{DIM} · {parts}{DIM:#}\n\n"),
        false => format!("{BOLD}{command}{BOLD:#}\n{DIM}{}{DIM:#}\n\n", wrap_text(&parts, options.columns, 0)),
    }
}

fn in_columns(command: &[String], columns: usize) -> String {
    let words: Vec<String> = command.iter().map(|word| escape_name(word)).collect();
    shorten_text(&words.join(" "), columns)
}

/// Returns a line per program with its ranks.
fn command_lines(report: &Report, options: &TextOptions) -> String {
    let programs = &report.facts.programs.programs;
    let mut text = String::new();
    for program in programs.iter().take(MOST_PROGRAMS) {
        let all: Vec<u32> = program.ranks.iter().collect();
        let ranks = shorten_text(&format!(" ({})", named_ranks(&all)), options.columns / 2);
        let columns = options.columns.saturating_sub(ranks.chars().count());
        text.push_str(&format!("{BOLD}{}{BOLD:#}{DIM}{ranks}{DIM:#}\n", in_columns(&program.command, columns)));
    }
    if programs.len() > MOST_PROGRAMS {
        let more = format_plural((programs.len() - MOST_PROGRAMS) as u64, "more program");
        text.push_str(&format!("{DIM}and {more} or arguments; the JSON has them{DIM:#}\n"));
    }
    text
}

/// Formats e.g. `8 ranks`, or `4 of 8 ranks` after a selection.
fn rank_count(report: &Report) -> String {
    let all = format_plural(u64::from(report.facts.n_ranks), "rank");
    match &report.facts.selected.ranks {
        Some(selected) => format!("{} of {all}", format_count(selected.len() as u64)),
        None => all,
    }
}
