//! The tables of a study, and how one is distinguished from other files. The comments of [`CREATE_TABLES`] explain each column.

use std::path::Path;

use rusqlite::{Connection, Transaction};

use super::error::{ExplainError, StoreError};

/// Distinguishes a study from other SQLite files: "LBPS".
const APPLICATION_ID: i32 = 0x4c42_5053;

/// The version of the tables below, and the only one that is read: the one before it was never released.
const VERSION: i32 = 4;

/// A table of a study.
#[derive(Clone, Copy, Debug)]
pub struct StudyTable {
    /// Its name.
    pub name: &'static str,
    /// The columns of its key, by which its rows are sorted.
    pub key: &'static str,
}

impl StudyTable {
    /// Returns the names of its columns: the first word in each line of the statement that makes it.
    pub fn columns(&self) -> Vec<&'static str> {
        let head = format!("CREATE TABLE {} (\n", self.name);
        let statement = CREATE_TABLES.split_once(&head).map_or("", |(_, statement)| statement);
        let lines = statement.lines().take_while(|line| !line.starts_with(')'));
        lines.filter_map(|line| line.split_whitespace().next()).filter(|word| *word != "PRIMARY").collect()
    }

    /// Returns the statement that selects its rows, those that a clause chooses, in the order of its key. Columns are named: a file from elsewhere may
    /// have others.
    pub fn select(&self, clause: &str) -> String {
        format!("SELECT {} FROM {} {clause} ORDER BY {}", self.columns().join(", "), self.name, self.key)
    }
}

/// Returns the statement that selects the rows of one run in a table, in the order of its key.
pub(super) fn select_of_run(name: &str) -> String {
    let table = TABLES.iter().find(|table| table.name == name);
    table.map(|table| table.select("WHERE run = ?1")).unwrap_or_default()
}

/// The table of runs, to which the rows of all others belong.
pub(super) const RUNS: StudyTable = StudyTable { name: "runs", key: "run" };

/// The tables.
pub const TABLES: [StudyTable; 13] = [
    RUNS,
    StudyTable { name: "hosts", key: "run, position" },
    StudyTable { name: "problems", key: "run, position" },
    StudyTable { name: "params", key: "run, name" },
    StudyTable { name: "ranks", key: "run, rank" },
    StudyTable { name: "phases", key: "run, phase, rank" },
    StudyTable { name: "regions", key: "run, region" },
    StudyTable { name: "region_times", key: "run, region, activity, rank" },
    StudyTable { name: "causes", key: "run, position" },
    StudyTable { name: "labels", key: "run" },
    StudyTable { name: "hardware", key: "run" },
    StudyTable { name: "cores", key: "run" },
    StudyTable { name: "functions", key: "run, position" },
];

/// Makes the tables, and the one of checksums. The comments are in the file of a study, and docs/study-tables.schema.json is made from them.
pub const CREATE_TABLES: &str = "
CREATE TABLE runs (
  run INTEGER PRIMARY KEY AUTOINCREMENT, -- Its number in the study: 1, 2 … in the order of adding; never reused.
  id TEXT NOT NULL UNIQUE, -- The run's id, the same in all its logs: 16 hexadecimal digits.
  program TEXT NOT NULL, -- Name of the program: the first word of the command without its folder, or what the user calls it.
  command TEXT NOT NULL, -- The command line, a JSON list of words.
  started_unix_s INTEGER NOT NULL, -- When it was started, in seconds since 1970.
  mpi TEXT NOT NULL, -- Name and version of the MPI library.
  n_ranks INTEGER NOT NULL, -- P: size of MPI_COMM_WORLD.
  complete INTEGER NOT NULL, -- Whether no data are missing.
  elapsed_s REAL, -- T: elapsed time.
  max_computation_s REAL, -- Longest computation of a rank.
  avg_computation_s REAL, -- Mean computation of all ranks.
  t_ideal_s REAL, -- Time on an ideal network; NULL: not known.
  ideal_by_replay INTEGER NOT NULL, -- Whether `t_ideal_s` comes from a replay; otherwise it is an estimate from iterations.
  iterations INTEGER, -- Iterations of the main loop; NULL: none is known.
  followed INTEGER NOT NULL -- Whether waiting was analysed, so that `causes` and `blocked_s` are known.
);
CREATE TABLE hosts (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, -- The run.
  position INTEGER NOT NULL, -- 0, 1 … by name.
  host TEXT NOT NULL, -- Name of the host.
  PRIMARY KEY (run, position)
);
CREATE TABLE problems (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, -- The run.
  position INTEGER NOT NULL, -- 0, 1 … the worst first.
  problem TEXT NOT NULL, -- Its name, as in the report's JSON.
  PRIMARY KEY (run, position)
);
CREATE TABLE params (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, -- The run.
  name TEXT NOT NULL, -- Name of the parameter.
  value REAL, -- Its value.
  PRIMARY KEY (run, name)
);
CREATE TABLE ranks (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, -- The run.
  rank INTEGER NOT NULL, -- Its number in MPI_COMM_WORLD.
  host TEXT NOT NULL, -- Its host.
  computation_s REAL, -- Its computation.
  blocked_s REAL, -- Time in which it could do nothing but wait; NULL: not known.
  max_resident_bytes INTEGER NOT NULL, -- Largest resident memory; 0: not sampled.
  PRIMARY KEY (run, rank)
);
CREATE TABLE phases (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, -- The run.
  phase TEXT NOT NULL, -- `useful work`, `serial work`, `control of parallelism`, an activity of MPI, `idle` or `not recorded`.
  rank INTEGER NOT NULL, -- The rank.
  seconds REAL, -- Its time in the phase.
  PRIMARY KEY (run, phase, rank)
) WITHOUT ROWID;
CREATE TABLE regions (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, -- The run.
  region INTEGER NOT NULL, -- 0, 1 … the order of the run's regions.
  path TEXT NOT NULL, -- Its path, as `main/step/force`; marked regions of several runs are the same by it.
  function TEXT, -- The function of a found region, after the functions and marked regions around it; empty for a loop, NULL for a marked region.
  calls TEXT, -- The calls after and before which its code runs, as `Send → Wait`; empty for all of the function, NULL for a marked region.
  ordinal INTEGER, -- Its place among the code between such calls, from 1 on; NULL for a marked region.
  kind TEXT NOT NULL, -- `useful`, `control` or `serial`.
  found INTEGER NOT NULL, -- Whether it was found in the calls, not marked.
  elapsed_s REAL, -- Its elapsed time: the longest time that a rank spends in it.
  max_computation_s REAL, -- Longest computation of a rank in it.
  avg_computation_s REAL, -- Mean computation of all ranks in it.
  t_ideal_s REAL, -- Its time on an ideal network, an estimate from iterations; NULL: not known.
  blocked_s REAL, -- Waiting in MPI calls in it without inner regions, summed over ranks; NULL: not known.
  iterations INTEGER, -- Iterations of the rank with most; NULL: it is not iterated.
  invocations INTEGER NOT NULL, -- Times it was entered, summed over ranks.
  operations REAL, -- #op: operations counted in it (LBPROF_WORK), summed over ranks.
  quanta REAL, -- #q: quanta, likewise.
  max_resident_bytes INTEGER NOT NULL, -- Largest resident memory of a rank when it left the region; 0: not sampled.
  max_swapped_bytes INTEGER NOT NULL, -- Largest swapped memory, likewise.
  PRIMARY KEY (run, region)
);
CREATE TABLE region_times (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, -- The run.
  region INTEGER NOT NULL, -- The region, as in `regions`.
  activity TEXT NOT NULL, -- `computation`, `point-to-point`, `collective`, `synchronization`, `one-sided`, `io`, `management` or `recorder`.
  rank INTEGER NOT NULL, -- The rank.
  seconds REAL, -- Its time; an activity that does not occur in the region has no rows.
  PRIMARY KEY (run, region, activity, rank)
) WITHOUT ROWID;
CREATE TABLE causes (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, -- The run.
  position INTEGER NOT NULL, -- 0, 1 … the order of the report, the largest first.
  rank INTEGER NOT NULL, -- The rank that causes it.
  region TEXT NOT NULL, -- Path of the region in which it does so.
  activity TEXT, -- What it does there; NULL: a message's delay, or not recorded.
  class TEXT NOT NULL, -- `communication`, `message delay`, `control of parallelism`, `workload imbalance` or `recorder`.
  caused_s REAL, -- Waiting that it causes, summed over ranks.
  PRIMARY KEY (run, position)
);
CREATE TABLE labels (
  run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE, -- The run.
  label TEXT NOT NULL -- The text, for example a commit.
);
CREATE TABLE hardware (
  run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE, -- The run.
  instructions REAL, -- Instructions in user space.
  cycles REAL, -- Cycles.
  seconds REAL -- CPU time in which they were counted.
);
CREATE TABLE cores (
  run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE, -- The run.
  cores INTEGER NOT NULL, -- N: cores that all ranks use.
  threads_per_rank INTEGER NOT NULL, -- The largest number of cores of a rank; also the parameter `threads`, unless the user gives one of that name.
  parallel REAL, -- Work / core time.
  mpi REAL, -- What MPI leaves, the product of the next two.
  load_balance REAL, -- The load balance of ranks.
  communication REAL, -- MPI on the rank that computes longest.
  threads REAL, -- What idle threads leave, the product of the next four.
  serial REAL, -- What is left where one thread computes outside of parallel regions.
  thread_balance REAL, -- What is left where threads work longer than others.
  waits REAL, -- What is left where they wait for critical sections, locks, ordered sections and tasks.
  fork_join REAL -- What is left where regions start and end.
);
CREATE TABLE functions (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, -- The run.
  position INTEGER NOT NULL, -- 0, 1 and so on.
  region TEXT, -- Path of the region, inner regions excluded; NULL: the whole program.
  function TEXT, -- Its name and source file, or the library that has it; NULL: all other functions together.
  mean_s REAL, -- Its CPU time in computation, the mean over ranks.
  error_s REAL, -- Standard error of that; NULL where `function` is.
  PRIMARY KEY (run, position)
);
CREATE TABLE checksums (
  run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  crc INTEGER NOT NULL
);
";

/// True if nothing was ever written: another process is just creating the study.
pub(super) fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(stated_format(connection)? == (0, 0) && count_tables(connection)? == 0)
}

/// Refuses a file that is no study, is of another version, or is damaged.
pub(super) fn check_file(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    // As of one moment: another may begin the study meanwhile.
    let moment = connection.unchecked_transaction().explain(path)?;
    match stated_format(&moment).explain(path)? {
        (0, 0) if count_tables(&moment).explain(path)? == 0 => Ok(()),
        (APPLICATION_ID, VERSION) => check_intact(&moment, path),
        (APPLICATION_ID, found) => Err(StoreError::Version { path: path.to_owned(), found, read: VERSION }),
        _ => Err(StoreError::NotAStudy(path.to_owned())),
    }
}

pub(super) fn create_tables(transaction: &Transaction, path: &Path) -> Result<(), StoreError> {
    if !is_empty(transaction).explain(path)? {
        return Ok(());
    }
    transaction.execute_batch(CREATE_TABLES).explain(path)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID).explain(path)?;
    transaction.pragma_update(None, "user_version", VERSION).explain(path)
}

/// Reads the head of the file: the program that it is of, and its version.
fn stated_format(connection: &Connection) -> rusqlite::Result<(i32, i32)> {
    let application_id = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok((application_id, version))
}

fn count_tables(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))
}

/// Refuses a file in which pages are missing or do not fit together, or one whose tables are none: a view of their name computes what
/// it likes, for as long as it likes, and so does a trigger.
fn check_intact(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    for StudyTable { name: table, .. } in TABLES {
        // A view would not do, since it computes anything.
        let condition = "type = 'table' AND rootpage > 0 AND name = ?1";
        if count_objects(connection, condition, table).explain(path)? == 0 {
            return Err(StoreError::damaged(path, &format!("there is no table {table}")));
        }
    }
    if count_objects(connection, "type = ?1", "trigger").explain(path)? > 0 {
        return Err(StoreError::damaged(path, "it has triggers"));
    }
    let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).explain(path)?;
    match found.as_str() {
        "ok" => Ok(()),
        _ => Err(StoreError::damaged(path, &found.replace('\n', " "))),
    }
}

fn count_objects(connection: &Connection, condition: &str, value: &str) -> rusqlite::Result<i64> {
    connection.query_row(&format!("SELECT count(*) FROM sqlite_master WHERE {condition}"), [value], |row| row.get(0))
}
