//! A run that is being recorded: its logs grow while they are read, and what was read once is not read again.
//!
//! ```text
//!   log    |header|block|block|block|blo        read up to the last whole block; the next look goes on there
//!   ring                            |record|record|unfinished call    what the log does not have yet, read anew at each look
//! ```
//!
//! Nothing of the run is written, locked or mapped: the files are read as plain bytes.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::blocks::BlockScanner;
use crate::folder::{RunFileNames, RunFolder};
use crate::format::LogHeader;
use crate::log_paths::{LogPlace, RingPlace};
use crate::log_source::{LogBytes, LogSource};
use crate::reader::{LogItem, LogReader, OpenError, SequenceNumbers};
use crate::salvage::SalvagedRing;

/// The logs and rings of a run that may still be recorded.
pub struct LiveRun {
    path: PathBuf,
    names: RunFileNames,
    folder: RunFolder,
    logs: BTreeMap<u32, LiveLog>,
}

impl LiveRun {
    /// Lists the run in the folder at `path`. Ranks whose logs cannot be opened yet are tried again at each [`LiveRun::look_again`].
    ///
    /// Errors: what the system says of the folder.
    pub fn open(path: &Path) -> io::Result<LiveRun> {
        let names = RunFileNames::list(path)?;
        let folder = RunFolder::with_names(path, names.clone());
        let mut run = LiveRun { path: path.to_path_buf(), names, folder, logs: BTreeMap::new() };
        run.open_logs();
        Ok(run)
    }

    /// Finds files that came or went, and what was appended to node files.
    ///
    /// Errors: what the system says of the folder.
    pub fn look_again(&mut self) -> io::Result<()> {
        let names = RunFileNames::list(&self.path)?;
        // A node file is read through when it is opened: it is opened once more only where a rank may have come.
        if names != self.names || self.logs.len() < self.n_recorded() {
            self.folder = RunFolder::with_names(&self.path, names.clone());
            self.names = names;
        } else {
            self.folder.look_again();
        }
        self.open_logs();
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

    /// Returns each rank's log, and the ring of the thread that called `MPI_Init` where that is there.
    pub fn logs(&mut self) -> impl Iterator<Item = (&mut LiveLog, Option<RingPlace>)> {
        let folder = &self.folder;
        self.logs.iter_mut().map(|(&rank, log)| (log, folder.first_ring(rank)))
    }

    fn open_logs(&mut self) {
        let ranks: Vec<u32> = self.folder.ranks().collect();
        for rank in ranks {
            let Some(place) = self.folder.place(rank).cloned() else { continue };
            match self.logs.get_mut(&rank) {
                Some(log) => log.place = place,
                None => drop(LiveLog::open(place).map(|log| self.logs.insert(rank, log))),
            }
        }
    }
}

/// A rank's log, read as far as it goes.
pub struct LiveLog {
    header: LogHeader,
    place: LogPlace,
    /// Bytes of the log that are done with.
    position: u64,
    sequences: SequenceNumbers,
    sample_sequences: SequenceNumbers,
}

impl LiveLog {
    fn open(place: LogPlace) -> Result<LiveLog, OpenError> {
        let log = LogSource::open(&place, true)?;
        let (sequences, sample_sequences) = Default::default();
        Ok(LiveLog { header: log.header().clone(), position: log.position(), place, sequences, sample_sequences })
    }

    /// The log's header.
    pub fn header(&self) -> &LogHeader {
        &self.header
    }

    /// Gives the items of whole blocks that were not read before to `take`, which returns whether it wants more. Returns how many bytes are left.
    ///
    /// Errors: what the system says.
    pub fn read_new(&mut self, mut take: impl FnMut(LogItem) -> bool) -> io::Result<u64> {
        // Parts of a node file that are just being written come at a later look.
        let Some((bytes, length)) = LogBytes::open(&self.place)? else { return Ok(0) };
        let begin = self.position;
        let source = LogRemainder { bytes, at: begin, end: length };
        let sequences = std::mem::take(&mut self.sequences);
        let sample_sequences = std::mem::take(&mut self.sample_sequences);
        let mut log = LogReader::resumed(self.header.clone(), BlockScanner::new(source), sequences, sample_sequences);
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
        (self.sequences, self.sample_sequences) = log.into_sequences();
        Ok(length.saturating_sub(self.position))
    }

    /// The records in a ring of this rank that come after the part of the log that was read, with call sites as the log numbers them; `None` where the
    /// ring is gone or of another run.
    pub fn beyond(&self, ring: &RingPlace) -> Option<SalvagedRing> {
        let mut ring = ring.read().ok()??;
        if ring.run_id != self.header.run_id || ring.rank != self.header.rank {
            return None;
        }
        let seen = self.sequences.next(ring.head.thread).saturating_sub(ring.head.first);
        let seen = usize::try_from(seen).unwrap_or(usize::MAX).min(ring.records.len());
        ring.head.advance(&ring.records[..seen]);
        ring.records.drain(..seen);
        for record in &mut ring.records {
            record.call_site = record.call_site.wrapping_sub(1);
        }
        Some(ring)
    }
}

/// The bytes of a log from a place on.
struct LogRemainder {
    bytes: LogBytes,
    at: u64,
    end: u64,
}

impl Read for LogRemainder {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX).min(buffer.len());
        self.bytes.read_exact_at(&mut buffer[..n], self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}
