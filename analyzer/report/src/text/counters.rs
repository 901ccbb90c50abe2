//! The user's counters.

use super::TextOptions;
use super::columns::{Cell, Column, Table};
use crate::phrases::names::LONGEST_NAME;
use crate::words::{clean, shorten};
use crate::{CounterRow, Report};

const COUNTERS: Table<CounterRow> = Table {
    name: "Counters",
    columns: &[
        Column("<counter", |row| Cell::Text(shorten(&clean(&row.name), LONGEST_NAME))),
        Column("~region", |row| Cell::Text(clean(&row.region))),
        Column("values", |row| Cell::Count(row.n)),
        Column("mean", |row| Cell::Quantity(row.mean)),
        Column("min", |row| Cell::Quantity(row.min)),
        Column("max", |row| Cell::Quantity(row.max)),
    ],
    spare: &[],
    weight: None,
};

/// The user's counters by region.
pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    COUNTERS.section(&report.counters, &[], options)
}
