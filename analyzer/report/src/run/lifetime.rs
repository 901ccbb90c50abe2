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
    /// `before MPI_Init`: from the start of the process; `MPI_Init`, waiting for ranks that enter it later included; `starting the recorder`, after that;
    /// `MPI_Finalize`; `after MPI_Finalize`: to the exit of the process.
    pub phase: &'static str,
    /// Ranks of which it is known.
    pub ranks: usize,
    /// The median over these ranks, the lower of two.
    pub median_s: f64,
    /// The longest.
    pub max_s: f64,
    /// The rank that it is of, the lowest of several.
    pub max_rank: u32,
}

type PhaseTime = fn(&ProcessLifetime) -> Option<f64>;

/// The phases in chronological order.
const PHASES: [(&str, PhaseTime); 5] = [
    ("before MPI_Init", |lifetime| lifetime.before_init_s),
    ("MPI_Init", |lifetime| lifetime.init_s),
    ("starting the recorder", |lifetime| lifetime.recorder_start_s),
    ("MPI_Finalize", |lifetime| lifetime.finalize_s),
    ("after MPI_Finalize", |lifetime| lifetime.after_finalize_s),
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
        let own = parts.filter(|part| matches!(part.phase, "before MPI_Init" | "after MPI_Finalize"));
        own.map(|part| part.max_s).sum()
    }

    /// Returns whether the time outside of the window is long enough to be reported.
    pub fn is_worth_a_line(&self) -> bool {
        self.described_share < 1.0 - MIN_TIME_OUTSIDE_MPI
    }
}

impl LifetimePart {
    fn new(phase: &'static str, time: PhaseTime, ranks: &[RankModel]) -> Option<LifetimePart> {
        let mut known: Vec<(f64, u32)> =
            ranks.iter().filter_map(|rank| Some((time(&rank.lifetime)?, rank.rank))).collect();
        known.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let &(median_s, _) = known.get(known.len().saturating_sub(1) / 2)?;
        let &(max_s, max_rank) = known.last()?;
        Some(LifetimePart { phase, ranks: known.len(), median_s, max_s, max_rank })
    }
}
