//! Checksums of runs: a cell that was changed in the file changes no figure without a word.
//!
//! A checksum is of what the tables hold of a run, not of the file's bytes: SQLite may arrange these anew, as VACUUM does.

use std::collections::BTreeMap;

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::schema::TABLES;

pub(super) fn write_checksum(connection: &Connection, number: u32) -> rusqlite::Result<()> {
    let crc = sum_rows(connection, i64::from(number))?;
    connection.execute("INSERT OR REPLACE INTO checksums (run, crc) VALUES (?1, ?2)", [i64::from(number), crc])?;
    Ok(())
}

/// Returns a run whose rows are not those that its checksum is of, or that lacks one of both.
pub(super) fn find_damaged(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let mut select = connection.prepare("SELECT run, crc FROM checksums")?;
    let stated = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut stated: BTreeMap<i64, i64> = stated.collect::<rusqlite::Result<_>>()?;
    let mut select = connection.prepare("SELECT run FROM runs")?;
    for number in select.query_map([], |row| row.get(0))? {
        let number: i64 = number?;
        if stated.remove(&number) != Some(sum_rows(connection, number)?) {
            return Ok(Some(number));
        }
    }
    Ok(stated.into_keys().next())
}

fn sum_rows(connection: &Connection, number: i64) -> rusqlite::Result<i64> {
    let mut crc = crc32fast::Hasher::new();
    for table in TABLES {
        let n_columns = table.columns().len();
        let mut select = connection.prepare_cached(&table.select("WHERE run = ?1"))?;
        let mut rows = select.query([number])?;
        while let Some(row) = rows.next()? {
            crc.update(table.name.as_bytes());
            for at in 0..n_columns {
                add_cell(&mut crc, row.get_ref(at)?);
            }
        }
    }
    Ok(i64::from(crc.finalize()))
}

/// Adds a cell: its type, its length, its bytes.
fn add_cell(crc: &mut crc32fast::Hasher, cell: ValueRef) {
    match cell {
        ValueRef::Null => add_bytes(crc, 0, &[]),
        ValueRef::Integer(number) => add_bytes(crc, 1, &number.to_le_bytes()),
        ValueRef::Real(number) => add_bytes(crc, 2, &number.to_bits().to_le_bytes()),
        ValueRef::Text(text) => add_bytes(crc, 3, text),
        ValueRef::Blob(bytes) => add_bytes(crc, 4, bytes),
    }
}

fn add_bytes(crc: &mut crc32fast::Hasher, kind: u8, bytes: &[u8]) {
    crc.update(&[kind]);
    crc.update(&(bytes.len() as u64).to_le_bytes());
    crc.update(bytes);
}
