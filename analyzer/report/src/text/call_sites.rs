//! The table of call sites.

use super::{DIM, TextOptions, title};
use crate::table::TextTable;
use crate::words::{TimeUnit, bytes, clean, count, percent};
use crate::{Report, SiteRow};

/// Columns that give way to places where lines are short.
const SPARE: &[&[&str]] = &[&["bytes"], &["calls"], &["longest", "on"], &["other"]];

pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    let mut rows: Vec<&SiteRow> = report.call_sites.iter().collect();
    if !options.full {
        rows.retain(|row| row.sum.seconds + row.other_threads.seconds > 0.0 || moved_bytes(row) > 0);
    }
    let all = rows.len();
    if all == 0 {
        return String::new();
    }
    let shown = if options.full { all } else { all.min(options.top.max(1)) };
    let unit = TimeUnit::for_max(report.call_sites.iter().map(|row| row.max_s).fold(0.0, f64::max));
    let (mean, max) = (format!("mean\n[{}]", unit.symbol), format!("longest\n[{}]", unit.symbol));
    let others = format!("other\nthreads\n[{}]", unit.symbol);
    let has_others = report.call_sites.iter().any(|row| row.other_threads.calls > 0);
    let mut heads = vec!["<call", "<at", "share", &mean, &max, "on\nrank"];
    heads.extend(has_others.then_some(others.as_str()));
    heads.extend(["calls", "bytes"]);
    let mut table = TextTable::new(&heads, 1);
    for row in rows.into_iter().take(shown) {
        let place = if row.id.is_some() { clean(&row.place.label()) } else { "?".to_owned() };
        let mut cells = vec![
            row.operation.clone(),
            place,
            percent(row.share),
            unit.number(row.mean_s),
            unit.number(row.max_s),
            if row.sum.calls > 0 { row.max_rank.to_string() } else { String::new() },
        ];
        cells.extend(has_others.then(|| unit.number(row.other_threads_mean_s)));
        cells.push(count(row.sum.calls.saturating_add(row.other_threads.calls)));
        let moved = moved_bytes(row);
        cells.push(if moved > 0 { bytes(moved) } else { String::new() });
        table.row(cells);
    }
    format!(
        "{}{}\n",
        title("Call sites", shown, all),
        table.sparing(options.columns, SPARE).render(options.columns, DIM)
    )
}

/// The bytes that the calls of all threads sent and received.
fn moved_bytes(row: &SiteRow) -> u64 {
    let sums = [row.sum, row.other_threads];
    sums.iter().fold(0, |moved: u64, sum| moved.saturating_add(sum.sent).saturating_add(sum.received))
}
