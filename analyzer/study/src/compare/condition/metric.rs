//! The figures of a run that conditions are on, by the names of their keys in the JSON report.

use std::fmt;

use MetricFormula::{Cores, Region, Run, Times};

use crate::RunMetrics;
use crate::run::RegionFigures;
use lbprof_analysis::metrics::spread::load_balance::EfficiencyTimes;

/// A metric of a run, or of one of its regions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionMetric {
    /// Path of the region, of which there must be one.
    pub region: Option<String>,
    /// Its name, one of those below.
    pub name: String,
}

/// The formula of a metric.
enum MetricFormula {
    /// A figure of runs and of regions.
    Times(fn(&EfficiencyTimes) -> Option<f64>),
    /// A figure of runs alone.
    Run(fn(&RunMetrics) -> Option<f64>),
    /// An efficiency of runs whose ranks have several threads, by its name in [`CoreFigures::NAMES`].
    Cores(&'static str),
    /// A figure of regions alone.
    Region(fn(&RegionFigures) -> Option<f64>),
}

const METRICS: &[(&str, MetricFormula)] = &[
    ("elapsed_s", Times(|times| Some(times.elapsed_s))),
    ("max_computation_s", Times(|times| Some(times.max_computation_s))),
    ("avg_computation_s", Times(|times| Some(times.avg_computation_s))),
    ("t_ideal_s", Times(|times| times.t_ideal_s)),
    ("parallel_efficiency", Times(EfficiencyTimes::parallel)),
    ("parallel", Times(EfficiencyTimes::parallel)),
    ("load_balance", Times(EfficiencyTimes::load_balance)),
    ("micro_load_balance", Times(EfficiencyTimes::micro_load_balance)),
    ("transfer", Times(EfficiencyTimes::transfer)),
    ("communication_efficiency", Times(EfficiencyTimes::communication)),
    ("communication", Times(EfficiencyTimes::communication)),
    ("blocked_s", Run(blocked_s)),
    ("ranks", Run(|run| Some(f64::from(run.n_ranks)))),
    ("cores", Run(|run| Some(run.cores.map_or_else(|| f64::from(run.n_ranks), |of| of.cores as f64)))),
    ("iterations", Run(|run| run.iterations.map(|n| n as f64))),
    ("time_per_iteration_s", Run(|run| Some(run.times.elapsed_s / run.iterations.filter(|&n| n > 0)? as f64))),
    ("max_resident_bytes", Run(max_resident_bytes)),
    ("cores_parallel_efficiency", Cores("parallel")),
    ("cores_mpi", Cores("mpi")),
    ("cores_load_balance", Cores("load_balance")),
    ("cores_communication", Cores("communication")),
    ("cores_threads", Cores("threads")),
    ("cores_serial", Cores("serial")),
    ("cores_thread_balance", Cores("thread_balance")),
    ("cores_waits", Cores("waits")),
    ("cores_fork_join", Cores("fork_join")),
    ("time_s", Region(|region| Some(region.activities.values().flatten().sum()))),
    ("blocked_s", Region(|region| region.blocked_s)),
    ("iterations", Region(|region| region.iterations.map(|n| n as f64))),
    ("invocations", Region(|region| Some(region.invocations as f64))),
    ("operations", Region(|region| Some(region.operations))),
    ("quanta", Region(|region| Some(region.quanta))),
];

fn blocked_s(run: &RunMetrics) -> Option<f64> {
    run.ranks.iter().map(|rank| rank.blocked_s).sum::<Option<f64>>().filter(|_| !run.ranks.is_empty())
}

fn max_resident_bytes(run: &RunMetrics) -> Option<f64> {
    let largest = run.ranks.iter().map(|rank| rank.max_resident_bytes).max();
    largest.filter(|&bytes| bytes > 0).map(|bytes| bytes as f64)
}

impl ConditionMetric {
    /// The metric of a run, or of a region, of this name; else the name that is most like it.
    pub(super) fn new(region: Option<String>, name: &str) -> Result<ConditionMetric, &'static str> {
        if list_metrics(region.is_some()).any(|(known, _)| *known == name) {
            return Ok(ConditionMetric { region, name: name.to_owned() });
        }
        Err(most_similar(metric_names(region.is_some()), name).unwrap_or_default())
    }

    /// Its value in a run, or in the region that has these paths there; `None` where the run has no such region, or it is not known.
    pub fn value_in(&self, run: &RunMetrics, paths: &[String]) -> Option<f64> {
        let region = match &self.region {
            Some(_) => Some(join_region_parts(paths.iter().filter_map(|path| run.region(path)))?),
            None => None,
        };
        let (_, formula) = list_metrics(region.is_some()).find(|(name, _)| *name == self.name)?;
        match (formula, &region) {
            (Times(formula), Some(region)) => formula(&region.times),
            (Times(formula), None) => formula(&run.times),
            (Run(formula), _) => formula(run),
            (Cores(name), _) => run.cores?.share(name),
            (Region(formula), _) => formula(region.as_ref()?),
        }
    }
}

/// Joins the parts of a region, which a run may enter outside of its loop and in it. The efficiencies are taken from the part that computes longest.
fn join_region_parts<'a>(parts: impl Iterator<Item = &'a RegionFigures>) -> Option<RegionFigures> {
    parts.cloned().reduce(|one, other| {
        let (mut long, short) = match one.times.avg_computation_s < other.times.avg_computation_s {
            true => (other, one),
            false => (one, other),
        };
        for (activity, seconds) in short.activities {
            let own = long.activities.entry(activity).or_insert_with(|| vec![0.0; seconds.len()]);
            for (own, seconds) in own.iter_mut().zip(seconds) {
                *own += seconds;
            }
        }
        long.blocked_s = long.blocked_s.zip(short.blocked_s).map(|(one, other)| one + other);
        long.invocations += short.invocations;
        long.operations += short.operations;
        long.quanta += short.quanta;
        long
    })
}

impl fmt::Display for ConditionMetric {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &self.region {
            Some(path) => write!(f, "regions[\"{path}\"].{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

fn list_metrics(of_region: bool) -> impl Iterator<Item = &'static (&'static str, MetricFormula)> {
    METRICS.iter().filter(move |(_, formula)| match formula {
        Times(_) => true,
        Run(_) | Cores(_) => !of_region,
        Region(_) => of_region,
    })
}

fn metric_names(of_region: bool) -> impl Iterator<Item = &'static str> {
    list_metrics(of_region).map(|(name, _)| *name)
}

/// Lists all names, for messages.
pub fn list_metric_names() -> String {
    let [of_runs, of_regions] = [false, true].map(|of_region| metric_names(of_region).collect::<Vec<_>>().join(", "));
    format!("{of_runs}; of regions, as in regions[\"main/force\"].time_s: {of_regions}")
}

pub(super) fn most_similar<'a>(names: impl Iterator<Item = &'a str>, wanted: &str) -> Option<&'a str> {
    names.max_by(|a, b| strsim::jaro_winkler(a, wanted).total_cmp(&strsim::jaro_winkler(b, wanted)))
}
