//! A run's folder: which files it holds, and the logs and rings in them, by rank.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use bincode::{Decode, Encode};

use crate::format::{log_name, rank_of_log, rank_of_rings, rings_name, saved_sums_name};
use crate::log_paths::{name_owner, open_file};
use crate::rank_log::RankLog;
use crate::reader::OpenError;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
struct RankFiles {
    has_log: bool,
    has_rings: bool,
}

/// The names of files in a folder that belong to a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct RunFileNames {
    ranks: BTreeMap<u32, RankFiles>,
}

impl RunFileNames {
    /// Lists the files in the folder at `path`.
    ///
    /// Errors: what the system says of the folder.
    pub fn list(path: &Path) -> io::Result<RunFileNames> {
        let mut names = RunFileNames::default();
        for entry in std::fs::read_dir(path).map_err(|error| name_owner(path, error))? {
            let name = entry?.file_name();
            let Some(name) = name.to_str() else { continue };
            if let Some(rank) = rank_of_log(name) {
                names.ranks.entry(rank).or_default().has_log = true;
            } else if let Some(rank) = rank_of_rings(name) {
                names.ranks.entry(rank).or_default().has_rings = true;
            }
        }
        Ok(names)
    }

    /// Returns the names of the files.
    pub fn files(&self) -> impl Iterator<Item = String> + '_ {
        self.ranks.iter().flat_map(|(&rank, files)| {
            let log = files.has_log.then(|| log_name(rank));
            log.into_iter().chain(files.has_rings.then(|| rings_name(rank)))
        })
    }

    /// Splits the files into `n` parts, some of them empty if there are fewer ranks. Each has the files of ranks that follow one another.
    pub fn shares(&self, n: usize) -> Vec<RunFileNames> {
        let mut shares = vec![RunFileNames::default(); n];
        for (index, (&rank, &files)) in self.ranks.iter().enumerate() {
            shares[index * n / self.ranks.len()].ranks.insert(rank, files);
        }
        shares
    }
}

/// Returns whether the folder at `path` holds logs, or rings of ranks that were killed.
pub fn contains_logs(path: &Path) -> bool {
    RunFileNames::list(path).is_ok_and(|names| !names.ranks.is_empty())
}

/// Returns the start of the run in the folder at `path`, in seconds since 1970: 0 if the log of its lowest rank cannot be read, `None` without logs.
pub fn started_unix_s(path: &Path) -> Option<u64> {
    let folder = RunFolder::list(path).ok()?;
    let rank = folder.ranks().next()?;
    Some(folder.open(rank).map_or(0, |log| log.header().started_unix_s))
}

/// The files of a run in its folder, by rank. The folder is listed once.
#[derive(Clone, Debug, Default)]
pub struct RunFolder {
    path: PathBuf,
    names: RunFileNames,
}

impl RunFolder {
    /// Lists the folder at `path`.
    ///
    /// Errors: what the system says of the folder.
    pub fn list(path: &Path) -> io::Result<RunFolder> {
        Ok(RunFolder::with_names(path, RunFileNames::list(path)?))
    }

    /// Takes these files of the folder at `path`.
    pub fn with_names(path: &Path, names: RunFileNames) -> RunFolder {
        RunFolder { path: path.to_path_buf(), names }
    }

    /// Returns the ranks that left a log or rings, in ascending order.
    pub fn ranks(&self) -> impl Iterator<Item = u32> + '_ {
        self.names.ranks.keys().copied()
    }

    /// Opens what `rank` left.
    ///
    /// Errors: its log cannot be read, and there is no ring in place of a log that is missing or ends within its header.
    pub fn open(&self, rank: u32) -> Result<RankLog, OpenError> {
        let log = RankLog::from_files(rank, &self.log_path(rank), self.rings_path(rank).as_deref())?;
        // A rank that has ended by itself has left neither rings nor such sums.
        Ok(if self.has_rings(rank) { log.with_saved_sums(&self.path.join(saved_sums_name(rank))) } else { log })
    }

    /// Returns the bytes of the log of `rank`, or 0 if they are not known.
    pub fn log_bytes(&self, rank: u32) -> u64 {
        let length = open_file(&self.log_path(rank)).and_then(|file| file.metadata());
        length.map_or(0, |facts| facts.len())
    }

    /// Returns the path of the log of `rank`, which may not exist if its rings are left.
    pub(crate) fn log_path(&self, rank: u32) -> PathBuf {
        self.path.join(log_name(rank))
    }

    pub(crate) fn rings_path(&self, rank: u32) -> Option<PathBuf> {
        self.has_rings(rank).then(|| self.path.join(rings_name(rank)))
    }

    /// Returns whether rings of `rank` are there.
    pub fn has_rings(&self, rank: u32) -> bool {
        self.names.ranks.get(&rank).is_some_and(|files| files.has_rings)
    }
}
