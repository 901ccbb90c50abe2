//! The user's counts by region: operations and quanta.

use crate::rows::words::escape_name;
use crate::text::TextOptions;
use crate::text::columns::{ColumnCell, ColumnTable, TextColumn};
use crate::{RegionRow, Report};

const WORK: ColumnTable<RegionRow> = ColumnTable {
    name: "Work",
    columns: &[
        TextColumn("~region", |row| ColumnCell::Text(escape_name(&row.path))),
        TextColumn("operations", |row| ColumnCell::Quantity(row.totals.operations)),
        TextColumn("quanta", |row| ColumnCell::Quantity(row.totals.quanta)),
        TextColumn("operations\na second", |row| ColumnCell::or_dash(row.operations_per_s, ColumnCell::Quantity)),
        TextColumn("quanta\na second", |row| ColumnCell::or_dash(row.quanta_per_s, ColumnCell::Quantity)),
    ],
    spare: &[],
    weight: None,
};

pub(in crate::text) fn work_section(report: &Report, options: &TextOptions) -> String {
    let counted = report.regions.iter().filter(|row| row.totals.operations != 0.0 || row.totals.quanta != 0.0);
    WORK.section(counted, &[], options)
}
