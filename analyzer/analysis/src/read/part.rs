//! The part of a run that a pass is over.

use std::collections::BTreeMap;

use bincode::{Decode, Encode};
use lbprof_collector::polling::PollGapRule;

use crate::read::open::RecordedRun;
use crate::read::span::TickSpan;

/// The difference between a part of a run and all that was opened.
#[derive(Clone, Debug, Encode, Decode)]
pub(crate) struct RunPart {
    /// Ranks, ascending; `None`: all.
    ranks: Option<Vec<u32>>,
    spans: BTreeMap<u32, TickSpan>,
    polling: PollGapRule,
    /// True if ranks' summaries are read in place of their events.
    is_first_look: bool,
}

impl RecordedRun {
    /// The part that it is of all that was opened.
    pub(crate) fn part(&self) -> RunPart {
        RunPart {
            ranks: self.selected.clone(),
            spans: self.spans.clone(),
            polling: self.polling,
            is_first_look: self.is_first_look,
        }
    }

    /// This part of it.
    pub(crate) fn within(&self, part: RunPart) -> RecordedRun {
        let run = match &part.ranks {
            Some(ranks) => self.with_ranks(ranks),
            None => self.clone(),
        };
        RecordedRun { is_first_look: part.is_first_look, ..run.with_spans(part.spans).polling(part.polling) }
    }
}
