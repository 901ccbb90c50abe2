//! Errors of a study's file, with advice.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use super::id_text;

/// Why something could not be done with a study.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no file.
    #[error("{}: there is no such study; 'lb-report study add {} DIR' begins one", path.display(), path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("{}: this is no study of lb-report: name a file that 'lb-report study add' made", path.display())]
    NotAStudy {
        /// The file.
        path: PathBuf,
    },
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
    #[error("{}: the study is damaged ({what}): take a copy of it from before, or add its runs to a new one", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Description of the error.
        what: String,
    },
    /// Another writes it, for long.
    #[error("{}: somebody else has been writing to the study for a minute: try again; nothing was changed", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// There is no space left.
    #[error("{}: no space left on its disk: the study is as it was, nothing was added", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be written.
    #[error("{}: cannot be written: {what}; the study is as it was", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        what: String,
    },
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
    #[error("{}: there is no run {run} in it; 'lb-report study list {}' shows those that are", path.display(), path.display())]
    NoRun {
        /// The file.
        path: PathBuf,
        /// Its number or id.
        run: String,
    },
    /// Something else.
    #[error("{}: {what}", path.display())]
    Failed {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        what: String,
    },
}

impl StoreError {
    pub(super) fn damaged(path: &Path, what: &str) -> StoreError {
        StoreError::Damaged { path: path.to_owned(), what: what.to_owned() }
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
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { path },
        Some(ErrorCode::DiskFull) => StoreError::Full { path },
        Some(ErrorCode::NotADatabase) => StoreError::NotAStudy { path },
        Some(
            ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen | ErrorCode::SystemIoFailure,
        ) => StoreError::Unwritable { path, what },
        // A table or column that is missing, a value of another kind: somebody changed it.
        _ => StoreError::Damaged { path, what },
    }
}
