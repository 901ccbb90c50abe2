//! Writes the user's counts in regions: operations and quanta.

use super::TextOptions;
use super::columns::{Cell, Column, Table};
use crate::words::clean;
use crate::{RegionRow, Report};

const WORK: Table<RegionRow> = Table {
    name: "Work",
    columns: &[
        Column("~region", |row| Cell::Text(clean(&row.path))),
        Column("operations", |row| Cell::Quantity(row.totals.operations)),
        Column("quanta", |row| Cell::Quantity(row.totals.quanta)),
        Column("operations\na second", |row| Cell::or_dash(row.operations_per_s, Cell::Quantity)),
        Column("quanta\na second", |row| Cell::or_dash(row.quanta_per_s, Cell::Quantity)),
    ],
    spare: &[],
    weight: None,
};

/// The work that the user counted in regions: operations and quanta, with their rates.
pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    let counted = report.regions.iter().filter(|row| row.totals.operations != 0.0 || row.totals.quanta != 0.0);
    WORK.section(counted, &[], options)
}
