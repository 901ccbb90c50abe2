//! The lifetime of processes outside of the recorded window: before, in and after MPI_Init and MPI_Finalize.

use serde::Serialize;

use lbprof_analysis::model::ranks::lifetime::ProcessLifetime;
use lbprof_analysis::model::{Model, RankModel};
use lbprof_thresholds::verdict::MIN_TIME_OUTSIDE_MPI;

/// Time from the first start of a process to the last exit, and the part of it that the report describes.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct LifetimeTable {
    /// From the first start of a process to the last exit, as far as the logs say; of processes that were killed, to the end of their logs.
    pub elapsed_s: f64,
    /// Share of it that the efficiencies describe: `run.elapsed_s` / `elapsed_s`.
    pub described_share: f64,
    /// Times of ranks outside of the window, in chronological order.
    pub parts: Vec<LifetimePart>,
}

/// A part of the ranks' lives outside of the window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct LifetimePart {
    /// Phase of the lifetime.
    pub phase: LifetimePhase,
    /// Ranks of which it is known.
    pub ranks: usize,
    /// The median over these ranks, the lower of two.
    pub median_s: f64,
    /// The longest.
    pub max_s: f64,
    /// The rank that it is of, the lowest of several.
    pub max_rank: u32,
}

/// A phase of a process outside of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, crate::JsonSchema)]
pub enum LifetimePhase {
    /// From the start of the process to the entry of `MPI_Init`.
    #[serde(rename = "before MPI_Init")]
    BeforeInit,
    /// In `MPI_Init`, waiting for ranks that enter it later included.
    #[serde(rename = "MPI_Init")]
    Init,
    /// After `MPI_Init`: the recorder starts.
    #[serde(rename = "recorder start")]
    RecorderStart,
    /// In `MPI_Finalize`.
    #[serde(rename = "MPI_Finalize")]
    Finalize,
    /// From the return of `MPI_Finalize` to the exit of the process.
    #[serde(rename = "after MPI_Finalize")]
    AfterFinalize,
}

type PhaseTime = fn(&ProcessLifetime) -> Option<f64>;

/// The phases in chronological order.
const PHASES: [(LifetimePhase, PhaseTime); 5] = [
    (LifetimePhase::BeforeInit, |lifetime| lifetime.before_init_s),
    (LifetimePhase::Init, |lifetime| lifetime.init_s),
    (LifetimePhase::RecorderStart, |lifetime| lifetime.recorder_start_s),
    (LifetimePhase::Finalize, |lifetime| lifetime.finalize_s),
    (LifetimePhase::AfterFinalize, |lifetime| lifetime.after_finalize_s),
];

impl LifetimeTable {
    /// Returns `None` if no log has such times.
    pub(crate) fn new(model: &Model) -> Option<LifetimeTable> {
        let parts = PHASES.into_iter().filter_map(|(phase, time)| LifetimePart::new(phase, time, &model.ranks));
        let parts: Vec<LifetimePart> = parts.collect();
        let first = model.ranks.iter().map(|rank| rank.begin_s - rank.lifetime.lead_s()).reduce(f64::min)?;
        let last = model.ranks.iter().map(|rank| rank.end_s + rank.lifetime.tail_s()).reduce(f64::max)?;
        let elapsed_s = last - first;
        let described_share = if elapsed_s > 0.0 { (model.elapsed_s() / elapsed_s).min(1.0) } else { 1.0 };
        (!parts.is_empty()).then_some(LifetimeTable { elapsed_s, described_share, parts })
    }

    /// Returns the program's own time outside of the window: the longest before `MPI_Init` plus the longest after `MPI_Finalize`.
    pub fn set_up_s(&self) -> f64 {
        let parts = self.parts.iter();
        let own = parts.filter(|part| matches!(part.phase, LifetimePhase::BeforeInit | LifetimePhase::AfterFinalize));
        own.map(|part| part.max_s).sum()
    }

    /// Returns whether the time outside of the window is long enough to be reported.
    pub fn is_worth_a_line(&self) -> bool {
        self.described_share < 1.0 - MIN_TIME_OUTSIDE_MPI
    }
}

impl LifetimePart {
    fn new(phase: LifetimePhase, time: PhaseTime, ranks: &[RankModel]) -> Option<LifetimePart> {
        let mut known: Vec<(f64, u32)> =
            ranks.iter().filter_map(|rank| Some((time(&rank.lifetime)?, rank.rank))).collect();
        known.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let &(median_s, _) = known.get(known.len().saturating_sub(1) / 2)?;
        let &(max_s, max_rank) = known.last()?;
        Some(LifetimePart { phase, ranks: known.len(), median_s, max_s, max_rank })
    }
}
