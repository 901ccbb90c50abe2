//! The figures of a run that conditions are on, by the names of their keys in the JSON report.

use std::fmt;

use crate::RunMetrics;
use crate::run::RegionFigures;
use lbprof_analysis::metrics::load_balance::EfficiencyTimes;

/// A metric of a run, or of one of its regions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionMetric {
    /// Path of the region, of which there must be one.
    pub region: Option<String>,
    /// Its name, one of those below.
    pub name: String,
}

type OfTimes = fn(&EfficiencyTimes) -> Option<f64>;
type OfRun = fn(&RunMetrics) -> Option<f64>;
type OfRegion = fn(&RegionFigures) -> Option<f64>;

/// Of runs and of regions.
const TIMES: &[(&str, OfTimes)] = &[
    ("elapsed_s", |times| Some(times.elapsed_s)),
    ("max_computation_s", |times| Some(times.max_computation_s)),
    ("avg_computation_s", |times| Some(times.avg_computation_s)),
    ("t_ideal_s", |times| times.t_ideal_s),
    ("parallel_efficiency", EfficiencyTimes::parallel),
    ("parallel", EfficiencyTimes::parallel),
    ("load_balance", EfficiencyTimes::load_balance),
    ("micro_load_balance", EfficiencyTimes::micro_load_balance),
    ("transfer", EfficiencyTimes::transfer),
    ("communication_efficiency", EfficiencyTimes::communication),
    ("communication", EfficiencyTimes::communication),
];

/// Of runs alone.
const RUN: &[(&str, OfRun)] = &[
    ("blocked_s", |run| {
        run.ranks.iter().map(|rank| rank.blocked_s).sum::<Option<f64>>().filter(|_| !run.ranks.is_empty())
    }),
    ("ranks", |run| Some(f64::from(run.n_ranks))),
    ("cores", |run| Some(run.cores.map_or_else(|| f64::from(run.n_ranks), |of| of.cores as f64))),
    ("iterations", |run| run.iterations.map(|n| n as f64)),
    ("time_per_iteration_s", |run| run.iterations.filter(|&n| n > 0).map(|n| run.times.elapsed_s / n as f64)),
    ("max_resident_bytes", |run| {
        run.ranks.iter().map(|rank| rank.max_resident_bytes).max().filter(|&bytes| bytes > 0).map(|bytes| bytes as f64)
    }),
];

/// Of runs whose ranks have several threads, of which [`CoreFigures::NAMES`] has the names after this.
const CORES: &[(&str, &str)] = &[
    ("cores_parallel_efficiency", "parallel"),
    ("cores_mpi", "mpi"),
    ("cores_load_balance", "load_balance"),
    ("cores_communication", "communication"),
    ("cores_threads", "threads"),
    ("cores_serial", "serial"),
    ("cores_thread_balance", "thread_balance"),
    ("cores_waits", "waits"),
    ("cores_fork_join", "fork_join"),
];

/// Of regions alone.
const REGION: &[(&str, OfRegion)] = &[
    ("time_s", |region| Some(region.activities.values().flatten().sum())),
    ("blocked_s", |region| region.blocked_s),
    ("iterations", |region| region.iterations.map(|n| n as f64)),
    ("invocations", |region| Some(region.invocations as f64)),
    ("operations", |region| Some(region.operations)),
    ("quanta", |region| Some(region.quanta)),
];

impl ConditionMetric {
    /// The metric of a run, or of a region, of this name; else the name that is most like it.
    pub(super) fn new(region: Option<String>, name: &str) -> Result<ConditionMetric, &'static str> {
        let mut known = metric_names(region.is_some());
        if known.any(|one| one == name) {
            return Ok(ConditionMetric { region, name: name.to_owned() });
        }
        Err(most_similar(metric_names(region.is_some()), name).unwrap_or_default())
    }

    /// Its value in a run, or in the region that has these paths there; `None` where the run has no such region, or it is not known.
    pub fn value_in(&self, run: &RunMetrics, paths: &[String]) -> Option<f64> {
        let region = match &self.region {
            Some(_) => Some(joined(paths.iter().filter_map(|path| run.region(path)))?),
            None => None,
        };
        let region = region.as_ref();
        let times = region.map_or(&run.times, |region| &region.times);
        let of_times = TIMES.iter().find(|(name, _)| *name == self.name);
        if let Some((_, of)) = of_times {
            return of(times);
        }
        match region {
            Some(region) => REGION.iter().find(|(name, _)| *name == self.name).and_then(|(_, of)| of(region)),
            None => match CORES.iter().find(|(name, _)| *name == self.name) {
                Some((_, share)) => run.cores.and_then(|cores| cores.share(share)),
                None => RUN.iter().find(|(name, _)| *name == self.name).and_then(|(_, of)| of(run)),
            },
        }
    }
}

/// Joins the parts of a region, which a run may enter outside of its loop and in it. Its efficiencies are those of the part that computes longest.
fn joined<'a>(parts: impl Iterator<Item = &'a RegionFigures>) -> Option<RegionFigures> {
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

/// Names of all metrics, of regions or of runs.
fn metric_names(of_region: bool) -> impl Iterator<Item = &'static str> {
    let times = TIMES.iter().map(|(name, _)| *name);
    let of_run = RUN.iter().map(|(name, _)| *name).filter(move |_| !of_region);
    let of_cores = CORES.iter().map(|(name, _)| *name).filter(move |_| !of_region);
    let of_region = REGION.iter().map(|(name, _)| *name).filter(move |_| of_region);
    times.chain(of_run).chain(of_cores).chain(of_region)
}

/// Lists all names, for messages.
pub fn names() -> String {
    let [of_runs, of_regions] = [false, true].map(|of_region| metric_names(of_region).collect::<Vec<_>>().join(", "));
    format!("{of_runs}; of regions, as in regions[\"main/force\"].time_s: {of_regions}")
}

/// Returns the one of `names` that is most like `wanted`.
pub(super) fn most_similar<'a>(names: impl Iterator<Item = &'a str>, wanted: &str) -> Option<&'a str> {
    names.max_by(|a, b| strsim::jaro_winkler(a, wanted).total_cmp(&strsim::jaro_winkler(b, wanted)))
}
