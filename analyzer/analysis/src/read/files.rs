//! The files of a run's folder as a process has opened them, all or a share of them, and the logs that it found in them.

use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use bincode::{Decode, Encode};
use lbprof_collector::folder::{RunFileNames, RunFolder};
use lbprof_collector::format::LogHeader;
use lbprof_collector::{Problem, ProblemKind};
use rayon::prelude::*;

/// A log that was opened, to see whose it is.
#[derive(Clone, Debug, Encode, Decode)]
pub(crate) struct OpenedLog {
    pub(crate) rank: u32,
    /// Number of the log among those of its rank.
    pub(crate) number: usize,
    /// The name of its file.
    pub(crate) name: String,
    pub(crate) header: Result<LogHeader, LogOpenError>,
}

impl OpenedLog {
    fn open(folder: &RunFolder, rank: u32, number: usize) -> OpenedLog {
        let opened = folder.open_log(rank, number);
        let header = opened
            .map(|log| log.header().clone())
            .map_err(|error| LogOpenError { kind: error.kind(), text: error.to_string() });
        OpenedLog { rank, number, name: folder.name_of_log(rank, number), header }
    }
}

/// Why a log has no header.
#[derive(Clone, Debug, Encode, Decode)]
pub(crate) struct LogOpenError {
    /// The kind of problem that this is.
    pub(crate) kind: ProblemKind,
    /// The problem, in words.
    pub(crate) text: String,
}

/// The logs in the files that a process opened.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub(crate) struct LogInventory {
    /// The logs, by rank and number.
    pub(crate) logs: Vec<OpenedLog>,
    /// Problems of ring files.
    pub(crate) of_rings: Vec<Problem>,
    /// Problems of node files.
    pub(crate) of_nodes: Vec<Problem>,
}

impl LogInventory {
    /// Opens the logs of every rank in `folder`.
    pub(crate) fn of_all_ranks(folder: &RunFolder) -> LogInventory {
        let all = 0..folder.ranks().count();
        LogInventory::of_ranks(folder, all)
    }

    /// The logs of some of the ranks in `folder`, which are counted from the lowest.
    pub(crate) fn of_ranks(folder: &RunFolder, ranks: Range<usize>) -> LogInventory {
        let chosen = folder.ranks().skip(ranks.start).take(ranks.len());
        let logs: Vec<(u32, usize)> =
            chosen.flat_map(|rank| (0..folder.logs_of(rank)).map(move |number| (rank, number))).collect();
        let (of_rings, of_nodes) = folder.problems_of_rings_and_nodes();
        LogInventory {
            logs: logs.par_iter().map(|&(rank, number)| OpenedLog::open(folder, rank, number)).collect(),
            of_rings: of_rings.to_vec(),
            of_nodes: of_nodes.to_vec(),
        }
    }

    /// The lowest and the highest rank of which there is a log.
    pub(crate) fn ranks(&self) -> Option<RangeInclusive<u32>> {
        Some(self.logs.first()?.rank..=self.logs.last()?.rank)
    }
}

/// The files of a run's folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunFiles {
    folder: RunFolder,
    /// The logs that other processes have opened: what this one knows of them.
    others: Option<Arc<RemoteLogs>>,
}

/// The files that other processes have opened. They are opened here as well once a log in them is asked for.
#[derive(Debug)]
pub(crate) struct RemoteLogs {
    /// The ranks whose logs this process has; empty where it has none.
    own: RangeInclusive<u32>,
    dir: PathBuf,
    names: RunFileNames,
    chosen: OnceLock<Vec<(u32, usize)>>,
    all: OnceLock<RunFolder>,
}

impl RunFiles {
    /// Opens every file of the folder.
    pub(crate) fn open_all(folder: RunFolder) -> RunFiles {
        RunFiles { folder, others: None }
    }

    /// Process 0 has opened those in `folder`; what all have found is `shares`, `names` is all there is.
    pub(crate) fn share(
        folder: RunFolder,
        dir: &Path,
        names: RunFileNames,
        shares: &[LogInventory],
    ) -> (RunFiles, Arc<RemoteLogs>) {
        #[expect(clippy::reversed_empty_ranges, reason = "no ranks at all")]
        let own = shares.first().and_then(LogInventory::ranks).unwrap_or(1..=0);
        let (chosen, all) = Default::default();
        let others = Arc::new(RemoteLogs { own, dir: dir.to_owned(), names, chosen, all });
        (RunFiles { folder, others: Some(others.clone()) }, others)
    }

    /// Returns whether the others of its files are these.
    pub(crate) fn are_shared_with(&self, others: &Arc<RemoteLogs>) -> bool {
        self.others.as_ref().is_some_and(|own| Arc::ptr_eq(own, others))
    }

    /// From here on log `number` is the only one of its rank.
    pub(crate) fn choose(&mut self, chosen: &[(u32, usize)]) {
        for &(rank, number) in chosen.iter() {
            self.folder.choose(rank, number);
        }
    }

    /// The folder that has the log of `rank`.
    pub(crate) fn folder_of_rank(&self, rank: u32) -> &RunFolder {
        match &self.others {
            Some(others) if !others.own.contains(&rank) => others.folder(),
            _ => &self.folder,
        }
    }

    /// The ranks whose logs this process reads; `None`: all.
    pub(crate) fn own_ranks(&self) -> Option<&RangeInclusive<u32>> {
        self.others.as_ref().map(|others| &others.own)
    }
}

impl RemoteLogs {
    /// Sets the logs that count.
    pub(crate) fn choose(&self, chosen: Vec<(u32, usize)>) {
        let _ = self.chosen.set(chosen);
    }

    fn folder(&self) -> &RunFolder {
        self.all.get_or_init(|| {
            let mut folder = RunFolder::with_names(&self.dir, self.names.clone());
            for &(rank, number) in self.chosen.get().into_iter().flatten() {
                folder.choose(rank, number);
            }
            folder
        })
    }
}
