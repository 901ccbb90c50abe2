//! The results of replaying a segment, a part of the run that begins and ends with all ranks.

use bincode::{Decode, Encode};

use crate::model::Model;
use crate::model::code::region_state::Ns;
use crate::model::ranks::exact_sum::ExactNs;
use crate::model::replayed::replay_results::{CriticalPathEntry, ReplayCounts, ReplayResults, ReplayedThread};
use crate::model::replayed::what_if::WhatIfScenario;
use crate::partial_result::PartialResult;
use crate::replay::blocking::ExplainedWaits;
use crate::replay::matching::OnDemand;

/// The results from one cut, or the begin of the run, to the next cut, or the end of the run.
#[derive(Encode, Decode)]
pub struct SegmentResult {
    pub explained: ExplainedWaits,
    /// Predicted time of each scenario, in nanoseconds.
    pub scenario_times: Vec<ExactNs>,
    pub counts: ReplayCounts,
    pub on_demand: OnDemand,
    /// The threads, by number; empty unless the run ends here.
    pub threads: Vec<ReplayedThread>,
    pub segments: usize,
    /// Nanoseconds from the begin of the run to its end; 0 unless the run ends here.
    pub elapsed: Ns,
}

impl PartialResult for SegmentResult {
    fn merge(mut self, after: SegmentResult) -> SegmentResult {
        for (all, more) in self.scenario_times.iter_mut().zip(after.scenario_times) {
            *all += more;
        }
        SegmentResult {
            explained: self.explained.merge(after.explained),
            scenario_times: self.scenario_times,
            counts: self.counts.merge(after.counts),
            on_demand: self.on_demand.merge(after.on_demand),
            segments: self.segments + after.segments,
            threads: after.threads,
            elapsed: after.elapsed,
        }
    }
}

impl SegmentResult {
    /// Returns the result of a segment that does not end the run. `counts` lacks the counts in `matched`.
    pub fn new(
        explained: ExplainedWaits,
        scenario_ns: Vec<f64>,
        counts: ReplayCounts,
        matched: (ReplayCounts, OnDemand),
    ) -> SegmentResult {
        let (matched_counts, on_demand) = matched;
        SegmentResult {
            explained,
            scenario_times: scenario_ns.into_iter().map(ExactNs::from_f64).collect(),
            counts: counts.merge(matched_counts),
            on_demand,
            threads: Vec::new(),
            segments: 1,
            elapsed: 0,
        }
    }

    /// Converts the merged result of all segments into the run's, with the replayed scenarios.
    pub fn of_run(self, model: &Model, scenarios: Vec<WhatIfScenario>) -> ReplayResults {
        let SegmentResult { explained, scenario_times, counts, on_demand, segments, threads, elapsed } = self;
        let ExplainedWaits { waits, paths, delays, kept } = explained;
        let blocking = waits.finish();
        let on_path = paths.into_iter().take(1).flat_map(|path| path.sums);
        ReplayResults {
            ranks: model.ranks.iter().map(|rank| rank.rank).collect(),
            regions: model.regions.clone(),
            threads,
            delaying_code: delays.scaled(&blocking.causes),
            blocking,
            scenario_times: scenarios
                .into_iter()
                .zip(scenario_times.into_iter().map(|ns| ns.number() * 1e-9))
                .collect(),
            critical_path: on_path
                .map(|((thread, kind), ns)| CriticalPathEntry { thread, kind, ns: ns.number() })
                .collect(),
            elapsed,
            counts: ReplayCounts { hands_out_work: on_demand.is_considerable(), ..counts },
            on_demand: on_demand.tasks(),
            kept,
            segments,
        }
    }
}
