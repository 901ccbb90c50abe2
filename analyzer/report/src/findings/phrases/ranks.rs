//! Ranks and shares in sentences.

use crate::Report;
use crate::losses::verdict::VerdictCluster;
use crate::rows::words::format_percent;
use lbprof_analysis::read::open::list_ranks;
use lbprof_thresholds::verdict::MIN_EXCESS_ASLEEP;

/// Formats a cluster's ranks, e.g. `ranks 1-3`.
pub fn cluster_ranks(cluster: &VerdictCluster) -> String {
    named_ranks(&cluster.ranks)
}

/// Formats them for the start of a sentence.
pub fn capitalized_ranks(cluster: &VerdictCluster) -> String {
    capitalize_text(&cluster_ranks(cluster))
}

/// Formats ranks, e.g. `rank 3` or `ranks 1-3`.
pub fn named_ranks(ranks: &[u32]) -> String {
    match ranks {
        [one] => format!("rank {one}"),
        many => format!("ranks {}", list_ranks(many)),
    }
}

/// Returns the ranks that wait for slow ranks, and the verb: `rank 1`, `waits` or `the others`, `wait`.
pub fn waiting_ranks(report: &Report, slow: &[u32]) -> (String, &'static str) {
    let all: Vec<u32> = match &report.verdict.cluster {
        Some(cluster) => cluster.ranks.clone(),
        None => report.ranks.iter().map(|row| row.rank).collect(),
    };
    match all.iter().copied().filter(|one| !slow.contains(one)).collect::<Vec<u32>>().as_slice() {
        [one] => (format!("rank {one}"), "waits"),
        _ => ("the others".to_owned(), "wait"),
    }
}

/// Returns e.g. `rank 1 waits for it` or `the others wait for them`.
pub fn who_waits(report: &Report, slow: &[u32]) -> String {
    let (ranks, wait) = waiting_ranks(report, slow);
    format!("{ranks} {wait} for {}", if slow.len() > 1 { "them" } else { "it" })
}

/// Formats a multiple of the mean, e.g. `twice` or `1.6 times`.
pub fn factor_in_words(factor: f64) -> String {
    match factor {
        two if (two - 2.0).abs() < 0.05 => "twice".to_owned(),
        three if (three - 3.0).abs() < 0.05 => "three times".to_owned(),
        large if large >= 9.95 => format!("{large:.0} times"),
        near if near < 1.1 => format!("{near:.2} times"),
        other => format!("{other:.1} times"),
    }
}

/// Suggests what may stop ranks from outside.
pub fn possible_stopper(ranks: &str) -> String {
    format!("what stops {ranks} (SIGSTOP: cpulimit, a batch system that suspends jobs, a debugger)")
}

/// Formats a share without needless digits, e.g. `50 %` or `7.3 %`.
pub fn short_percent(share: f64) -> String {
    match 100.0 * share {
        small if small.abs() < 9.95 => format_percent(share),
        large => format!("{large:.0} %"),
    }
}

/// Formats a range of shares, e.g. `10 % to 72 %`, or one share if both read the same.
pub fn percent_range(least: f64, most: f64) -> String {
    match [least, most].map(short_percent) {
        [least, most] if least == most => least,
        [least, most] => format!("{least} to {most}"),
    }
}

/// Returns the range of the parallel efficiency if polls may be waiting or computation and the verdict is about all ranks.
pub fn efficiency_of_unclear_polls(report: &Report) -> Option<(f64, f64)> {
    let is_of_all = report.verdict.cluster.is_none();
    report.doubts.unclear_polls.filter(|_| is_of_all).map(|polls| polls.efficiency)
}

/// Returns the share of time that is computation, or its range.
pub fn computing_share(report: &Report) -> String {
    match efficiency_of_unclear_polls(report) {
        Some((least, most)) => percent_range(least, most),
        None => short_percent(report.verdict.efficiency.times.parallel().unwrap_or(0.0)),
    }
}

/// Capitalizes a text.
pub fn capitalize_text(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Starts a text with a small letter.
pub fn uncapitalize_text(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// Returns whether sleep explains most of the slowest rank's excess, or much of all computation.
pub fn is_mostly_asleep(report: &Report) -> bool {
    let excess = report.verdict.worst.as_ref().and_then(|worst| worst.explained.as_ref());
    let has_cores = !report.has_crowded_cores();
    let asleep = excess.and_then(|excess| excess.certain_asleep_share(has_cores));
    let is_of_all = report.doubts.asleep.is_some();
    asleep >= Some(MIN_EXCESS_ASLEEP) || is_of_all && (has_cores || asleep.is_some())
}
