//! Cells of rows: what SQLite keeps, and what is a time.

use lbprof_thresholds::study::ROUNDING_OF_STORED_TIMES_S;
use rusqlite::types::Type;
use rusqlite::{Connection, Row};

pub(super) fn to_sql_integer(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(super) fn read_rows<T>(
    connection: &Connection,
    select: &str,
    number: u32,
    read: impl FnMut(&Row) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    connection.prepare_cached(select)?.query_map([number], read)?.collect()
}

pub(super) fn read_time(row: &Row, column: &str) -> rusqlite::Result<f64> {
    let seconds = read_real(row, column)?;
    match seconds.is_finite() && seconds >= -ROUNDING_OF_STORED_TIMES_S {
        true => Ok(seconds.max(0.0)),
        false => Err(wrong_cell("a time is below 0, or no number".into())),
    }
}

/// A number; what SQLite keeps as NULL is not one.
pub(super) fn read_real(row: &Row, column: &str) -> rusqlite::Result<f64> {
    Ok(row.get::<_, Option<f64>>(column)?.unwrap_or(f64::NAN))
}

pub(super) fn wrong_cell(what: Box<dyn std::error::Error + Send + Sync>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, what)
}
