//! Writes the user's counts in regions: operations and quanta.

use super::{DIM, TextOptions, title};
use crate::Report;
use crate::table::TextTable;
use crate::words::{clean, quantity};

/// Returns what the user counted in regions: operations and quanta, with the rate at which they are done.
pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    let rows: Vec<_> =
        report.regions.iter().filter(|row| row.totals.operations != 0.0 || row.totals.quanta != 0.0).collect();
    if rows.is_empty() {
        return String::new();
    }
    let shown = if options.full { rows.len() } else { rows.len().min(options.top.max(1)) };
    let mut table = TextTable::new(&["<region", "operations", "quanta", "operations\na second", "quanta\na second"], 0);
    for row in rows.iter().take(shown) {
        let rate = |per_s: Option<f64>| per_s.map_or_else(|| "–".to_owned(), quantity);
        table.row(vec![
            clean(&row.path),
            quantity(row.totals.operations),
            quantity(row.totals.quanta),
            rate(row.operations_per_s),
            rate(row.quanta_per_s),
        ]);
    }
    format!("{}{}\n", title("Work", shown, rows.len()), table.render(options.columns, DIM))
}
