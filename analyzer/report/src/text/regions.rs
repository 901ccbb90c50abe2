//! The table of regions, as a tree.

use std::collections::BTreeSet;

use lbprof_collector::definition::RegionKind;

use super::{DIM, TextOptions, WIDE, title};
use crate::table::TextTable;
use crate::words::{TimeUnit, clean, count, or_dash, percent, percent_or_dash};
use crate::{RegionRow, Report};
use lbprof_analysis::model::RegionIdx;

/// Columns that names of code between calls take more than those of marked regions.
const LONG_NAMES: usize = 16;

/// Columns that give way to names where lines are short.
const SPARE: &[&[&str]] = &[&["invo-"], &["transfer"], &["elapsed"], &["parallel"], &["micro"]];

/// The table for a user's choice of regions. The call tree and the functions describe code between calls better.
pub(super) fn section_as_chosen(report: &Report, options: &TextOptions) -> String {
    let is_marked = report.regions.iter().any(|row| row.idx != 0 && !row.found && row.occurs());
    match report.facts.selected.region.is_some() || is_marked {
        true => section(report, options),
        false => String::new(),
    }
}

pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    let all = report.regions.iter().filter(|row| row.occurs()).count();
    if all < 2 {
        return String::new();
    }
    let rows = shown_rows(report, options);
    let shown = rows.len();
    let unit = TimeUnit::for_max(report.data.elapsed_s);
    let elapsed = format!("elapsed\n[{}]", unit.symbol);
    let wide = options.columns >= WIDE + LONG_NAMES;
    let mut heads = vec!["<region", "share\nalone", &elapsed, "parallel", "load\nbalance", "micro\nbalance"];
    heads.extend(wide.then_some("transfer"));
    heads.push("slowest\nrank");
    heads.extend(wide.then_some("invo-\ncations"));
    let mut table = TextTable::new(&heads, 0);
    for row in rows {
        let times = &row.efficiency.times;
        // Where hardly anything is computed, its balance means nothing.
        let computes = times.max_computation_s >= 0.01 * times.elapsed_s;
        // Above 100 %: ranks wait elsewhere than in this region, as where it only computes.
        let transfer = times.transfer().filter(|&transfer| transfer < 1.0005);
        let mut cells = vec![
            label(report, row),
            percent(row.share),
            unit.number(times.elapsed_s),
            percent_or_dash(times.parallel()),
            percent_or_dash(times.load_balance().filter(|_| computes)),
            percent_or_dash(times.micro_load_balance().filter(|_| computes)),
        ];
        if wide {
            cells.push(percent_or_dash(transfer.filter(|_| computes)));
        }
        cells.push(or_dash(row.slowest_rank, |rank| rank.to_string()));
        if wide {
            cells.push(if row.idx == 0 { String::new() } else { or_dash(row.invocations, count) });
        }
        table.row(cells);
    }
    format!("{}{}\n", title("Regions", shown, all), table.sparing(options.columns, SPARE).render(options.columns, DIM))
}

/// The name of a region at its place in the tree, and its kind.
fn label(report: &Report, row: &RegionRow) -> String {
    let kind = match row.kind {
        RegionKind::Useful => "",
        RegionKind::Control => " (control)",
        RegionKind::Serial => " (serial)",
    };
    format!("{}{}{kind}", "  ".repeat(depth(report, row).min(8)), clean(&row.name))
}

/// Returns all regions, or those that take most time and the ones around them, in their order.
fn shown_rows<'a>(report: &'a Report, options: &TextOptions) -> Vec<&'a RegionRow> {
    let mut rows: Vec<&RegionRow> = report.regions.iter().filter(|row| row.occurs()).collect();
    if options.full || rows.len() <= options.top.max(1) {
        return rows;
    }
    rows.sort_by(|a, b| b.time_s.total_cmp(&a.time_s).then(a.path.cmp(&b.path)));
    rows.truncate(options.top.max(1));
    let mut wanted: BTreeSet<RegionIdx> = BTreeSet::new();
    for row in rows {
        let mut next = Some(row.idx);
        while let Some(idx) = next.filter(|&idx| wanted.insert(idx)) {
            next = report.regions.get(idx as usize).map(|row| row.parent);
        }
    }
    report.regions.iter().filter(|row| wanted.contains(&row.idx)).collect()
}

/// The number of regions around one.
fn depth(report: &Report, row: &RegionRow) -> usize {
    let outwards =
        std::iter::successors(Some(row), |row| report.regions.get(row.parent as usize).filter(|_| row.idx != 0));
    outwards.count() - 1
}
