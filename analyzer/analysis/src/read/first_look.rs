//! A first look at a run: the summaries at the ends of its logs, in place of everything in them.

use std::collections::VecDeque;

use bincode::{Decode, Encode};
use lbprof_collector::format::{BlockKind, LogHeader};
use lbprof_collector::rank_log::RankLog;
use lbprof_collector::reader::{LogItem, OpenError};
use lbprof_collector::words::SystemError;
use lbprof_collector::{Problem, ProblemKind};
use rayon::prelude::*;
use serde::Serialize;

use crate::read::open::RecordedRun;
use crate::read::part::RunPart;
use crate::read::thread_facts::are_summaries_enough;

/// Estimated effort of the analysis of all events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Encode, Decode)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnalysisEstimate {
    /// Records of calls in all logs; estimated from their bytes for logs without an index.
    pub records: u64,
    /// Time that the analysis of all of them is estimated to take.
    pub estimated_s: f64,
}

/// Bytes of a record in a log without an index: recorded logs take 2 to 6.
const BYTES_OF_A_RECORD: u64 = 4;

/// Number of ranks up to which their state fits into a processor's caches, and the records per second that are analysed then, and beyond.
/// These are the lower speeds in docs/performance.md and docs/scale.md.
const FEW_RANKS: usize = 64;
const RECORDS_PER_SECOND: (f64, f64) = (4e6, 1.5e6);

/// The part of a rank's log that is read.
pub enum RankItems {
    /// The whole log without its summaries, which are of the same events.
    Log(Box<RankLog>),
    /// The summaries at the log's end.
    AtEnd(VecDeque<LogItem>),
}

impl RankItems {
    /// Returns the next item, or `None` at the end, for good.
    pub fn next_item(&mut self) -> Option<LogItem> {
        match self {
            RankItems::Log(log) => loop {
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
    /// Returns the run with each rank's summary in place of its events, if it has one.
    pub fn first_look(self) -> RecordedRun {
        RecordedRun { part: RunPart { is_first_look: true, ..self.part }, ..self }
    }

    /// Opens the items to read of the rank with this header.
    ///
    /// Errors: see [`RecordedRun::log`].
    pub fn items(&self, header: &LogHeader) -> Result<RankItems, OpenError> {
        if !self.part.is_first_look {
            return Ok(RankItems::Log(Box::new(self.log(header)?)));
        }
        let problem = match self.files.folder.at_end(header.rank) {
            // The recorder does not know whether they are: long gaps between polls, other threads in the place of the first.
            Ok(Some(found)) if are_summaries_enough(header, &found) => {
                let definitions = LogItem::Definitions(found.definitions);
                let summaries = found.summaries.into_iter().map(|one| LogItem::Summary(Box::new(one)));
                return Ok(RankItems::AtEnd(std::iter::once(definitions).chain(summaries).collect()));
            }
            Ok(_) => None,
            Err(error) => Some((ProblemKind::SummaryWrong, SystemError(&error).to_string())),
        };
        let mut log = self.log(header)?;
        if let Some((kind, detail)) = problem {
            log = log.with_problem(Problem { kind, rank: Some(header.rank), count: 1, detail });
        }
        Ok(RankItems::Log(Box::new(log)))
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
            // Damage is reported when the log is read.
            Ok(None) | Err(_) => self.files.folder.log_bytes(rank) / BYTES_OF_A_RECORD,
        }
    }
}
