//! In which functions a rank computes longer than the mean.

use super::SampledFunctions;
use super::data::{ExcessIn, ExcessInState, ExplainedExcess};
use lbprof_analysis::metrics::sampled::core_time::CoreTime;
use lbprof_analysis::metrics::sampled::functions::{SampledEstimate, is_sampled};
use lbprof_analysis::model::RegionIdx;
use lbprof_collector::CoreState;

const MOST_NAMED: usize = 3;

impl SampledFunctions<'_> {
    /// Finds the functions in which the rank at index `at` exceeds the mean, by `excess_s` in total.
    pub(crate) fn explained(&self, region: Option<RegionIdx>, at: usize, excess_s: f64) -> ExplainedExcess {
        let callers = self.times.by_caller(region);
        let found = self.times.concentrated(region, at, MOST_NAMED).into_iter();
        let functions = found.filter_map(|found| {
            let function = self.code.nodes.get(found.node as usize)?.function;
            let line = self.lines_of(region, function).first().map(|line| line.line);
            Some(ExcessIn {
                name: self.name(function, line),
                excess_s: found.excess.seconds,
                excess_error_s: found.excess.error_s,
                share: (excess_s > 0.0).then(|| found.excess.seconds / excess_s),
                call: self.main_call(callers.get(&function)),
            })
        });
        let not_running = self.times.not_running_excess(region, at).filter(|one| one.seconds > 0.0);
        let not_running_s = not_running.filter(SampledEstimate::is_significant).map(|one| one.seconds);
        ExplainedExcess {
            functions: functions.collect(),
            not_running_s,
            not_running_share: not_running_s.filter(|_| excess_s > 0.0).map(|seconds| seconds / excess_s),
            states: (excess_s > 0.0).then(|| self.by_state(region, at, excess_s)).flatten(),
        }
    }

    /// Splits the excess of the rank at index `at` by thread state, if that is known of all ranks.
    fn by_state(&self, region: Option<RegionIdx>, at: usize, excess_s: f64) -> Option<Vec<ExcessInState>> {
        let times = self.core_times.as_ref()?;
        let own = times.iter().find(|(rank, _)| *rank == at)?.1.in_region(region);
        let mean = CoreTime::mean(&times.iter().map(|(_, times)| times.in_region(region)).collect::<Vec<_>>());
        let states = CoreState::ALL.into_iter().filter(|state| state.phrase().is_some());
        Some(
            states
                .map(|state| ExcessInState { state, share: (own.get(state) - mean.get(state)) / excess_s })
                .filter(|one| one.share != 0.0)
                .collect(),
        )
    }

    /// Explains the excess of a rank in the region `path` alone, or in the whole program. Returns `None` if it was not sampled.
    pub(crate) fn explained_in(&self, rank: u32, path: Option<&str>) -> Option<ExplainedExcess> {
        let at = self.model.ranks.iter().position(|one| one.rank == rank)?;
        let region = match path {
            Some(path) => Some(self.model.regions.iter().position(|one| one.path == path)? as RegionIdx),
            None => None,
        };
        let mean_s =
            (0..self.model.ranks.len()).map(|at| self.wall_s(region, at)).sum::<f64>() / self.model.ranks.len() as f64;
        is_sampled(&self.model.ranks[at]).then(|| self.explained(region, at, self.wall_s(region, at) - mean_s))
    }
}
