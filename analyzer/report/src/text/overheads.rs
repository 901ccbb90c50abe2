//! The table of overheads: what the phases cost against the same work on one rank.

use std::fmt::Write;

use super::{BOLD, DIM, TextOptions};
use crate::Report;
use crate::overheads::{NotAlone, OverheadTable};
use crate::table::TextTable;
use crate::words::{TimeUnit, or_dash, percent, percent_or_dash, plural, seconds, seconds_like, wrap};
use lbprof_thresholds::wording::MIN_OVERHEAD;

pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    let table = &report.overheads;
    let overheads = &table.overheads;
    let (Some(efficiency), Some(speedup)) = (overheads.efficiency(), overheads.speedup()) else {
        return String::new();
    };
    let sum = format!(
        "speedup {speedup:.2} on {}, efficiency {}; the same work on one rank takes {} (assumed: the work of all ranks)",
        plural(report.ranks.len() as u64, "rank"),
        percent(efficiency),
        seconds(overheads.t_seq_s),
    );
    let head = format!("{BOLD}Overheads{BOLD:#}  {DIM}of the time on one rank{DIM:#}\n");
    let mut text = head + &rows(report, options).render(options.columns, DIM);
    for line in [Some(sum), alone(table)].into_iter().flatten() {
        writeln!(text, "  {DIM}{}{DIM:#}", wrap(&line, options.columns - 2, 2)).ok();
    }
    text.push('\n');
    text
}

/// A row for each phase, and below those for the parts of waiting from imbalance.
fn rows(report: &Report, options: &TextOptions) -> TextTable {
    let overheads = &report.overheads.overheads;
    let longest_s = report.overheads.figures.phases.iter().map(|phase| phase.mean_s).fold(0.0, f64::max);
    let unit = TimeUnit::for_max(longest_s);
    let mean = format!("mean\n[{}]", unit.symbol);
    let mut rows = TextTable::new(&["<phase", &mean, "overhead\nratio", "largest\nratio", "on\nrank"], 0);
    for (phase, row) in overheads.phases.iter().zip(&report.overheads.figures.phases) {
        // Against little work all is much, though it is no time.
        let is_little = row.ratio.is_some_and(|ratio| ratio < MIN_OVERHEAD) || row.mean_s < MIN_OVERHEAD * longest_s;
        if !options.full && !phase.phase.is_work() && is_little {
            continue;
        }
        rows.row(vec![
            row.phase.to_owned(),
            unit.number(row.mean_s),
            percent_or_dash(row.ratio),
            percent_or_dash(row.ratio_max),
            or_dash(row.ratio_max_rank, |rank| rank.to_string()),
        ]);
    }
    for (name, mean_s, ratio) in waiting(&report.overheads) {
        rows.row(vec![
            name.to_owned(),
            or_dash(mean_s, |mean_s| unit.number(mean_s)),
            percent_or_dash(ratio),
            String::new(),
            String::new(),
        ]);
    }
    rows
}

/// The waiting for ranks that compute, and its parts: the mean over ranks, and the overhead ratio. Empty if it is negligible.
fn waiting(table: &OverheadTable) -> Vec<(&'static str, Option<f64>, Option<f64>)> {
    let parts = &table.figures.imbalance;
    if parts.all_ratio.is_none_or(|ratio| ratio < MIN_OVERHEAD) {
        return Vec::new();
    }
    let mut rows = vec![
        ("of that, from imbalance", Some(parts.all_mean_s), parts.all_ratio),
        ("  Amdahl (one alone)", parts.amdahl_mean_s, parts.amdahl_ratio),
        ("  global (in total)", Some(parts.global_mean_s), parts.global_ratio),
    ];
    if parts.unsplit_s.is_none() {
        rows.push(("  temporal (slow in turn)", parts.temporal_mean_s, parts.temporal_ratio));
    }
    rows.extend(parts.chains_mean_s.map(|mean_s| ("  dependency chains", Some(mean_s), parts.chains_ratio)));
    rows.extend(parts.unsplit_mean_s.map(|mean_s| ("  not separated", Some(mean_s), parts.unsplit_ratio)));
    rows
}

/// The time for which one rank works alone, or the reason why it is unknown, in a sentence.
fn alone(table: &OverheadTable) -> Option<String> {
    let why_unknown = match &table.alone {
        Ok(alone) => {
            let (rank, rank_s) = alone.serial.first().filter(|_| alone.serial_s() > alone.error_s)?;
            let all_s = alone.serial_s();
            let all = format!("alone for {} ± {}", seconds(all_s), seconds_like(alone.error_s, all_s));
            let longest = seconds_like(*rank_s, all_s);
            return Some(match alone.serial.len() {
                1 => format!("rank {rank} works {all}"),
                _ if *rank_s > 0.5 * all_s => format!("ranks work {all}, most of it rank {rank}: {longest}"),
                _ => format!("ranks take turns at working {all}, the longest rank {rank}: {longest}"),
            });
        }
        Err(NotAlone::NoCalls) => "calls were recorded as sums",
        Err(NotAlone::OfRegion) => "a region is selected",
        Err(NotAlone::NoCommonClock) => "the clocks of hosts cannot be compared",
        Err(NotAlone::OneRank) => return None,
    };
    let matters = !waiting(table).is_empty();
    matters.then(|| format!("how long one rank works alone is not known, for {why_unknown}; global has that, too"))
}
