//! Descriptions of tables and their columns.

use std::io::{self, Write};

use lbprof_collector::Activity;

use super::table::{ColumnKind, ParquetColumn, ParquetTable};

/// A table: the name of its file without `.parquet`, and what a row is.
#[derive(Clone, Copy, Debug)]
pub struct TableDescription {
    /// Its name.
    pub name: &'static str,
    /// Meaning of a row.
    pub row: &'static str,
    pub(super) columns: fn() -> Vec<ParquetColumn>,
}

impl TableDescription {
    /// Its columns.
    pub fn columns(&self) -> Vec<ParquetColumn> {
        (self.columns)()
    }

    pub(super) fn create<W: Write + Send>(&self, out: W) -> io::Result<ParquetTable<W>> {
        ParquetTable::new(out, self.name, &self.columns())
    }
}

pub(super) fn required_column(name: &str, kind: ColumnKind, meaning: &'static str) -> ParquetColumn {
    ParquetColumn { name: name.to_owned(), kind, optional: false, meaning }
}

pub(super) fn optional_column(name: &str, kind: ColumnKind, meaning: &'static str) -> ParquetColumn {
    ParquetColumn { optional: true, ..required_column(name, kind, meaning) }
}

/// A column of seconds for each activity: `computation_s`, `point_to_point_s` …
pub(super) fn by_activity() -> impl Iterator<Item = ParquetColumn> {
    Activity::ALL.into_iter().map(|activity| {
        required_column(
            &format!("{}_s", activity.name().replace('-', "_")),
            ColumnKind::Real,
            activity.sentence().trim_end_matches('.'),
        )
    })
}
