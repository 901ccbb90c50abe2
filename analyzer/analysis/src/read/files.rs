//! The files of a run's folder, and the logs that a process found in all or a share of them.

use std::ops::RangeInclusive;
use std::sync::Arc;

use bincode::{Decode, Encode};
use lbprof_collector::ProblemKind;
use lbprof_collector::folder::RunFolder;
use lbprof_collector::format::LogHeader;
use rayon::prelude::*;

#[derive(Clone, Debug, Encode, Decode)]
pub(crate) struct OpenedLog {
    pub(crate) rank: u32,
    pub(crate) header: Result<LogHeader, LogOpenError>,
}

#[derive(Clone, Debug, Encode, Decode)]
pub(crate) struct LogOpenError {
    pub(crate) kind: ProblemKind,
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

#[derive(Clone, Debug, Default)]
pub(crate) struct RunFiles {
    pub(crate) folder: RunFolder,
    /// The ranks whose logs this process reads in passes that it shares with other processes, or `None` if it is alone.
    pub(crate) share: Option<Arc<RankShare>>,
}

/// The ranks whose logs a process reads; empty if it reads none.
pub(crate) type RankShare = RangeInclusive<u32>;
