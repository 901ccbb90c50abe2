//! Facts about the data of a report, and their reliability.

use std::collections::BTreeSet;

use lbprof_collector::Activity;
use lbprof_collector::problem::Severity;
use serde::Serialize;

use super::problems::ProblemRow;
use crate::fraction_of;
use lbprof_analysis::model::ranks::samples::CpuTime;
use lbprof_analysis::model::{Model, PollTimes};

/// Facts about the data of a report, and their reliability.
#[derive(Clone, Debug, Default, Serialize, crate::JsonSchema)]
pub struct DataFacts {
    /// From the first return of `MPI_Init` to the last entry of `MPI_Finalize`.
    pub elapsed_s: f64,
    /// Ranks whose logs were read; all means and sums are over these.
    pub ranks_present: u32,
    /// Ranks that were to record, among the selected ones; fewer than `ranks` if LBPROF_RANKS excluded some.
    pub ranks_recorded: u64,
    /// Different hosts.
    pub hosts: usize,
    /// Records: calls, markers, requests completed.
    pub events: u64,
    /// Calls of MPI.
    pub calls: u64,
    /// Records that the recorder had to drop.
    pub dropped_events: u64,
    /// The recorder's own time.
    pub recorder_s: f64,
    /// Fraction of ranks × elapsed time.
    pub recorder_share: f64,
    /// CPU time of the recorder's code in calls of the ranks' first threads, by samples; null where no rank was sampled.
    pub recorder_in_calls_s: Option<f64>,
    /// The standard error of `recorder_in_calls_s`.
    pub recorder_in_calls_error_s: Option<f64>,
    /// Time of ranks outside of their windows while others are within theirs.
    pub idle_s: f64,
    /// Fraction of ranks × elapsed time.
    pub idle_share: f64,
    /// The mean of `idle_s` over ranks.
    pub idle_mean_s: f64,
    /// Time for which the program had paused recording.
    pub paused_s: f64,
    /// Fraction of ranks × elapsed time.
    pub paused_share: f64,
    /// The mean of `paused_s` over ranks.
    pub paused_mean_s: f64,
    /// Time of no known activity: records are missing.
    pub unknown_s: f64,
    /// Fraction of ranks × elapsed time.
    pub unknown_share: f64,
    /// The mean of `unknown_s` over ranks.
    pub unknown_mean_s: f64,
    /// Time of which there are no records: `paused_s` + `unknown_s`, rounded to nanoseconds, so that sums that cancel out are 0.
    pub without_records_s: f64,
    /// Polls that found nothing, and the time between them, of all ranks.
    #[serde(skip)]
    pub polls: PollTimes,
    /// True if the data are complete: no problem is `partial`.
    pub complete: bool,
}

impl DataFacts {
    pub(crate) fn new(model: &Model, problems: &[ProblemRow]) -> DataFacts {
        let window = model.window_s();
        let elapsed_s = model.elapsed_s();
        let hosts: BTreeSet<&str> = model.ranks.iter().map(|rank| rank.host.as_str()).collect();
        let (mut idle_s, mut paused_s, mut known_s, mut recorder_s) = (0.0, 0.0, 0.0, 0.0);
        let (mut in_calls, mut polls) = (CpuTime::default(), PollTimes::default());
        for rank in &model.ranks {
            let by_activity = rank.inclusive(0);
            idle_s += rank.idle_s(window);
            paused_s += rank.paused_s;
            known_s += by_activity.iter().sum::<f64>();
            recorder_s += by_activity[Activity::Recorder as usize];
            in_calls.add(&rank.samples.recorder);
            polls.add(&rank.polls);
        }
        let whole_s = elapsed_s * model.ranks.len() as f64;
        let n_ranks = model.ranks.len().max(1) as f64;
        let unknown_s = (whole_s - idle_s - paused_s - known_s).max(0.0);
        let is_sampled = model.ranks.iter().any(|rank| rank.samples.period_s().is_some());
        DataFacts {
            elapsed_s,
            ranks_present: model.ranks.len() as u32,
            ranks_recorded: model.facts.n_expected(),
            hosts: hosts.len(),
            events: model.ranks.iter().map(|rank| rank.records).fold(0, u64::saturating_add),
            calls: model.ranks.iter().map(|rank| rank.calls).fold(0, u64::saturating_add),
            dropped_events: model.ranks.iter().map(|rank| rank.dropped).fold(0, u64::saturating_add),
            recorder_s,
            recorder_share: fraction_of(recorder_s, whole_s),
            recorder_in_calls_s: is_sampled.then_some(in_calls.seconds),
            recorder_in_calls_error_s: is_sampled.then_some(in_calls.error_s()),
            idle_s,
            idle_share: fraction_of(idle_s, whole_s),
            idle_mean_s: idle_s / n_ranks,
            paused_s,
            paused_share: fraction_of(paused_s, whole_s),
            paused_mean_s: paused_s / n_ranks,
            unknown_s,
            unknown_share: fraction_of(unknown_s, whole_s),
            unknown_mean_s: unknown_s / n_ranks,
            without_records_s: (1e9 * (paused_s + unknown_s)).round() / 1e9,
            polls,
            complete: problems.iter().all(|problem| problem.kind.severity() != Severity::Partial),
        }
    }
}
