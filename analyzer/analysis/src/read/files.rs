//! The files of a run's folder, and the logs that a process found in all or a share of them.

use std::ops::RangeInclusive;
use std::sync::Arc;

use bincode::{Decode, Encode};
use lbprof_collector::ProblemKind;
use lbprof_collector::folder::RunFolder;
use lbprof_collector::format::LogHeader;
use rayon::prelude::*;

/// A log that was opened, to see whose it is.
#[derive(Clone, Debug, Encode, Decode)]
pub(crate) struct OpenedLog {
    pub(crate) rank: u32,
    pub(crate) header: Result<LogHeader, LogOpenError>,
}

/// Why a log has no header.
#[derive(Clone, Debug, Encode, Decode)]
pub(crate) struct LogOpenError {
    /// The kind of problem that this is.
    pub(crate) kind: ProblemKind,
    /// The problem, in words.
    pub(crate) text: String,
}

impl OpenedLog {
    /// Opens the logs of all ranks in `folder`, ascending.
    pub(crate) fn open_all(folder: &RunFolder) -> Vec<OpenedLog> {
        let ranks: Vec<u32> = folder.ranks().collect();
        ranks.par_iter().map(|&rank| OpenedLog::open(folder, rank)).collect()
    }

    fn open(folder: &RunFolder, rank: u32) -> OpenedLog {
        let opened = folder.open(rank);
        let header = opened
            .map(|log| log.header().clone())
            .map_err(|error| LogOpenError { kind: error.kind(), text: error.to_string() });
        OpenedLog { rank, header }
    }
}

/// The files of a run's folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunFiles {
    pub(crate) folder: RunFolder,
    /// The ranks whose logs this process reads in passes that it shares with other processes; `None`: it is alone.
    pub(crate) share: Option<Arc<RankShare>>,
}

/// The ranks that a process has the logs of; empty where it has none.
pub(crate) type RankShare = RangeInclusive<u32>;

impl RunFiles {
    /// The ranks whose logs this process reads; `None`: all.
    pub(crate) fn own_ranks(&self) -> Option<&RankShare> {
        self.share.as_deref()
    }
}
