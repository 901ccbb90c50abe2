//! Errors of a study's file, with advice.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode::{
    CannotOpen, DatabaseBusy, DatabaseLocked, DiskFull, NotADatabase, PermissionDenied, ReadOnly, SystemIoFailure,
};

use super::id_text;

/// Why something could not be done with a study.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no file.
    #[error("{}: there is no such study; 'lb-report study add {} DIR' begins one", .0.display(), .0.display())]
    Missing(PathBuf),
    /// The file is something else.
    #[error("{}: this is no study of lb-report: name a file that 'lb-report study add' made", .0.display())]
    NotAStudy(PathBuf),
    /// The study is of another version of the format.
    #[error("{}: study format {found}, this lb-report reads {read}: use the one that wrote it", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i32,
        /// The version that is read here.
        read: i32,
    },
    /// The file is damaged.
    #[error("{}: the study is damaged ({}): take a copy of it from before, or add its runs to a new one", .0.display(), .1)]
    Damaged(PathBuf, String),
    /// Another writes it, for long.
    #[error("{}: somebody else has been writing to the study for a minute: try again; nothing was changed", .0.display())]
    Busy(PathBuf),
    /// There is no space left.
    #[error("{}: no space left on its disk: the study is as it was, nothing was added", .0.display())]
    Full(PathBuf),
    /// The file cannot be written.
    #[error("{}: cannot be written: {}; the study is as it was", .0.display(), .1)]
    Unwritable(PathBuf, String),
    /// The run is in it already.
    #[error("{}: the run {} is in the study already, as run {number}; --replace puts the new figures in its place", path.display(), id_text(*id))]
    Twice {
        /// The file.
        path: PathBuf,
        /// The run's id.
        id: u64,
        /// Its number there.
        number: u32,
    },
    /// The run is not in it.
    #[error("{}: there is no run {} in it; 'lb-report study list {}' shows those that are", .0.display(), .1, .0.display())]
    NoRun(PathBuf, String),
    /// Something else.
    #[error("{}: {}", .0.display(), .1)]
    Failed(PathBuf, String),
}

impl StoreError {
    pub(super) fn damaged(path: &Path, what: &str) -> StoreError {
        StoreError::Damaged(path.to_owned(), what.to_owned())
    }
}

/// Turns errors of SQLite into errors of a study.
pub(super) trait ExplainError<T> {
    /// Says what an error means to the user of the study in `path`.
    fn explain(self, path: &Path) -> Result<T, StoreError>;
}

impl<T> ExplainError<T> for rusqlite::Result<T> {
    fn explain(self, path: &Path) -> Result<T, StoreError> {
        self.map_err(|error| explain_error(path, error))
    }
}

fn explain_error(path: &Path, error: rusqlite::Error) -> StoreError {
    let path = path.to_owned();
    let what = error.to_string();
    match error.sqlite_error_code() {
        Some(DatabaseBusy | DatabaseLocked) => StoreError::Busy(path),
        Some(DiskFull) => StoreError::Full(path),
        Some(NotADatabase) => StoreError::NotAStudy(path),
        Some(ReadOnly | PermissionDenied | CannotOpen | SystemIoFailure) => StoreError::Unwritable(path, what),
        // A table or column that is missing, a value of another kind: the file was changed.
        _ => StoreError::Damaged(path, what),
    }
}
