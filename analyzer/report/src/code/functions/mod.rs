//! Tables of functions by samples, and the functions in which the slow rank exceeds the others.

mod data;
mod delaying;
mod excess;
mod hardware;
mod other_threads;
mod rows;

use std::collections::BTreeMap;

use lbprof_collector::Activity;

pub use data::*;

use crate::index_of_largest;
use crate::waiting::blocking::BlockingTable;
use lbprof_analysis::metrics::sampled::core_time::RankCoreTimes;
use lbprof_analysis::metrics::sampled::functions::{FunctionTimes, SampledEstimate, is_sampled};
use lbprof_analysis::model::ranks::samples::{CpuTime, SampledThreads};
use lbprof_analysis::model::{Model, RegionIdx};
use lbprof_analysis::profile::operation_name;
use lbprof_analysis::structure::code::sampled_code::SampledCode;

const MOST_REGIONS: usize = 40;

const MOST_CALLED_BACK: usize = 20;

/// The samples of `model`, located in `code`.
pub(crate) struct SampledFunctions<'a> {
    model: &'a Model,
    code: &'a SampledCode,
    threads: SampledThreads,
    times: FunctionTimes<'a>,
    /// The computation of each sampled rank by state, with the rank's index, if it is known of all.
    core_times: Option<Vec<(usize, RankCoreTimes<'a>)>>,
    /// By function and region the lines: CPU time first.
    lines: BTreeMap<(RegionIdx, u32), Vec<u32>>,
}

impl<'a> SampledFunctions<'a> {
    /// Returns `None` if no rank was sampled.
    pub(crate) fn new(model: &'a Model, code: &'a SampledCode) -> Option<Self> {
        SampledFunctions::for_threads(model, code, SampledThreads::First)
    }

    fn for_threads(model: &'a Model, code: &'a SampledCode, threads: SampledThreads) -> Option<Self> {
        let times = FunctionTimes::new(model, code, threads)?;
        let mut lines: BTreeMap<(RegionIdx, u32), Vec<u32>> = BTreeMap::new();
        for &(_, region, leaf) in model.lines.keys().filter(|line| line.0 == threads) {
            if let Some(one) = code.leaves.get(leaf as usize) {
                lines.entry((region, code.responsible(one.node))).or_default().push(leaf);
            }
        }
        let sampled = model.ranks.iter().enumerate().filter(|(_, rank)| is_sampled(rank));
        let core_times = sampled.map(|(at, rank)| Some((at, RankCoreTimes::new(rank)?))).collect();
        Some(SampledFunctions { model, code, threads, times, core_times, lines })
    }

    pub(crate) fn table(&self, blocking: Option<&BlockingTable>) -> FunctionTable {
        let mut sums = [CpuTime::default(); 2];
        for rank in &self.model.ranks {
            for (at, time) in rank.samples.times(SampledThreads::First) {
                sums[usize::from(at.activity != Activity::Computation)].add(time);
            }
        }
        let [computation, mpi] = sums;
        let other_threads = self.other_threads();
        let regions = (0..self.model.regions.len() as RegionIdx).map(|region| self.region(Some(region)));
        let mut regions: Vec<RegionFunctions> = regions.filter(|one| one.cpu_s > 0.0).collect();
        regions.sort_by(|a, b| b.cpu_s.total_cmp(&a.cpu_s));
        regions.truncate(MOST_REGIONS);
        FunctionTable {
            period_s: self.times.period_s,
            ranks: self.times.ranks,
            samples: computation.samples + mpi.samples,
            computation_s: computation.seconds,
            mpi_s: mpi.seconds,
            called_by_mpi: self.called_by_mpi(),
            unplaced: self.unplaced(),
            other_threads_s: other_threads.iter().fold(0.0, |sum_s, one| sum_s + one.cpu_s),
            other_threads,
            program: self.region(None),
            regions,
            delaying_ranks: blocking.map(|table| self.delaying_ranks(table)).unwrap_or_default(),
        }
    }

    pub(crate) fn called_by_mpi(&self) -> Vec<CalledBackRow> {
        let mut rows: Vec<CalledBackRow> = Vec::new();
        for (at, times) in self.times.called_back() {
            rows.push(CalledBackRow {
                name: self.name(at.function, self.code.called_back_line(at.function)),
                operation: operation_name(at.operation),
                samples: times.sum.samples,
                mean_s: self.mean(times.sum.seconds),
                error_s: self.mean(times.sum.error_s()),
                min_s: if (times.ranks as usize) < self.times.ranks { 0.0 } else { times.min_s },
                max_s: times.max_s,
                max_rank: times.max_rank,
            });
        }
        rows.sort_by(|a, b| b.mean_s.total_cmp(&a.mean_s));
        rows.truncate(MOST_CALLED_BACK);
        rows
    }

    fn mean(&self, sum: f64) -> f64 {
        sum / self.times.ranks.max(1) as f64
    }

    /// Returns the index of the sampled rank that computes longest, its computation, and the mean.
    fn slowest(&self, region: Option<RegionIdx>) -> (Option<usize>, f64, f64) {
        let ranks: Vec<usize> = (0..self.model.ranks.len()).filter(|&at| is_sampled(&self.model.ranks[at])).collect();
        let computation: Vec<f64> = ranks.iter().map(|&at| self.wall_s(region, at)).collect();
        let slowest = index_of_largest(&computation);
        let mean_s = self.mean(computation.iter().sum());
        (slowest.map(|at| ranks[at]), slowest.map_or(0.0, |at| computation[at]), mean_s)
    }

    fn path(&self, region: Option<RegionIdx>) -> String {
        self.model.regions.get(region.unwrap_or(0) as usize).map(|one| one.path.clone()).unwrap_or_default()
    }

    fn region(&self, region: Option<RegionIdx>) -> RegionFunctions {
        let (slowest, slowest_computation_s, computation_s) = self.slowest(region);
        let OtherThreadsFunctions { region: path, cpu_s, cpu_error_s, functions, others, .. } =
            self.in_region(region, slowest);
        let not_running = self.times.not_running(region);
        let significant = not_running.iter().filter(|&&(_, seconds, variance)| {
            seconds > 0.0 && SampledEstimate { seconds, error_s: variance.sqrt() }.is_significant()
        });
        let most = significant.max_by(|a, b| a.1.total_cmp(&b.1));
        let excess_s = slowest_computation_s - computation_s;
        RegionFunctions {
            region: path,
            computation_s,
            cpu_s,
            cpu_error_s,
            not_running_s: computation_s - cpu_s,
            not_running_rank: most.and_then(|one| self.model.ranks.get(one.0)).map(|rank| rank.rank),
            max_not_running_s: most.map_or(0.0, |one| one.1),
            slowest_rank: slowest.and_then(|at| self.model.ranks.get(at)).map(|rank| rank.rank),
            slowest_computation_s,
            excess_s,
            explained: slowest.map(|at| self.explained(region, at, excess_s)).unwrap_or_default(),
            hardware: slowest.and_then(|at| self.hardware(region, at)),
            functions,
            others,
        }
    }

    /// Returns a rank's computation by its calls.
    fn wall_s(&self, region: Option<RegionIdx>, at: usize) -> f64 {
        let rank = &self.model.ranks[at];
        region.map_or_else(|| rank.inclusive(0), |region| rank.exclusive(region))[Activity::Computation as usize]
    }
}
