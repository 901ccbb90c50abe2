//! A study's tables as they are, for other programs: docs/study-format.md explains each column.

use std::io;

use rusqlite::types::{Value as SqlValue, ValueRef};
use serde_json::{Map, Value};

use super::store::{StoreError, StudyFile, TABLES};

/// A table of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyExportTable {
    /// Its name.
    pub name: &'static str,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Its cells, row by row, in the order of the table's key.
    pub rows: Vec<Vec<Value>>,
}

/// Reads all tables of a study in one transaction.
pub fn read_tables(study: &StudyFile) -> Result<Vec<StudyExportTable>, StoreError> {
    study.read(|connection| {
        let mut tables = Vec::new();
        for table in TABLES {
            let mut select = connection.prepare(&table.select(""))?;
            let columns: Vec<String> = table.columns().into_iter().map(str::to_owned).collect();
            let n = columns.len();
            let rows = select.query_map([], |row| (0..n).map(|at| Ok(cell_value(row.get_ref(at)?))).collect())?;
            let rows = rows.collect::<rusqlite::Result<_>>()?;
            tables.push(StudyExportTable { name: table.name, columns, rows });
        }
        Ok(tables)
    })
}

/// Writes all tables as one JSON object: a list of rows for each.
pub fn write_json(tables: &[StudyExportTable], out: &mut dyn io::Write) -> io::Result<()> {
    let mut document = Map::new();
    document.insert("schema".to_owned(), "lbprof-study/1".into());
    for table in tables {
        let rows = table.rows.iter();
        let rows = rows.map(|cells| table.columns.iter().cloned().zip(cells.iter().cloned()).collect::<Value>());
        document.insert(table.name.to_owned(), rows.collect());
    }
    lbprof_report::json::write_pretty(&document, out)
}

/// Writes a table as CSV, its head first; an empty cell is NULL. Names that a spreadsheet would compute begin with an apostrophe.
pub fn write_csv(table: &StudyExportTable, out: &mut dyn io::Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(&table.columns)?;
    for row in &table.rows {
        writer.write_record(row.iter().map(|cell| match cell {
            Value::Null => String::new(),
            Value::String(text) => lbprof_report::words::spreadsheet_cell(text),
            other => other.to_string(),
        }))?;
    }
    writer.flush()
}

/// A cell; what is no number in JSON is null.
fn cell_value(cell: ValueRef) -> Value {
    match SqlValue::try_from(cell) {
        Ok(SqlValue::Integer(number)) => number.into(),
        Ok(SqlValue::Real(number)) => number.into(),
        Ok(SqlValue::Text(text)) => text.into(),
        Ok(SqlValue::Null | SqlValue::Blob(_)) | Err(_) => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_formulas_but_negative_numbers_are_numbers() {
        let names = ["=p()", "+1", "@SUM(A1)", "-n", "n"].map(Value::from);
        let rows = names.iter().map(|name| vec![name.clone(), (-0.5).into()]).collect();
        let table = StudyExportTable { name: "params", columns: vec!["name".into(), "value".into()], rows };
        let mut out = Vec::new();
        write_csv(&table, &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "name,value\n'=p(),-0.5\n'+1,-0.5\n'@SUM(A1),-0.5\n'-n,-0.5\nn,-0.5\n"
        );
    }
}
