//! The report as CSV: each list of objects in the JSON is a table, and all other values form one table of facts. Files and columns are named after the
//! JSON keys.

use std::io;

use serde_json::Value;

use crate::Report;
use crate::json::report_document;
use crate::rows::bounds::ListBounds;
use crate::rows::words::spreadsheet_cell as text;

/// Name of the table of single values, with columns `key` and `value`.
pub const FACTS: &str = "facts";

/// Start of that table's file in every report.
pub const HEAD: &str = "key,value\nschema,lbprof-report/";

/// A list of the JSON as a table.
#[derive(Clone, Debug, PartialEq)]
pub struct CsvTable {
    /// Key of the list: `ranks`, `blocking.causes`.
    pub name: String,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Its cells, row by row; an empty one is null.
    pub rows: Vec<Vec<String>>,
}

/// Returns all tables of the report, each with at least one row.
pub fn csv_tables(report: &Report) -> Vec<CsvTable> {
    tables_of_document(&report_document(report, &ListBounds::ALL))
}

fn tables_of_document(document: &Value) -> Vec<CsvTable> {
    let mut tables = Vec::new();
    let mut facts = Vec::new();
    for (path, value) in flatten_object("", document) {
        match value {
            Value::Array(rows) if rows.iter().any(Value::is_object) => tables.push(csv_table(&path, rows)),
            other => facts.push(vec![text(&path), json_cell(other)]),
        }
    }
    let columns = vec!["key".to_owned(), "value".to_owned()];
    tables.push(CsvTable { name: FACTS.to_owned(), columns, rows: facts });
    tables
}

/// Writes a table with its head.
pub fn write_csv_table(table: &CsvTable, out: &mut dyn io::Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(&table.columns)?;
    for row in &table.rows {
        writer.write_record(row)?;
    }
    writer.flush()
}

fn csv_table(name: &str, rows: &[Value]) -> CsvTable {
    let mut columns: Vec<String> = Vec::new();
    let flat: Vec<Vec<(String, &Value)>> =
        rows.iter().filter(|row| row.is_object()).map(|row| flatten_object("", row)).collect();
    for (column, _) in flat.iter().flatten() {
        if !columns.contains(column) {
            columns.push(column.clone());
        }
    }
    let rows = flat.iter().map(|row| {
        let values = columns.iter().map(|column| row.iter().find(|(name, _)| name == column));
        values.map(|found| found.map_or_else(String::new, |(_, value)| json_cell(value))).collect()
    });
    let rows = rows.collect();
    CsvTable { name: name.to_owned(), columns: columns.iter().map(|column| text(column)).collect(), rows }
}

/// Returns the values in a value with their paths: `outer.inner`.
fn flatten_object<'a>(path: &str, value: &'a Value) -> Vec<(String, &'a Value)> {
    let Value::Object(object) = value else { return vec![(path.to_owned(), value)] };
    let inner = object.iter().flat_map(|(key, value)| {
        let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        flatten_object(&path, value)
    });
    inner.collect()
}

/// Formats a value. Lists within a row stay JSON.
fn json_cell(value: &Value) -> String {
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

    #[test]
    fn lists_of_objects_are_tables_and_all_else_is_facts() {
        let document = json!({
            "run": {"ranks": 2, "mpi": null},
            "ranks": [{"rank": 0, "activities": {"computation": 1.5}}, {"rank": 1, "host": "n1", "peers": [0, 2]}],
            "blocking": {"causes": [{"rank": 0}], "total_s": 0.5},
        });
        let tables = tables_of_document(&document);
        assert_eq!(tables[0].name, "ranks");
        assert_eq!(tables[0].columns, ["rank", "activities.computation", "host", "peers"]);
        assert_eq!(tables[0].rows, [["0", "1.5", "", ""], ["1", "", "n1", "[0,2]"]]);
        assert_eq!(tables[1].name, "blocking.causes");
        assert_eq!(tables[2].rows, [["run.ranks", "2"], ["run.mpi", ""], ["blocking.total_s", "0.5"]]);
    }

    #[test]
    fn names_are_no_formulas_but_negative_numbers_are_numbers() {
        let tables = tables_of_document(
            &json!({"regions": [{"path": "=cmd|'/c calc'!A0", "over_s": -0.5}, {"path": "\u{1b}[31m"}]}),
        );
        assert_eq!(tables[0].rows, [["'=cmd|'/c calc'!A0", "-0.5"], ["\\u{1b}[31m", ""]]);
    }

    #[test]
    fn commas_quotes_and_breaks_are_quoted() {
        let table = CsvTable { name: "t".into(), columns: vec!["a".into()], rows: vec![vec!["x,\"y\"".into()]] };
        let mut out = Vec::new();
        write_csv_table(&table, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a\n\"x,\"\"y\"\"\"\n");
    }
}
