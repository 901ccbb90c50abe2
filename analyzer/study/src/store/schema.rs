//! The tables of a study, and how one is distinguished from other files. docs/study-format.md explains each column.

use std::path::Path;

use rusqlite::{Connection, Transaction};

use super::error::{self, StoreError};

/// Distinguishes a study from other SQLite files: "LBPS".
const APPLICATION_ID: i32 = 0x4c42_5053;

/// The version of the tables below, and the only one that is read: the one before it was never released.
const VERSION: i32 = 3;

/// A table of a study.
#[derive(Clone, Copy, Debug)]
pub struct StudyTable {
    /// Its name.
    pub name: &'static str,
    /// The columns of its key, by which its rows are sorted.
    pub key: &'static str,
    /// Its columns.
    pub columns: &'static [&'static str],
}

impl StudyTable {
    /// Returns the statement that selects its rows, those that a clause chooses, in the order of its key. Columns are named: a file from elsewhere may
    /// have others.
    pub fn select(&self, clause: &str) -> String {
        format!("SELECT {} FROM {} {clause} ORDER BY {}", self.columns.join(", "), self.name, self.key)
    }
}

/// Returns the statement that selects the rows of one run in a table, in the order of its key.
pub(super) fn select_of_run(name: &str) -> String {
    let table = TABLES.iter().find(|table| table.name == name);
    table.map(|table| table.select("WHERE run = ?1")).unwrap_or_default()
}

/// The table of runs, to which the rows of all others belong.
pub(super) const RUNS: StudyTable = StudyTable {
    name: "runs",
    key: "run",
    columns: &[
        "run",
        "id",
        "program",
        "command",
        "started_unix_s",
        "mpi",
        "n_ranks",
        "complete",
        "elapsed_s",
        "max_computation_s",
        "avg_computation_s",
        "t_ideal_s",
        "ideal_by_replay",
        "iterations",
        "followed",
    ],
};

/// The tables.
pub const TABLES: [StudyTable; 13] = [
    RUNS,
    StudyTable { name: "hosts", key: "run, position", columns: &["run", "position", "host"] },
    StudyTable { name: "problems", key: "run, position", columns: &["run", "position", "problem"] },
    StudyTable { name: "params", key: "run, name", columns: &["run", "name", "value"] },
    StudyTable {
        name: "ranks",
        key: "run, rank",
        columns: &["run", "rank", "host", "computation_s", "blocked_s", "max_resident_bytes"],
    },
    StudyTable { name: "phases", key: "run, phase, rank", columns: &["run", "phase", "rank", "seconds"] },
    StudyTable {
        name: "regions",
        key: "run, region",
        columns: &[
            "run",
            "region",
            "path",
            "kind",
            "found",
            "elapsed_s",
            "max_computation_s",
            "avg_computation_s",
            "t_ideal_s",
            "blocked_s",
            "iterations",
            "invocations",
            "operations",
            "quanta",
            "max_resident_bytes",
            "max_swapped_bytes",
        ],
    },
    StudyTable {
        name: "region_times",
        key: "run, region, activity, rank",
        columns: &["run", "region", "activity", "rank", "seconds"],
    },
    StudyTable {
        name: "causes",
        key: "run, position",
        columns: &["run", "position", "rank", "region", "activity", "class", "caused_s"],
    },
    StudyTable { name: "labels", key: "run", columns: &["run", "label"] },
    StudyTable { name: "hardware", key: "run", columns: &["run", "instructions", "cycles", "seconds"] },
    StudyTable {
        name: "cores",
        key: "run",
        columns: &[
            "run",
            "cores",
            "threads_per_rank",
            "parallel",
            "mpi",
            "load_balance",
            "communication",
            "threads",
            "serial",
            "thread_balance",
            "waits",
            "fork_join",
        ],
    },
    StudyTable {
        name: "functions",
        key: "run, position",
        columns: &["run", "position", "region", "function", "mean_s", "error_s"],
    },
];

/// Makes the tables, and that of checksums.
const CREATE: &str = "
CREATE TABLE runs (
  run INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  program TEXT NOT NULL,
  command TEXT NOT NULL,
  started_unix_s INTEGER NOT NULL,
  mpi TEXT NOT NULL,
  n_ranks INTEGER NOT NULL,
  complete INTEGER NOT NULL,
  elapsed_s REAL,
  max_computation_s REAL,
  avg_computation_s REAL,
  t_ideal_s REAL,
  ideal_by_replay INTEGER NOT NULL,
  iterations INTEGER,
  followed INTEGER NOT NULL
);
CREATE TABLE hosts (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  position INTEGER NOT NULL,
  host TEXT NOT NULL,
  PRIMARY KEY (run, position)
);
CREATE TABLE problems (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  position INTEGER NOT NULL,
  problem TEXT NOT NULL,
  PRIMARY KEY (run, position)
);
CREATE TABLE params (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  name TEXT NOT NULL,
  value REAL,
  PRIMARY KEY (run, name)
);
CREATE TABLE ranks (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  rank INTEGER NOT NULL,
  host TEXT NOT NULL,
  computation_s REAL,
  blocked_s REAL,
  max_resident_bytes INTEGER NOT NULL,
  PRIMARY KEY (run, rank)
);
CREATE TABLE phases (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  phase TEXT NOT NULL,
  rank INTEGER NOT NULL,
  seconds REAL,
  PRIMARY KEY (run, phase, rank)
) WITHOUT ROWID;
CREATE TABLE regions (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  region INTEGER NOT NULL,
  path TEXT NOT NULL,
  kind TEXT NOT NULL,
  found INTEGER NOT NULL,
  elapsed_s REAL,
  max_computation_s REAL,
  avg_computation_s REAL,
  t_ideal_s REAL,
  blocked_s REAL,
  iterations INTEGER,
  invocations INTEGER NOT NULL,
  operations REAL,
  quanta REAL,
  max_resident_bytes INTEGER NOT NULL,
  max_swapped_bytes INTEGER NOT NULL,
  PRIMARY KEY (run, region)
);
CREATE TABLE region_times (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  region INTEGER NOT NULL,
  activity TEXT NOT NULL,
  rank INTEGER NOT NULL,
  seconds REAL,
  PRIMARY KEY (run, region, activity, rank)
) WITHOUT ROWID;
CREATE TABLE causes (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  position INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  region TEXT NOT NULL,
  activity TEXT,
  class TEXT NOT NULL,
  caused_s REAL,
  PRIMARY KEY (run, position)
);
CREATE TABLE labels (
  run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  label TEXT NOT NULL
);
CREATE TABLE hardware (
  run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  instructions REAL,
  cycles REAL,
  seconds REAL
);
CREATE TABLE cores (
  run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  cores INTEGER NOT NULL,
  threads_per_rank INTEGER NOT NULL,
  parallel REAL,
  mpi REAL,
  load_balance REAL,
  communication REAL,
  threads REAL,
  serial REAL,
  thread_balance REAL,
  waits REAL,
  fork_join REAL
);
CREATE TABLE functions (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  position INTEGER NOT NULL,
  region TEXT,
  function TEXT,
  mean_s REAL,
  error_s REAL,
  PRIMARY KEY (run, position)
);
CREATE TABLE checksums (
  run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  crc INTEGER NOT NULL
);
";

/// Returns whether nothing was ever written: a study that is just being begun.
pub(super) fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(stated(connection)? == (0, 0) && tables(connection)? == 0)
}

/// Refuses a file that is no study, is of another version, or is damaged.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |error| error::explain_error(path, error);
    // As of one moment: another may begin the study meanwhile.
    let moment = connection.unchecked_transaction().map_err(failed)?;
    match stated(&moment).map_err(failed)? {
        (0, 0) if tables(&moment).map_err(failed)? == 0 => Ok(()),
        (APPLICATION_ID, VERSION) => intact(&moment, path),
        (APPLICATION_ID, found) => Err(StoreError::Version { path: path.to_owned(), found, read: VERSION }),
        _ => Err(StoreError::NotAStudy { path: path.to_owned() }),
    }
}

/// Makes the tables where there are none.
pub(super) fn create(transaction: &Transaction, path: &Path) -> Result<(), StoreError> {
    let failed = |error| error::explain_error(path, error);
    if !is_empty(transaction).map_err(failed)? {
        return Ok(());
    }
    transaction.execute_batch(CREATE).map_err(failed)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
    transaction.pragma_update(None, "user_version", VERSION).map_err(failed)
}

/// Returns whether there is a table of this name; a view of that name would compute what it likes.
fn has_table(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    Ok(count(connection, "type = 'table' AND rootpage > 0 AND name = ?1", name)? > 0)
}

/// Returns what the head of the file states: whose it is, and its version.
fn stated(connection: &Connection) -> rusqlite::Result<(i32, i32)> {
    let of = |name| connection.pragma_query_value(None, name, |row| row.get(0));
    Ok((of("application_id")?, of("user_version")?))
}

fn tables(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))
}

/// Refuses a file in which pages are missing or do not fit together, or one whose tables are none: a view of their name computes what
/// it likes, for as long as it likes, and so does a trigger.
fn intact(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |error| error::explain_error(path, error);
    let damaged = |what: String| Err(StoreError::Damaged { path: path.to_owned(), what });
    for StudyTable { name: table, .. } in TABLES {
        if !has_table(connection, table).map_err(failed)? {
            return damaged(format!("there is no table {table}"));
        }
    }
    if count(connection, "type = ?1", "trigger").map_err(failed)? > 0 {
        return damaged("it has triggers".to_owned());
    }
    let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(failed)?;
    match found.as_str() {
        "ok" => Ok(()),
        _ => damaged(found.replace('\n', " ")),
    }
}

/// Returns how many things of the file are so.
fn count(connection: &Connection, so: &str, value: &str) -> rusqlite::Result<i64> {
    connection.query_row(&format!("SELECT count(*) FROM sqlite_master WHERE {so}"), [value], |row| row.get(0))
}
