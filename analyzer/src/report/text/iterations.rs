//! The iterations of the main loop, in a sentence.

use std::collections::BTreeMap;

use super::{BOLD, Options};
use crate::report::Report;
use crate::report::words::{clean, count, percent, plural, seconds, wrap};

pub(super) fn section(report: &Report, options: &Options) -> String {
    let Some(iterations) = &report.iterations else { return String::new() };
    // One that some rank did not come to, or not to the end of, says little.
    let ranks = iterations.rows.iter().map(|row| row.ranks).max().unwrap_or(0);
    let rows: Vec<_> = iterations.rows.iter().filter(|row| row.ranks == ranks).collect();
    let n = rows.len() as f64;
    let longest = rows.iter().map(|row| row.max_s).fold(0.0, f64::max);
    let mean = rows.iter().map(|row| row.max_s).sum::<f64>() / n.max(1.0);
    let mut by_rank: BTreeMap<u32, u64> = BTreeMap::new();
    for row in &rows {
        *by_rank.entry(row.slowest_rank).or_default() += 1;
    }
    // Where ranks differ by noise alone it means nothing which one is the slowest.
    let differ = rows.iter().map(|row| row.max_s - row.mean_s).sum::<f64>() > 0.01 * mean * n;
    let often = by_rank.iter().filter(|_| differ).max_by_key(|&(rank, times)| (times, std::cmp::Reverse(rank)));
    let often = often.map_or_else(String::new, |(rank, times)| {
        let share = *times as f64 / n;
        format!("; rank {rank} is the slowest most often, in {} ({})", count(*times), percent(share))
    });
    let text = format!(
        "{} of {}: the slowest rank computes {} on average, {} at most{often}",
        plural(rows.len() as u64, "iteration"),
        clean(&iterations.region),
        seconds(mean),
        seconds(longest),
    );
    format!("{BOLD}Iterations{BOLD:#}\n  {}\n\n", wrap(&text, options.columns - 2, 2))
}
