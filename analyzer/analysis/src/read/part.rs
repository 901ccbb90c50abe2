//! The part of a run that a pass is over.

use std::collections::BTreeMap;

use bincode::{Decode, Encode};
use lbprof_collector::polling::PollGapRule;

use crate::read::span::TickSpan;

/// The difference between a part of a run and everything that was opened.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct RunPart {
    /// The ranks to analyse, ascending, including ranks without a log, or `None` for all.
    pub ranks: Option<Vec<u32>>,
    /// The time of each rank that counts; all of it for ranks that are not here.
    pub spans: BTreeMap<u32, TickSpan>,
    /// The rule for the time between unsuccessful polls.
    pub polling: PollGapRule,
    /// True if ranks' summaries are read in place of their events.
    pub is_first_look: bool,
}
