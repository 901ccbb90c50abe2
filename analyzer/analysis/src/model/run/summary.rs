//! A first look at a run, from what the logs end with.

use bincode::{Decode, Encode};
use serde::Serialize;

use crate::read::first_look::AnalysisEstimate;

/// Facts about a model that was made without the analysis of all events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Encode, Decode)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SummaryFacts {
    /// True if the user asked for it (`--summary`); false: it was chosen because of `estimated_s`.
    pub asked: bool,
    /// Estimated effort of the analysis of all events.
    #[serde(flatten)]
    pub estimate: AnalysisEstimate,
    /// Ranks whose figures come from their summaries.
    pub ranks_from_summaries: u32,
    /// Ranks without a usable summary: their events were added up.
    pub ranks_from_events: u32,
    /// Ranks whose summaries have no iterations, because there were too many. If there are any, nothing is known by iteration.
    pub ranks_without_iterations: u32,
}
