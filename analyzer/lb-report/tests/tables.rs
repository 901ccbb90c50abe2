//! `lb-report export parquet`: the tables have what the report says, read back by a reader.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::Path;

use lbprof_export::parquet::{EVENTS, PARALLEL, ParquetColumn, SUMS, TableDescription};
use lbprof_simulator::scenario::Scenario;
use lbprof_test_runs::written;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::{Value, json};

use crate::program::{lb_report, stdout_of};

type Row = BTreeMap<String, Field>;

fn report(run: &Path) -> Value {
    serde_json::from_str(&stdout_of(run, &[".", "--json", "--no-symbols"], 0)).unwrap()
}

/// Exports the run in `dir` into `tables` in it; what was said.
fn export(dir: &Path, more: &[&str]) -> (Option<i32>, String) {
    let tables = ["export", "parquet", ".", "-o", "tables", "--no-symbols"];
    let output = lb_report(dir, &[&tables, more].concat()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), said.lines().filter(|line| !line.contains("open it with pandas")).collect())
}

fn rows(dir: &Path, table: &str) -> Vec<Row> {
    let file = File::open(dir.join("tables").join(format!("{table}.parquet"))).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(|row| row.unwrap().into_columns().into_iter().collect()).collect()
}

fn number(row: &Row, column: &str) -> f64 {
    match &row[column] {
        Field::Int(value) => f64::from(*value),
        Field::Long(value) => *value as f64,
        Field::Double(value) => *value,
        other => panic!("{column}: {other}"),
    }
}

fn text<'a>(row: &'a Row, column: &str) -> &'a str {
    match &row[column] {
        Field::Str(text) => text,
        other => panic!("{column}: {other}"),
    }
}

fn sum(rows: &[Row], column: &str) -> f64 {
    rows.iter().map(|row| number(row, column)).sum()
}

fn assert_close(found: f64, expected: &Value, what: &str) {
    let expected = expected.as_f64().unwrap_or_else(|| panic!("{what}: {expected}"));
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1e-3), "{what}: {found}, expected {expected}");
}

/// Eight steps of four ranks: each sends to the next, computes, one of them, each time another, longer than the others, and meets all.
fn steps() -> Scenario {
    Scenario::ranks(4).each(|rank, script| {
        script.repeat(8, move |step, script| {
            script.iteration("step", move |script| {
                let longest = 9.0;
                let own = if step % 4 == rank { longest } else { 4.0 + f64::from(rank) };
                let (right, left) = ((rank as i32 + 1) % 4, (rank as i32 + 3) % 4);
                let script = script.at("post").irecv(left, 1, 0.125).isend(right, 1, 100 + u64::from(rank), 0.125);
                let script = script.region("force", |script| script.compute(own));
                let first = 2 * step;
                let from_left = 100 + u64::from(left as u32);
                let script = script.at("wait").waitall(&[(first, from_left), (first + 1, 0)], 0.25);
                script.at("sum").allreduce(8, longest - own + 0.5)
            })
        })
    })
}

#[test]
fn load_balance_and_micro_load_balance_follow_from_the_tables() {
    let dir = written(steps());
    assert_eq!(export(dir.path(), &[]), (Some(0), String::new()));
    let report = report(dir.path());
    let ranks = rows(dir.path(), "ranks");
    let longest = ranks.iter().map(|row| number(row, "computation_s")).fold(0.0, f64::max);
    let mean = sum(&ranks, "computation_s") / ranks.len() as f64;
    let efficiency = &report["efficiency"];
    assert_close(mean / longest, &efficiency["load_balance"], "load balance");
    let elapsed = ranks.iter().map(|row| number(row, "end_s")).fold(0.0, f64::max);
    assert_close(mean / elapsed, &efficiency["parallel"], "parallel efficiency");
    // In each iteration all wait for the slowest.
    let mut slowest: BTreeMap<u32, f64> = BTreeMap::new();
    for row in rows(dir.path(), "iterations").iter().filter(|row| text(row, "region") == "main/step") {
        let known = slowest.entry(number(row, "iteration") as u32).or_default();
        *known = known.max(number(row, "computation_s"));
        assert_eq!(number(row, "computation_known"), 1.0);
    }
    assert_eq!(slowest.len(), 8);
    let ideal: f64 = slowest.values().sum();
    assert_close(ideal, &efficiency["t_ideal_phase_profile_s"], "ideal time");
    assert_close(ideal, &efficiency["t_ideal_s"], "ideal time by replay");
    assert_close(longest / ideal, &efficiency["micro_load_balance"], "micro load balance");
    let regions = rows(dir.path(), "regions");
    for region in report["regions"].as_array().unwrap() {
        let own: Vec<Row> = regions.iter().filter(|row| text(row, "region") == region["path"]).cloned().collect();
        let invocations = region["invocations"].as_f64().unwrap_or(0.0);
        assert_eq!(sum(&own, "invocations"), invocations, "{}", region["path"]);
        let inclusive = sum(&own, "inclusive_computation_s") / 4.0;
        assert_close(inclusive, &region["efficiency"]["avg_computation_s"], "computation");
    }
}

#[test]
fn events_add_up_to_what_the_report_says() {
    let dir = written(steps());
    export(dir.path(), &[]);
    let report = report(dir.path());
    let messages = rows(dir.path(), "messages");
    let mut matrix: BTreeMap<(u32, u32), (f64, f64)> = BTreeMap::new();
    for row in &messages {
        let pair = (number(row, "source") as u32, number(row, "dest") as u32);
        let known = matrix.entry(pair).or_default();
        *known = (known.0 + 1.0, known.1 + number(row, "bytes"));
        assert!(number(row, "sent_ns") <= number(row, "received_ns"));
        assert_eq!((text(row, "communicator"), number(row, "tag")), ("MPI_COMM_WORLD", 1.0));
    }
    let expected = (0..4_u32).map(|rank| ((rank, (rank + 1) % 4), (8.0, f64::from(8 * (100 + rank)))));
    assert_eq!(matrix, expected.collect());
    let waits = rows(dir.path(), "waits");
    let ns = |row: &Row| number(row, "end_ns") - number(row, "begin_ns");
    let waited: f64 = waits.iter().map(ns).sum();
    assert_close(waited * 1e-9, &report["blocking"]["total_s"], "waiting");
    for state in report["blocking"]["states"].as_array().unwrap() {
        let own = waits.iter().filter(|row| text(row, "state") == state["state"]);
        assert_close(own.clone().count() as f64, &state["count"], "waits");
        let waiting: f64 = own.clone().map(|row| number(row, "awaited_ns") - number(row, "begin_ns")).sum();
        assert_close(waiting * 1e-9, &state["waiting_s"], "waiting");
    }
    // Calls, as the sums of call paths and the report's call sites have them.
    let (calls, paths) = (rows(dir.path(), "calls"), rows(dir.path(), "call_paths"));
    let blocked = calls.iter().map(|row| number(row, "blocked_ns")).sum::<f64>();
    assert_close(blocked * 1e-9, &report["blocking"]["total_s"], "waiting");
    // With MPI_Finalize the time ends that is followed.
    let sites = report["callsites"].as_array().unwrap().iter().filter(|site| site["operation"] != "Finalize");
    for site in sites {
        let operation = format!("MPI_{}", site["operation"].as_str().unwrap());
        let is_own = |row: &&Row| text(row, "operation") == operation;
        let (own, path): (Vec<Row>, Vec<Row>) =
            (calls.iter().filter(is_own).cloned().collect(), paths.iter().filter(is_own).cloned().collect());
        let time = (sum(&own, "end_ns") - sum(&own, "begin_ns")) * 1e-9;
        assert_close(time, &site["time_s"], &operation);
        assert_close(sum(&path, "time_s"), &site["time_s"], &operation);
        for column in ["calls", "sent_bytes", "received_bytes"] {
            assert_close(sum(&path, column), &site[column], &operation);
        }
        assert_close(own.len() as f64, &site["calls"], &operation);
        assert_close(sum(&own, "sent_bytes"), &site["sent_bytes"], &operation);
        assert_close(sum(&own, "received_bytes"), &site["received_bytes"], &operation);
        let of_path: BTreeSet<String> = path.iter().map(|row| format!("{}", row["call_path"])).collect();
        assert!(own.iter().all(|row| of_path.contains(&format!("{}", row["call_path"]))), "call paths are known");
    }
    let sends = calls.iter().filter(|row| text(row, "operation") == "MPI_Isend");
    let peers: BTreeSet<(i64, i64)> =
        sends.map(|row| (number(row, "rank") as i64, number(row, "peer") as i64)).collect();
    assert_eq!(peers, BTreeSet::from([(0, 1), (1, 2), (2, 3), (3, 0)]));
    let met = calls.iter().find(|row| text(row, "operation") == "MPI_Allreduce").unwrap();
    assert_eq!((&met["peer"], &met["tag"]), (&Field::Null, &Field::Null));
    assert_eq!(text(met, "communicator"), "MPI_COMM_WORLD");
}

#[test]
fn more_rows_than_a_group_has_are_all_there() {
    let dir = written(
        Scenario::ranks(2)
            .each(|_, script| script.repeat(40_000, |_, script| script.compute(0.001).at("here").barrier(0.001))),
    );
    assert_eq!(export(dir.path(), &[]).0, Some(0));
    let calls = rows(dir.path(), "calls");
    let barriers: Vec<&Row> = calls.iter().filter(|row| text(row, "operation") == "MPI_Barrier").collect();
    assert_eq!(barriers.len(), 80_000);
    let begins: Vec<f64> =
        barriers.iter().filter(|row| number(row, "rank") == 1.0).map(|row| number(row, "begin_ns")).collect();
    assert!(begins.iter().zip(0..).all(|(&begin, at)| begin == f64::from(1000 + 2000 * at)), "times are exact");
}

#[test]
fn a_part_of_a_run_is_exported_alone() {
    let dir = written(steps());
    let selection = ["--ranks", "1", "--from", "iteration=2", "--to", "iteration=3"];
    assert_eq!(export(dir.path(), &selection).0, Some(0));
    assert!(rows(dir.path(), "ranks").iter().all(|row| number(row, "rank") == 1.0));
    let calls = rows(dir.path(), "calls");
    assert!(calls.iter().all(|row| number(row, "rank") == 1.0 && number(row, "begin_ns") >= 0.0));
    assert_eq!(calls.iter().filter(|row| text(row, "operation") == "MPI_Allreduce").count(), 2);
    assert_eq!(rows(dir.path(), "messages").len(), 2);
    let iterations = rows(dir.path(), "iterations");
    let numbers: Vec<f64> = iterations.iter().map(|row| number(row, "iteration")).collect();
    assert_eq!(numbers, [2.0, 3.0]);
    assert_eq!(export(dir.path(), &["--region", "force"]).0, Some(0));
    assert!(rows(dir.path(), "calls").is_empty(), "no call is in the region");
}

#[test]
fn sums_are_tables_too_and_leave_none_of_an_earlier_run() {
    let events = written(steps());
    export(events.path(), &[]);
    let dir = written(steps().profile_mode());
    fs::create_dir(dir.path().join("tables")).unwrap();
    fs::copy(events.path().join("tables/calls.parquet"), dir.path().join("tables/calls.parquet")).unwrap();
    fs::write(dir.path().join("tables/waits.parquet"), "of somebody else").unwrap();
    let (code, said) = export(dir.path(), &[]);
    assert_eq!(code, Some(0));
    assert!(said.contains("there are no tables waits, messages, calls"), "{said}");
    let mut names: Vec<String> = fs::read_dir(dir.path().join("tables"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["call_paths.parquet", "iterations.parquet", "ranks.parquet", "regions.parquet", "waits.parquet"]
    );
    for table in SUMS.map(|table| table.name) {
        assert_eq!(rows(dir.path(), table).len(), rows(events.path(), table).len(), "{table}");
    }
}

#[test]
fn an_export_that_fails_leaves_nothing() {
    let dir = written(steps());
    let (code, said) = export(dir.path(), &["--region", "none"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(!dir.path().join("tables").exists());
    let output = lb_report(dir.path(), &["export", "parquet", "."]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("name a folder for them: -o tables"));
}

fn column_schema(column: &ParquetColumn) -> Value {
    let name = match column.kind.name() {
        "text" => "string",
        "double" => "number",
        _ => "integer",
    };
    let mut schema = json!({ "description": format!("{}.", column.meaning), "type": name });
    if column.optional {
        schema["type"] = json!([name, "null"]);
    }
    if name != "string" {
        schema["format"] = column.kind.name().into();
    }
    schema
}

fn table_schema(table: &TableDescription) -> Value {
    let columns = table.columns().into_iter().map(|column| (column.name.to_owned(), column_schema(&column)));
    let columns: serde_json::Map<String, Value> = columns.collect();
    let row = json!({ "type": "object", "properties": columns });
    json!({ "description": format!("A row is {}.", table.row), "type": "array", "items": row })
}

#[test]
fn the_schema_of_all_columns_is_in_the_documents() {
    const COMMAND: &str = "UPDATE_SCHEMA=1 cargo test -p lb-report schema";
    let tables = SUMS.iter().chain(&PARALLEL).chain(&EVENTS).map(|table| (table.name.to_owned(), table_schema(table)));
    let tables: serde_json::Map<String, Value> = tables.collect();
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": format!("Generated from analyzer/export/src/parquet/ by `{COMMAND}`; do not edit."),
        "title": "The tables that lb-report export parquet writes",
        "type": "object",
        "properties": tables,
    });
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let expected = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        fs::write(docs.join("parquet.schema.json"), &expected).unwrap();
    }
    let written = fs::read_to_string(docs.join("parquet.schema.json")).unwrap_or_default();
    assert!(written == expected, "docs/parquet.schema.json is not what the columns make: {COMMAND}");
    let document = fs::read_to_string(docs.join("exports.md")).unwrap();
    for table in SUMS.iter().chain(&PARALLEL).chain(&EVENTS) {
        let place = format!("<!-- keys of {} in parquet.schema.json -->", table.name);
        assert!(document.contains(&place), "docs/exports.md lacks the place for the columns of {}", table.name);
    }
}
