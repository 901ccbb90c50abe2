//! A run as tables in Parquet files, which pandas, polars, DuckDB, Spark and R read.
//!
//! ```text
//!   the sums    ─→ sums.rs    ranks, regions, call_paths, iterations      every run has them
//!               ─→ parallel.rs  parallel_regions, parallel_threads        runs with OpenMP
//!   the replay  ─→ events.rs  waits, messages, calls: a row each          not a run in profile mode
//!                      └──────→ table.rs: rows in groups, compressed with zstd
//! ```
//!
//! Sums are in seconds; what happened when is in nanoseconds since the start of the run.

mod events;
mod parallel;
mod sums;
mod table;

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use lbprof_collector::Activity;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

pub use self::events::EventTables;
pub use self::sums::write_sums;
pub use self::table::{ColumnKind, ParquetColumn};

/// The format of the files: the value of the key `schema`.
pub const SCHEMA: &str = "lbprof-parquet/1";

/// A table: the name of its file without `.parquet`, and what a row is.
#[derive(Clone, Copy, Debug)]
pub struct TableDescription {
    /// Its name.
    pub name: &'static str,
    /// Meaning of a row.
    pub row: &'static str,
    columns: fn() -> Vec<ParquetColumn>,
}

impl TableDescription {
    /// Its columns.
    pub fn columns(&self) -> Vec<ParquetColumn> {
        (self.columns)()
    }

    fn create<W: Write + Send>(&self, out: W) -> io::Result<table::ParquetTable<W>> {
        table::ParquetTable::new(out, self.name, &self.columns())
    }
}

/// Tables made of the sums, which every run has.
pub const SUMS: [TableDescription; 4] = [sums::RANKS, sums::REGIONS, sums::CALL_PATHS, sums::ITERATIONS];

/// Tables of parallel regions and their threads, of runs that have any.
pub const PARALLEL: [TableDescription; 2] = [parallel::REGIONS, parallel::THREADS];

/// Tables of events.
pub const EVENTS: [TableDescription; 3] = [events::WAITS, events::MESSAGES, events::CALLS];

/// True if the file at a path is a table that we wrote.
pub fn is_ours(path: &Path) -> bool {
    let reader = File::open(path).map_err(ParquetError::from).and_then(SerializedFileReader::new);
    reader.is_ok_and(|reader| {
        let about = reader.metadata().file_metadata().key_value_metadata();
        about.is_some_and(|all| all.iter().any(|one| one.value.as_deref() == Some(SCHEMA)))
    })
}

/// A column that always has a value.
fn column(name: &str, kind: ColumnKind, meaning: &'static str) -> ParquetColumn {
    ParquetColumn { name: name.to_owned(), kind, optional: false, meaning }
}

/// A column that may have none.
fn optional(name: &str, kind: ColumnKind, meaning: &'static str) -> ParquetColumn {
    ParquetColumn { optional: true, ..column(name, kind, meaning) }
}

/// A column of seconds for each activity: `computation_s`, `point_to_point_s` …
fn by_activity() -> impl Iterator<Item = ParquetColumn> {
    Activity::ALL.into_iter().map(|activity| {
        let meaning = match activity {
            Activity::Computation => "Seconds of computation",
            Activity::PointToPoint => "Seconds in point-to-point communication",
            Activity::Collective => "Seconds in collectives other than barriers",
            Activity::Synchronization => "Seconds in barriers",
            Activity::OneSided => "Seconds in one-sided communication",
            Activity::Io => "Seconds in file input and output through MPI",
            Activity::Management => "Seconds in the management of communicators and the like",
            Activity::Recorder => "Seconds of the recorder's own work",
        };
        column(&format!("{}_s", activity.name().replace('-', "_")), ColumnKind::Real, meaning)
    })
}
