//! A first look at a run: what its logs end with, in place of all that is in them.

use std::collections::VecDeque;
use std::io;

use bincode::{Decode, Encode};
use lbprof_collector::format::{BlockKind, LogHeader};
use lbprof_collector::rank_log::RankLog;
use lbprof_collector::reader::{LogItem, OpenError};
use lbprof_collector::trailer::AtEnd;
use lbprof_collector::words::SystemError;
use lbprof_collector::{Problem, ProblemKind};
use rayon::prelude::*;
use serde::Serialize;

use crate::read::open::RecordedRun;
use crate::read::thread_facts::are_summaries_enough;

/// Estimated effort of the analysis of all events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Encode, Decode)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnalysisEstimate {
    /// Records of calls in all logs; of logs without an index estimated from their bytes.
    pub records: u64,
    /// Time that the analysis of all of them is estimated to take.
    pub estimated_s: f64,
}

/// Bytes of a record in a log without an index: recorded logs take 2 to 6.
const BYTES_OF_A_RECORD: u64 = 4;

/// Ranks up to which the state of all of them fits into a processor's caches, and records per second that are analysed then, and beyond. Of the speeds
/// in docs/performance.md and docs/scale.md the lower ones.
const FEW_RANKS: usize = 64;
const RECORDS_PER_SECOND: (f64, f64) = (4e6, 1.5e6);

/// The part of a rank's log that is read.
pub enum RankItems {
    /// The whole log.
    All(Box<RankLog>),
    /// The whole log without its summaries, because other summaries are read, or because they do not cover everything.
    Events(Box<RankLog>),
    /// The summaries at the log's end.
    AtEnd(VecDeque<LogItem>),
}

impl RankItems {
    /// The next item; `None` at the end, for good.
    pub fn next_item(&mut self) -> Option<LogItem> {
        match self {
            RankItems::All(log) => log.next_item(),
            RankItems::Events(log) => loop {
                match log.next_item() {
                    Some(LogItem::Summary(_)) => {}
                    item => return item,
                }
            },
            RankItems::AtEnd(items) => items.pop_front(),
        }
    }
}

impl RecordedRun {
    /// Returns the run with each rank's summary in place of its events, where it has one.
    pub fn first_look(self) -> RecordedRun {
        RecordedRun { is_first_look: true, ..self }
    }

    /// Opens the items to read of the rank with this header.
    ///
    /// Errors: as those of [`RecordedRun::log`].
    pub fn items(&self, header: &LogHeader) -> Result<RankItems, OpenError> {
        if !self.is_first_look {
            let log = Box::new(self.log(header)?);
            // Threads may go on while another one is in MPI_Finalize: their rings hold what no summary is of.
            let has_rings = self.files.folder.has_rings(header.rank);
            return Ok(if has_rings { RankItems::Events(log) } else { RankItems::All(log) });
        }
        let problem = match self.at_end(header.rank) {
            // Where they are not enough, that is not known to the recorder: long gaps between polls, other threads in the place of the first.
            Ok(Some(found)) if are_summaries_enough(header, &found) => {
                let definitions = LogItem::Definitions(found.definitions);
                let summaries = found.summaries.into_iter().map(|one| LogItem::Summary(Box::new(one)));
                return Ok(RankItems::AtEnd(std::iter::once(definitions).chain(summaries).collect()));
            }
            Ok(_) => None,
            Err(error) => Some(of_end(header.rank, &error)),
        };
        let log = Box::new(self.log(header)?);
        Ok(match problem {
            None => RankItems::Events(log),
            Some(problem) => RankItems::Events(Box::new(log.with_problem(problem))),
        })
    }

    /// Returns what the log of `rank` ends with; `None` where it has no index.
    ///
    /// Errors: what is wrong with it.
    pub(super) fn at_end(&self, rank: u32) -> io::Result<Option<AtEnd>> {
        self.files.folder.at_end(rank)
    }

    /// Estimates the effort of the analysis of all events.
    pub fn estimate(&self) -> AnalysisEstimate {
        let records =
            self.headers.par_iter().map(|header| self.records_of(header.rank)).reduce(|| 0, u64::saturating_add);
        let (few, many) = RECORDS_PER_SECOND;
        let per_second = if self.headers.len() <= FEW_RANKS { few } else { many };
        AnalysisEstimate { records, estimated_s: records as f64 / per_second }
    }

    fn records_of(&self, rank: u32) -> u64 {
        match self.files.folder.index(rank) {
            Ok(Some(entries)) => entries
                .iter()
                .filter(|entry| entry.kind == BlockKind::Records as u8)
                .map(|entry| entry.contents.records)
                .fold(0, u64::saturating_add),
            // What is wrong with it is reported when it is read.
            Ok(None) | Err(_) => self.files.folder.log_bytes(rank) / BYTES_OF_A_RECORD,
        }
    }
}

/// Reports that the end of a log cannot be used.
fn of_end(rank: u32, error: &io::Error) -> Problem {
    Problem { kind: ProblemKind::SummaryWrong, rank: Some(rank), count: 1, detail: SystemError(error).to_string() }
}
