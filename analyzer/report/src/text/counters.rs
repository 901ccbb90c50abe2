//! The user's counters.

use super::{DIM, TextOptions, title};
use crate::Report;
use crate::phrases::names::LONGEST_NAME;
use crate::table::TextTable;
use crate::words::{clean, count, quantity, shorten};

/// The user's counters by region.
pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    if report.counters.is_empty() {
        return String::new();
    }
    let all = report.counters.len();
    let shown = if options.full { all } else { all.min(options.top.max(1)) };
    let mut table = TextTable::new(&["<counter", "<region", "values", "mean", "min", "max"], 1);
    for row in report.counters.iter().take(shown) {
        let numbers = [row.mean, row.min, row.max].map(quantity);
        let [mean, min, max] = numbers;
        table.row(vec![shorten(&clean(&row.name), LONGEST_NAME), clean(&row.region), count(row.n), mean, min, max]);
    }
    format!("{}{}\n", title("Counters", shown, all), table.render(options.columns, DIM))
}
