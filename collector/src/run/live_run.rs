//! A run that is being recorded: its logs grow while they are read, and what was read once is not read again.
//!
//! ```text
//!   log    |header|block|block|block|blo        read up to the last whole block; the next look goes on there
//!   ring                            |record|record|unfinished call    what the log does not have yet, read anew at each look
//! ```
//!
//! Nothing of the run is written, locked or mapped: the files are read as plain bytes.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::blocks::BlockScanner;
use crate::folder::RunFolder;
use crate::format::LogHeader;
use crate::log_paths::open_file;
use crate::rank_log::open_log;
use crate::reader::{LogItem, LogPosition, LogReader, OpenError};
use crate::salvage::{SalvagedRing, read_first_ring};

/// The logs and rings of a run that may still be recorded.
pub struct LiveRun {
    path: PathBuf,
    folder: RunFolder,
    logs: BTreeMap<u32, LiveLog>,
}

impl LiveRun {
    /// Lists the run in the folder at `path`. Ranks whose logs cannot be opened yet are tried again at each [`LiveRun::look_again`].
    ///
    /// Errors: what the system says of the folder.
    pub fn open(path: &Path) -> io::Result<LiveRun> {
        let mut run = LiveRun { path: path.to_path_buf(), folder: RunFolder::default(), logs: BTreeMap::new() };
        run.look_again()?;
        Ok(run)
    }

    /// Finds files that came or went.
    ///
    /// Errors: what the system says of the folder.
    pub fn look_again(&mut self) -> io::Result<()> {
        self.folder = RunFolder::list(&self.path)?;
        for rank in self.folder.ranks() {
            if let Entry::Vacant(place) = self.logs.entry(rank)
                && let Ok(log) = LiveLog::open(self.folder.log_path(rank))
            {
                place.insert(log);
            }
        }
        Ok(())
    }

    /// The number of ranks of the run by one of its logs, or 0 if there is none.
    pub fn n_ranks(&self) -> usize {
        self.logs.values().next().map_or(0, |log| log.header.n_ranks as usize)
    }

    /// The number of ranks that record by one of their logs, or 0 if there is none.
    pub fn n_recorded(&self) -> usize {
        let recorded = self.logs.values().next().map_or(0, |log| log.header.recorded_ranks.len() as usize);
        // An empty list stands for all.
        if recorded == 0 { self.n_ranks() } else { recorded }
    }

    /// Returns each rank's log, and the path of the rank's rings where they are there.
    pub fn logs(&mut self) -> impl Iterator<Item = (&mut LiveLog, Option<PathBuf>)> {
        let folder = &self.folder;
        self.logs.iter_mut().map(|(&rank, log)| (log, folder.rings_path(rank)))
    }
}

/// A rank's log, read as far as it goes.
pub struct LiveLog {
    header: LogHeader,
    path: PathBuf,
    position: u64,
    reached: LogPosition,
}

impl LiveLog {
    fn open(path: PathBuf) -> Result<LiveLog, OpenError> {
        let log = open_log(&path)?;
        let (header, position) = (log.header().clone(), log.position());
        Ok(LiveLog { header, path, position, reached: LogPosition::default() })
    }

    /// The log's header.
    pub fn header(&self) -> &LogHeader {
        &self.header
    }

    /// Gives the items of whole blocks that were not read before to `take`, which returns whether it wants more. Returns how many bytes are left.
    ///
    /// Errors: what the system says.
    pub fn read_new(&mut self, mut take: impl FnMut(LogItem) -> bool) -> io::Result<u64> {
        let mut file = open_file(&self.path)?;
        let (begin, length) = (self.position, file.metadata()?.len());
        file.seek(SeekFrom::Start(begin))?;
        let source = file.take(length.saturating_sub(begin));
        let reached = std::mem::take(&mut self.reached);
        let mut log = LogReader::resumed(self.header.clone(), BlockScanner::new(source), reached);
        while let Some(item) = log.next_item() {
            if log.is_cut() {
                break;
            }
            self.position = begin + log.position();
            // A problem is reported before what the block holds.
            let is_problem = matches!(item, LogItem::Problem(_));
            if !take(item) && !is_problem {
                break;
            }
        }
        self.reached = log.into_position();
        Ok(length.saturating_sub(self.position))
    }

    /// The records in the ring of the thread that called `MPI_Init` that come after the part of the log that was read, with call sites as the log numbers
    /// them. `rings`: the path of the rank's rings. `None` where the ring is gone or of another run.
    pub fn beyond(&self, rings: &Path) -> Option<SalvagedRing> {
        let mut ring = read_first_ring(&open_file(rings).ok()?).ok()??;
        if ring.run_id != self.header.run_id || ring.rank != self.header.rank {
            return None;
        }
        let seen = self.reached.records.next(ring.head.thread).saturating_sub(ring.head.first);
        let seen = usize::try_from(seen).unwrap_or(usize::MAX).min(ring.records.len());
        ring.head.advance(&ring.records[..seen]);
        ring.records.drain(..seen);
        for record in &mut ring.records {
            record.call_site = record.call_site.wrapping_sub(1);
        }
        Some(ring)
    }
}
