//! What the data are made of, and how far they may be trusted.

use lbprof_collector::Activity;
use lbprof_collector::problem::Severity;

use super::problems::ProblemRow;
use crate::model::{Model, PollTimes, RankModel};

/// What the data are made of, and how far they may be trusted.
#[derive(Clone, Debug, Default)]
pub struct DataFacts {
    /// Elapsed time of the run.
    pub elapsed_s: f64,
    /// Ranks whose logs were read.
    pub ranks_present: u32,
    /// Ranks that were to record; of these the selected ones.
    pub ranks_recorded: u64,
    /// Different hosts.
    pub hosts: usize,
    /// Records, markers and parts of calls included.
    pub events: u64,
    /// Calls of MPI.
    pub calls: u64,
    /// Records that the recorder had to drop.
    pub dropped_events: u64,
    /// The recorder's own time, summed over ranks.
    pub recorder_s: f64,
    /// Time of ranks outside of their windows while others are in theirs, summed.
    pub idle_s: f64,
    /// Time for which the program had stopped recording, summed over ranks.
    pub paused_s: f64,
    /// Time of no known activity (lost records), summed over ranks.
    pub unknown_s: f64,
    /// Polls that found nothing, and the time between them, of all ranks.
    pub polls: PollTimes,
    /// Whether no data are missing.
    pub complete: bool,
}

impl DataFacts {
    /// Those of `model`, whose problems are `problems`.
    pub(super) fn new(model: &Model, problems: &[ProblemRow]) -> DataFacts {
        let window = model.window_s();
        let elapsed_s = model.elapsed_s();
        let mut hosts: Vec<&str> = model.ranks.iter().map(|rank| rank.host.as_str()).collect();
        hosts.sort_unstable();
        hosts.dedup();
        let sum = |of: &dyn Fn(&RankModel) -> f64| model.ranks.iter().map(of).sum::<f64>();
        let idle_s = sum(&|rank| rank.idle_s(window));
        let paused_s = sum(&|rank| rank.paused_s);
        let known_s = sum(&|rank| rank.inclusive(0).iter().sum::<f64>());
        let mut polls = PollTimes::default();
        model.ranks.iter().for_each(|rank| polls.add(&rank.polls));
        DataFacts {
            elapsed_s,
            ranks_present: model.ranks.len() as u32,
            ranks_recorded: model.facts.n_expected(),
            hosts: hosts.len(),
            events: model.ranks.iter().map(|rank| rank.records).fold(0, u64::saturating_add),
            calls: model.ranks.iter().map(|rank| rank.calls).fold(0, u64::saturating_add),
            dropped_events: model.ranks.iter().map(|rank| rank.dropped).fold(0, u64::saturating_add),
            recorder_s: sum(&|rank| rank.inclusive(0)[Activity::Recorder as usize]),
            idle_s,
            paused_s,
            unknown_s: (elapsed_s * model.ranks.len() as f64 - idle_s - paused_s - known_s).max(0.0),
            polls,
            complete: problems.iter().all(|problem| problem.kind.severity() != Severity::Partial),
        }
    }
}
