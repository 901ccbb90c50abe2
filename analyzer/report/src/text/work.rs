//! Writes the user's counts in regions: operations and quanta.

use super::{DIM, TextOptions, title};
use crate::Report;
use crate::table::TextTable;
use crate::words::{clean, or_dash, quantity};

/// The work that the user counted in regions: operations and quanta, with their rates.
pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    let rows: Vec<_> =
        report.regions.iter().filter(|row| row.totals.operations != 0.0 || row.totals.quanta != 0.0).collect();
    if rows.is_empty() {
        return String::new();
    }
    let shown = if options.full { rows.len() } else { rows.len().min(options.top.max(1)) };
    let mut table = TextTable::new(&["<region", "operations", "quanta", "operations\na second", "quanta\na second"], 0);
    for row in rows.iter().take(shown) {
        table.row(vec![
            clean(&row.path),
            quantity(row.totals.operations),
            quantity(row.totals.quanta),
            or_dash(row.operations_per_s, quantity),
            or_dash(row.quanta_per_s, quantity),
        ]);
    }
    format!("{}{}\n", title("Work", shown, rows.len()), table.render(options.columns, DIM))
}
