//! The head: what ran, on how many ranks, how long.

use super::{BOLD, DIM, LONGEST_NAME, Options};
use crate::Report;
use crate::words::{clean, count, mpi_name, plural, seconds, shorten, wrap};

/// Most parameters of the user's in the head.
const MOST_PARAMS: usize = 8;

pub(super) fn section(report: &Report, options: &Options) -> String {
    let facts = &report.facts;
    let command: Vec<String> = facts.command.iter().map(|word| clean(word)).collect();
    let command = shorten(&command.join(" "), options.columns);
    let mut parts = vec![ranks(report)];
    if report.data.hosts > 1 {
        parts[0].push_str(&format!(" on {}", plural(report.data.hosts as u64, "host")));
    } else if let Some(rank) = report.ranks.first() {
        parts[0].push_str(&format!(" on {}", clean(&rank.host)));
    }
    if !facts.mpi.is_empty() {
        parts.push(shown_mpi(&facts.mpi));
    }
    parts.push(format!("{} elapsed", seconds(report.data.elapsed_s)));
    parts.extend(facts.params.iter().take(MOST_PARAMS).map(|(name, value)| format!("{}={value}", clean(name))));
    if facts.params.len() > MOST_PARAMS {
        parts.push(plural((facts.params.len() - MOST_PARAMS) as u64, "more parameter"));
    }
    format!("{BOLD}{command}{BOLD:#}\n{DIM}{}{DIM:#}\n\n", wrap(&parts.join(" · "), options.columns, 0))
}

/// `8 ranks`, or `4 of 8 ranks` where some were selected.
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
