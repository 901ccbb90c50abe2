//! The report as CSV files: each list of objects of the JSON document is a table, all other values are in one table of facts.
//!
//! Files and columns have the names that the keys have in docs/report-json.md.

use std::io;

use serde_json::{Map, Value};

use super::Report;
use super::bounds::ListBounds;
use super::json::document;
use super::words::cell as text;

/// The name of the table of single values: columns `key` and `value`.
pub const FACTS: &str = "facts";

/// First line of the file of that table, the same in every report.
pub const HEAD: &str = "key,value\nschema,lbprof-report/";

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct CsvTable {
    /// Its name, that of its key: `ranks`, `blocking.causes`.
    pub name: String,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Its cells, row by row; an empty one is null.
    pub rows: Vec<Vec<String>>,
}

/// Returns all tables of the report, each with at least one row.
pub fn tables(report: &Report) -> Vec<CsvTable> {
    let mut tables = Vec::new();
    let mut facts = Vec::new();
    walk("", &document(report, &ListBounds::ALL), &mut tables, &mut facts);
    let columns = vec!["key".to_owned(), "value".to_owned()];
    tables.push(CsvTable { name: FACTS.to_owned(), columns, rows: facts });
    tables
}

/// Writes a table, its head first.
pub fn write(table: &CsvTable, out: &mut dyn io::Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(&table.columns)?;
    for row in &table.rows {
        writer.write_record(row)?;
    }
    writer.flush()
}

fn walk(path: &str, value: &Value, tables: &mut Vec<CsvTable>, facts: &mut Vec<Vec<String>>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object.iter() {
                let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                walk(&path, value, tables, facts);
            }
        }
        Value::Array(rows) if rows.iter().any(Value::is_object) => tables.push(table(path, rows)),
        other => facts.push(vec![text(path), cell(other)]),
    }
}

fn table(name: &str, rows: &[Value]) -> CsvTable {
    let mut columns: Vec<String> = Vec::new();
    let flat: Vec<Vec<(String, &Value)>> = rows.iter().filter_map(Value::as_object).map(flattened).collect();
    for (column, _) in flat.iter().flatten() {
        if !columns.contains(column) {
            columns.push(column.clone());
        }
    }
    let rows = flat.iter().map(|row| columns.iter().map(|column| cell_of_column(row, column)).collect()).collect();
    CsvTable { name: name.to_owned(), columns: columns.iter().map(|column| text(column)).collect(), rows }
}

/// The cell of a row in a column, or an empty one if the row has no such key.
fn cell_of_column(row: &[(String, &Value)], column: &str) -> String {
    row.iter().find(|(name, _)| name == column).map_or_else(String::new, |(_, value)| cell(value))
}

/// The values of an object. Those of inner objects are named `outer.inner`.
fn flattened(object: &Map<String, Value>) -> Vec<(String, &Value)> {
    let mut all = Vec::new();
    for (key, value) in object {
        match value {
            Value::Object(inner) => {
                all.extend(flattened(inner).into_iter().map(|(name, value)| (format!("{key}.{name}"), value)));
            }
            other => all.push((key.clone(), other)),
        }
    }
    all
}

/// A value as a cell. Lists within a row stay JSON.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(name) => text(name),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        other => text(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn walked(document: &Value) -> (Vec<CsvTable>, Vec<Vec<String>>) {
        let (mut tables, mut facts) = (Vec::new(), Vec::new());
        walk("", document, &mut tables, &mut facts);
        (tables, facts)
    }

    #[test]
    fn lists_of_objects_are_tables_and_all_else_is_facts() {
        let document = json!({
            "run": {"ranks": 2, "mpi": null},
            "ranks": [{"rank": 0, "activities": {"computation": 1.5}}, {"rank": 1, "host": "n1", "peers": [0, 2]}],
            "blocking": {"causes": [{"rank": 0}], "total_s": 0.5},
        });
        let (tables, facts) = walked(&document);
        assert_eq!(tables[0].name, "ranks");
        assert_eq!(tables[0].columns, ["rank", "activities.computation", "host", "peers"]);
        assert_eq!(tables[0].rows, [["0", "1.5", "", ""], ["1", "", "n1", "[0,2]"]]);
        assert_eq!(tables[1].name, "blocking.causes");
        assert_eq!(facts, [["run.ranks", "2"], ["run.mpi", ""], ["blocking.total_s", "0.5"]]);
    }

    #[test]
    fn names_are_no_formulas_but_negative_numbers_are_numbers() {
        let (tables, _) =
            walked(&json!({"regions": [{"path": "=cmd|'/c calc'!A0", "over_s": -0.5}, {"path": "\u{1b}[31m"}]}));
        assert_eq!(tables[0].rows, [["'=cmd|'/c calc'!A0", "-0.5"], ["\\u{1b}[31m", ""]]);
    }

    #[test]
    fn commas_quotes_and_breaks_are_quoted() {
        let table = CsvTable { name: "t".into(), columns: vec!["a".into()], rows: vec![vec!["x,\"y\"".into()]] };
        let mut out = Vec::new();
        write(&table, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a\n\"x,\"\"y\"\"\"\n");
    }
}
