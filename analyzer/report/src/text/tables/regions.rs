//! The table of regions, as a tree.

use std::collections::BTreeSet;

use lbprof_collector::definition::RegionKind;

use crate::rows::words::escape_name;
use crate::text::columns::{ColumnCell, lay_out_table};
use crate::text::{TextOptions, format_title};
use crate::{RegionRow, Report};
use lbprof_analysis::model::RegionIdx;

/// Columns that are dropped from short lines.
const SPARE: &[&[&str]] = &[&["invo-"], &["transfer"], &["elapsed"], &["parallel"], &["micro"]];

/// Shows marked or selected regions. The call tree shows code between calls better.
pub(in crate::text) fn regions_section(report: &Report, options: &TextOptions) -> String {
    let all = report.regions.iter().filter(|row| row.occurs()).count();
    let is_marked = report.regions.iter().any(|row| row.idx != 0 && !row.found && row.occurs());
    if all < 2 || !(is_marked || report.facts.selected.region.is_some()) {
        return String::new();
    }
    let rows = shown_rows(report, options);
    let lines: Vec<Vec<ColumnCell>> = rows.iter().map(|row| region_line_cells(report, row)).collect();
    let heads = [
        "~region",
        "share\nalone",
        "elapsed",
        "parallel",
        "load\nbalance",
        "micro\nbalance",
        "transfer",
        "slowest\nrank",
        "invo-\ncations",
    ];
    format!("{}{}\n", format_title("Regions", rows.len(), all), lay_out_table(&heads, &lines, SPARE, options))
}

fn region_line_cells(report: &Report, row: &RegionRow) -> Vec<ColumnCell> {
    let times = &row.efficiency.times;
    // The balance of hardly any computation means nothing.
    let computes = times.max_computation_s >= 0.01 * times.elapsed_s;
    // More than 100 % means that ranks wait outside of this region.
    let transfer = times.transfer().filter(|&transfer| transfer < 1.0005);
    let [balance, micro, transfer] = [times.load_balance(), times.micro_load_balance(), transfer]
        .map(|value| ColumnCell::or_dash(value.filter(|_| computes), ColumnCell::Share));
    vec![
        ColumnCell::Text(region_label(report, row)),
        ColumnCell::Share(row.share),
        ColumnCell::Time(times.elapsed_s),
        ColumnCell::or_dash(times.parallel(), ColumnCell::Share),
        balance,
        micro,
        transfer,
        ColumnCell::or_dash(row.slowest_rank, ColumnCell::rank),
        if row.idx == 0 { ColumnCell::Empty } else { ColumnCell::or_dash(row.invocations, ColumnCell::Count) },
    ]
}

fn region_label(report: &Report, row: &RegionRow) -> String {
    let kind = match row.kind {
        RegionKind::Useful => "",
        RegionKind::Control => " (control)",
        RegionKind::Serial => " (serial)",
    };
    format!("{}{}{kind}", "  ".repeat(region_depth(report, row).min(8)), escape_name(&row.name))
}

/// Returns all regions, or the longest and those around them, in order.
fn shown_rows<'a>(report: &'a Report, options: &TextOptions) -> Vec<&'a RegionRow> {
    let mut rows: Vec<&RegionRow> = report.regions.iter().filter(|row| row.occurs()).collect();
    if rows.len() <= options.limit() {
        return rows;
    }
    rows.sort_by(|a, b| b.time_s.total_cmp(&a.time_s).then(a.path.cmp(&b.path)));
    rows.truncate(options.limit());
    let mut wanted: BTreeSet<RegionIdx> = BTreeSet::new();
    for row in rows {
        let mut next = Some(row.idx);
        while let Some(idx) = next.filter(|&idx| wanted.insert(idx)) {
            next = report.regions.get(idx as usize).map(|row| row.parent);
        }
    }
    report.regions.iter().filter(|row| wanted.contains(&row.idx)).collect()
}

fn region_depth(report: &Report, row: &RegionRow) -> usize {
    let outwards =
        std::iter::successors(Some(row), |row| report.regions.get(row.parent as usize).filter(|_| row.idx != 0));
    outwards.count() - 1
}
