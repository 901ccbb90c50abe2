//! The run over time: in the report with all rows alone.

use super::{DIM, TextOptions, title};
use crate::Report;
use crate::table::TextTable;
use crate::windows::PartEfficiency;
use crate::words::{TimeUnit, or_dash, percent_or_dash};

pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    if !options.full {
        return String::new();
    }
    windows(report, options) + &blocks(report, options)
}

const HEADS: [&str; 4] = ["parallel", "load\nbalance", "communi-\ncation", "slowest\nrank"];

fn cells(of: &PartEfficiency) -> [String; 4] {
    let rank = or_dash(of.slowest_rank, |rank| rank.to_string());
    [percent_or_dash(of.parallel), percent_or_dash(of.load_balance), percent_or_dash(of.communication), rank]
}

fn windows(report: &Report, options: &TextOptions) -> String {
    let rows = &report.windows;
    if rows.is_empty() {
        return String::new();
    }
    let unit = TimeUnit::for_max(report.data.elapsed_s);
    let (from, to) = (format!("from\n[{}]", unit.symbol), format!("to\n[{}]", unit.symbol));
    let mut heads = vec![from.as_str(), to.as_str()];
    heads.extend(HEADS);
    heads.extend(["computes", "waits", "other\nMPI"]);
    let mut table = TextTable::new(&heads, 0);
    for row in rows {
        let all: f64 = row.states.iter().map(|state| state.time_s).sum();
        let mut line = vec![unit.number(row.begin_s), unit.number(row.end_s)];
        line.extend(cells(&row.efficiency));
        let (computes, waits) = (row.time_s("computation"), row.time_s("waiting"));
        let parts = [computes, waits, all - computes - waits];
        line.extend(parts.map(|time_s| percent_or_dash((all > 0.0).then(|| time_s / all))));
        table.row(line);
    }
    format!("{}{}\n", title("Over time", rows.len(), rows.len()), table.render(options.columns, DIM))
}

fn blocks(report: &Report, options: &TextOptions) -> String {
    let rows = &report.blocks;
    if rows.len() < 2 {
        return String::new();
    }
    let unit = TimeUnit::for_max(rows.iter().map(|row| row.efficiency.elapsed_s).fold(0.0, f64::max));
    let elapsed = format!("elapsed\n[{}]", unit.symbol);
    let mut heads = vec!["<iterations", elapsed.as_str()];
    heads.extend(HEADS);
    let mut table = TextTable::new(&heads, 0);
    for row in rows {
        let numbers = if row.first == row.last { row.first.to_string() } else { format!("{}-{}", row.first, row.last) };
        let mut line = vec![numbers, unit.number(row.efficiency.elapsed_s)];
        line.extend(cells(&row.efficiency));
        table.row(line);
    }
    let head = title("Over the iterations of the main loop", rows.len(), rows.len());
    format!("{head}{}\n", table.render(options.columns, DIM))
}
