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

mod description;
mod events;
mod parallel;
mod sums;
mod table;

use std::fs::File;
use std::path::Path;

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

pub use self::description::TableDescription;
pub use self::events::{EVENTS, EventTables};
pub use self::parallel::PARALLEL;
pub use self::sums::{SUMS, write_sums};
pub use self::table::{ColumnKind, ParquetColumn, SCHEMA};

/// True if the file at a path is a table that we wrote.
pub fn is_ours(path: &Path) -> bool {
    let reader = File::open(path).map_err(ParquetError::from).and_then(SerializedFileReader::new);
    reader.is_ok_and(|reader| {
        let about = reader.metadata().file_metadata().key_value_metadata();
        about.is_some_and(|all| all.iter().any(|one| one.value.as_deref() == Some(SCHEMA)))
    })
}
