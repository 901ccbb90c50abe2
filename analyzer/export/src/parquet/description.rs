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

/// Makes two functions of a list of columns: one returns the columns, the other the cells of a row. Each line has a column's name and kind,
/// `required` or `optional`, the cell, and its meaning.
macro_rules! parquet_columns {
    ($columns:ident, $cells:ident($($row:ident: $Row:ty),*); $($name:literal $kind:ident $need:ident = $cell:expr, $meaning:literal;)*) => {
        fn $columns() -> Vec<$crate::parquet::ParquetColumn> {
            vec![$($crate::parquet::ParquetColumn::$need($name, $crate::parquet::ColumnKind::$kind, $meaning)),*]
        }

        fn $cells($($row: $Row),*) -> impl Iterator<Item = $crate::parquet::table::ParquetCell> + Clone + use<> {
            [$($crate::parquet::table::ParquetCell::from($cell)),*].into_iter()
        }
    };
}
pub(super) use parquet_columns;

/// A column of seconds for each activity: `computation_s`, `point_to_point_s` …
pub(super) fn by_activity() -> impl Iterator<Item = ParquetColumn> {
    Activity::ALL.into_iter().map(|activity| {
        let name = format!("{}_s", activity.name().replace('-', "_"));
        ParquetColumn::required(&name, ColumnKind::Real, activity.sentence().trim_end_matches('.'))
    })
}
