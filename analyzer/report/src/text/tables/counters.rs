//! The user's counters.

use crate::losses::names::LONGEST_NAME;
use crate::rows::words::{escape_name, shorten_text};
use crate::text::TextOptions;
use crate::text::columns::{ColumnCell, ColumnTable, TextColumn};
use crate::{CounterRow, Report};

const COUNTERS: ColumnTable<CounterRow> = ColumnTable {
    name: "Counters",
    columns: &[
        TextColumn("<counter", |row| ColumnCell::Text(shorten_text(&escape_name(&row.name), LONGEST_NAME))),
        TextColumn("~region", |row| ColumnCell::Text(escape_name(&row.region))),
        TextColumn("values", |row| ColumnCell::Count(row.n)),
        TextColumn("mean", |row| ColumnCell::Quantity(row.mean)),
        TextColumn("min", |row| ColumnCell::Quantity(row.min)),
        TextColumn("max", |row| ColumnCell::Quantity(row.max)),
    ],
    spare: &[],
    weight: None,
};

pub(in crate::text) fn counters_section(report: &Report, options: &TextOptions) -> String {
    COUNTERS.section(&report.counters, &[], options)
}
