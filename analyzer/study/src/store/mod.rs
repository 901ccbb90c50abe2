//! A study: runs in one SQLite file, which `sqlite3`, pandas and R can read. docs/study-format.md has its tables.
//!
//! - The file has a rollback journal, not a write-ahead log, which file systems of clusters do not carry.
//! - Who writes takes the file's lock before he reads what he decides by, so two that add at once both add.
//! - A run is added in one transaction: all of it, or nothing of it.
//! - What the file holds is checked as it is read: it may have been damaged, or come from another program.

mod cells;
mod checksum;
mod error;
mod functions;
mod names;
mod read;
mod schema;
mod stored_run;
#[cfg(test)]
mod tests;
mod write;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lbprof_collector::words::SystemError;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior};

use self::error::ExplainError;
pub use self::error::StoreError;
pub use self::schema::{CREATE_TABLES, StudyTable, TABLES};
pub use self::stored_run::{StoredRun, id_text};
use super::RunMetrics;

/// Time to wait for another writer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A study's file, open.
#[derive(Debug)]
pub struct StudyFile {
    path: PathBuf,
    connection: Connection,
}

impl StudyFile {
    /// The study in `path`, which must be there.
    pub fn open(path: &Path) -> Result<StudyFile, StoreError> {
        match fs::metadata(path) {
            // To SQLite a single byte is as good as none.
            Ok(found) if found.is_file() && found.len() != 1 => StudyFile::connect(path, OpenFlags::empty()),
            Ok(_) => Err(StoreError::NotAStudy(path.to_owned())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(StoreError::Missing(path.to_owned())),
            Err(error) => Err(StoreError::Failed(path.to_owned(), SystemError(&error).to_string())),
        }
    }

    /// The study in `path`, begun there where there is none.
    pub fn open_or_create(path: &Path) -> Result<StudyFile, StoreError> {
        if path.is_dir() {
            return Err(StoreError::NotAStudy(path.to_owned()));
        }
        StudyFile::connect(path, OpenFlags::SQLITE_OPEN_CREATE)
    }

    fn connect(path: &Path, more: OpenFlags) -> Result<StudyFile, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
        // Where no folder is before them, SQLite takes ":memory:", "file:…" and the like for something else than a file.
        let place = Path::new(".").join(path);
        let connection = Connection::open_with_flags(place, flags).explain(path)?;
        connection.busy_timeout(PATIENCE).explain(path)?;
        // A file from elsewhere must not run anything of its own.
        connection.pragma_update(None, "trusted_schema", false).explain(path)?;
        connection.pragma_update(None, "foreign_keys", true).explain(path)?;
        let study = StudyFile { path: path.to_owned(), connection };
        schema::check_file(&study.connection, path)?;
        study.check_runs()?;
        Ok(study)
    }

    /// Refuses a study whose runs are not those that their checksums are of.
    fn check_runs(&self) -> Result<(), StoreError> {
        let Some(number) = self.read(checksum::find_damaged)? else { return Ok(()) };
        let what = format!("the rows of run {number} are not those that its checksum is of");
        Err(StoreError::damaged(&self.path, &what))
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of the run with `id`, where the study holds it.
    pub fn number_of(&self, id: u64) -> Result<Option<u32>, StoreError> {
        self.read(|connection| number_of(connection, id))
    }

    /// Adds a run, and returns its number. A run that is there already is an error, unless it is to `replace` that.
    pub fn add(&mut self, run: &RunMetrics, replace: bool) -> Result<u32, StoreError> {
        let path = self.path.clone();
        let transaction = self.begin()?;
        schema::create_tables(&transaction, &path)?;
        let number = number_of(&transaction, run.id).explain(&path)?;
        match number {
            Some(number) if !replace => return Err(StoreError::Twice { path, id: run.id, number }),
            Some(number) => drop(write::remove_run(&transaction, number).explain(&path)?),
            None => {}
        }
        let number = write::write_run(&transaction, run, number).explain(&path)?;
        checksum::write_checksum(&transaction, number).explain(&path)?;
        transaction.commit().explain(&path)?;
        Ok(number)
    }

    /// Removes the runs of these numbers: all of them, or none where one is not there.
    pub fn remove(&mut self, numbers: &[u32]) -> Result<(), StoreError> {
        let path = self.path.clone();
        let transaction = self.begin()?;
        for &number in numbers {
            if schema::is_empty(&transaction).explain(&path)?
                || write::remove_run(&transaction, number).explain(&path)? == 0
            {
                return Err(StoreError::NoRun(path, number.to_string()));
            }
        }
        transaction.commit().explain(&path)
    }

    /// Returns all runs, by number.
    pub fn runs(&self) -> Result<Vec<StoredRun>, StoreError> {
        self.read(read::read_runs)
    }

    /// Reads the runs for lists: without figures by rank, phase, region, cause or function.
    pub fn heads(&self) -> Result<Vec<StoredRun>, StoreError> {
        self.read(read::read_heads)
    }

    /// Programs whose runs it holds, each once, sorted.
    pub fn programs(&self) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            let mut select = connection.prepare("SELECT DISTINCT program FROM runs ORDER BY program")?;
            select.query_map([], |row| row.get(0))?.collect()
        })
    }

    /// Reads as of one moment, whatever is added meanwhile; of a study in which nothing was ever written the result is the default.
    pub(super) fn read<T: Default>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let transaction = self.connection.unchecked_transaction().explain(&self.path)?;
        match schema::is_empty(&transaction).explain(&self.path)? {
            true => Ok(T::default()),
            false => read(&transaction).explain(&self.path),
        }
    }

    /// The lock to write, before anything is read.
    fn begin(&mut self) -> Result<Transaction<'_>, StoreError> {
        self.connection.transaction_with_behavior(TransactionBehavior::Immediate).explain(&self.path)
    }
}

fn number_of(connection: &Connection, id: u64) -> rusqlite::Result<Option<u32>> {
    connection.query_row("SELECT run FROM runs WHERE id = ?1", [id_text(id)], |row| row.get(0)).optional()
}
