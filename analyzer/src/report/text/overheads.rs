//! The table of overheads: what the phases cost against the same work on one rank.

use std::fmt::Write;

use super::{BOLD, DIM, Options};
use crate::report::overheads::{NotAlone, OverheadTable};
use crate::report::table::Table;
use crate::report::words::{TimeUnit, percent, percent_or_dash, plural, seconds, seconds_like, wrap};
use crate::report::{Report, largest};

/// Share of the time on one rank, and of the longest phase, from which on a part is reported.
const LEAST: f64 = 0.0005;

pub(super) fn section(report: &Report, options: &Options) -> String {
    let table = &report.overheads;
    let overheads = &table.overheads;
    let (Some(efficiency), Some(speedup)) = (overheads.efficiency(), overheads.speedup()) else {
        return String::new();
    };
    let how = match overheads.is_given {
        true => "as given",
        false => "assumed: the work of all ranks; --t-seq sets it",
    };
    let sum = format!(
        "speedup {speedup:.2} on {}, efficiency {}; the same work on one rank takes {} ({how})",
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
fn rows(report: &Report, options: &Options) -> Table {
    let overheads = &report.overheads.overheads;
    let n = report.ranks.len().max(1) as f64;
    let longest_s = overheads.phases.iter().map(|phase| phase.total_s() / n).fold(0.0, f64::max);
    let unit = TimeUnit::for_max(longest_s);
    let mean = format!("mean\n[{}]", unit.symbol);
    let mut rows = Table::new(&["<phase", &mean, "overhead\nratio", "largest\nratio", "on\nrank"], 0);
    for phase in &overheads.phases {
        let ratio = overheads.ratio(phase);
        // Against little work all is much, though it is no time.
        let is_little = ratio.is_some_and(|ratio| ratio < LEAST) || phase.total_s() / n < LEAST * longest_s;
        if !options.full && !phase.phase.is_work() && is_little {
            continue;
        }
        let by_rank = overheads.ratios_by_rank(phase).unwrap_or_default();
        let largest = largest(&by_rank);
        rows.row(vec![
            phase.phase.name().to_owned(),
            unit.number(phase.total_s() / n),
            percent_or_dash(ratio),
            percent_or_dash(largest.and_then(|at| by_rank.get(at).copied())),
            largest.and_then(|at| report.ranks.get(at)).map_or_else(|| "–".to_owned(), |row| row.rank.to_string()),
        ]);
    }
    for (name, part_s) in waiting(&report.overheads) {
        rows.row(vec![
            name.to_owned(),
            part_s.map_or_else(|| "–".to_owned(), |part_s| unit.number(part_s / n)),
            percent_or_dash(part_s.and_then(|part_s| overheads.ratio_of(part_s))),
            String::new(),
            String::new(),
        ]);
    }
    rows
}

/// What ranks wait for others that compute, and its parts, summed over ranks; nothing where that is next to nothing.
fn waiting(table: &OverheadTable) -> Vec<(&'static str, Option<f64>)> {
    let parts = &table.imbalance;
    let known = [parts.amdahl_s, Some(parts.global_s), parts.temporal_s, parts.chains_s];
    let all_s: f64 = known.into_iter().flatten().sum();
    if table.overheads.ratio_of(all_s).is_none_or(|ratio| ratio < LEAST) {
        return Vec::new();
    }
    let mut rows = vec![
        ("of that, from imbalance", Some(all_s)),
        ("  Amdahl (one alone)", parts.amdahl_s),
        ("  global (in the sum)", Some(parts.global_s)),
        ("  temporal (slow in turn)", parts.temporal_s),
    ];
    rows.extend(parts.chains_s.map(|chains_s| ("  dependency chains", Some(chains_s))));
    rows
}

/// Which rank works alone for how long, or why that is not known, in a sentence.
fn alone(table: &OverheadTable) -> Option<String> {
    let matters = !waiting(table).is_empty();
    let unknown = |why: &str| {
        matters.then(|| format!("how long one rank works alone is not known, for {why}; global has that, too"))
    };
    match &table.alone {
        Ok(alone) => {
            let (rank, rank_s) = alone.serial.first().filter(|_| alone.serial_s() > alone.error_s)?;
            let all_s = alone.serial_s();
            let all = format!("alone for {} ± {}", seconds(all_s), seconds_like(alone.error_s, all_s));
            let longest = seconds_like(*rank_s, all_s);
            Some(match alone.serial.len() {
                1 => format!("rank {rank} works {all}"),
                _ if *rank_s > 0.5 * all_s => format!("ranks work {all}, most of it rank {rank}: {longest}"),
                _ => format!("ranks take turns at working {all}, the longest rank {rank}: {longest}"),
            })
        }
        Err(NotAlone::NoCalls) => unknown("calls were recorded as sums"),
        Err(NotAlone::OfRegion) => unknown("a region is selected"),
        Err(NotAlone::NoCommonClock) => unknown("the clocks of hosts cannot be compared"),
        Err(NotAlone::OneRank) => None,
    }
}
