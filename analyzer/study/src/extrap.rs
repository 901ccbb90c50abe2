//! A study's figures as measurements for Extra-P, which fits models of its own to them: one JSON object a line.
//!
//! ```text
//!   {"params":{"p":4,"n":200},"callpath":"main->force","metric":"computation","value":1.25}
//! ```
//!
//! Extra-P wants the same keys on each line, parameters that change, and each call path and metric in all runs: whatever is not so is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use serde_json::json;

use super::RunMetrics;

type Figure = fn(&RunMetrics, &str) -> Option<f64>;

/// The metrics, by name. Times are in seconds, the mean over ranks, the regions in a region included.
const METRICS: [(&str, Figure); 7] = [
    ("time", |run, path| Some(run.region(path)?.times.elapsed_s)),
    ("computation", |run, path| Some(run.region(path)?.times.avg_computation_s)),
    ("computation of the slowest rank", |run, path| Some(run.region(path)?.times.max_computation_s)),
    ("mpi", mean_mpi_s),
    ("waiting", mean_waiting_s),
    ("operations", |run, path| Some(run.region(path)?.operations)),
    ("quanta", |run, path| Some(run.region(path)?.quanta)),
];

/// Why there are no measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the runs of the study do not differ in their number of ranks or in a parameter that all of them have: Extra-P has nothing to model"
)]
pub struct NoMeasurements;

/// The measurements of a study's runs, as they are written.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtrapMeasurements {
    /// The names of parameters: `p` is the number of ranks.
    pub params: Vec<String>,
    /// Paths of regions.
    pub regions: Vec<String>,
    /// Number of regions that only some of the runs have: these are left out.
    pub left_out: usize,
    lines: Vec<String>,
}

impl ExtrapMeasurements {
    /// Collects the measurements of runs.
    ///
    /// Errors: Extra-P can make nothing of them.
    pub fn from_runs(runs: &[&RunMetrics]) -> Result<ExtrapMeasurements, NoMeasurements> {
        let params = varying_params(runs);
        if params.is_empty() {
            return Err(NoMeasurements);
        }
        let all: BTreeSet<&str> = runs.iter().flat_map(|run| &run.regions).map(|region| region.path.as_str()).collect();
        let everywhere = all.iter().filter(|path| runs.iter().all(|run| run.region(path).is_some()));
        let regions: Vec<String> = everywhere.map(|&path| path.to_owned()).collect();
        let mut lines = Vec::new();
        for path in &regions {
            for (metric, figure) in METRICS {
                let values: Option<Vec<f64>> = runs.iter().map(|run| figure(run, path)).collect();
                // Nothing that is always 0 grows.
                let values = values.filter(|values| values.iter().any(|&value| value > 0.0));
                for (run, value) in runs.iter().zip(values.into_iter().flatten()) {
                    let params: BTreeMap<&str, f64> =
                        params.iter().map(|name| (name.as_str(), param_value(run, name).unwrap_or(0.0))).collect();
                    let callpath = call_path(path);
                    let line = json!({"params": params, "callpath": callpath, "metric": metric, "value": value});
                    lines.push(line.to_string());
                }
            }
        }
        Ok(ExtrapMeasurements { params, left_out: all.len() - regions.len(), regions, lines })
    }

    /// Writes them.
    ///
    /// Errors: writing failed.
    pub fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        self.lines.iter().try_for_each(|line| writeln!(out, "{line}"))
    }
}

const RANKS: &str = "p";

/// The variables in which runs differ: their ranks, and parameters that all of them have. A parameter with the name of the number of
/// ranks is left out.
fn varying_params(runs: &[&RunMetrics]) -> Vec<String> {
    let names = runs.iter().flat_map(|run| run.params.keys()).map(String::as_str).filter(|&name| name != RANKS);
    let mut names: BTreeSet<&str> = names.chain([RANKS]).collect();
    names.retain(|name| {
        let values: Option<Vec<f64>> = runs.iter().map(|run| param_value(run, name)).collect();
        values.is_some_and(|values| values.iter().any(|value| Some(value) != values.first()))
    });
    names.into_iter().map(str::to_owned).collect()
}

fn param_value(run: &RunMetrics, name: &str) -> Option<f64> {
    if name == RANKS { Some(run.n_ranks.into()) } else { run.params.get(name).copied() }
}

fn call_path(path: &str) -> String {
    // A slash within a name is "\/".
    path.replace("\\/", "\0").replace('/', "->").replace('\0', "/")
}

fn with_inner(run: &RunMetrics, path: &str, figure: impl Fn(&super::run::RegionFigures) -> Option<f64>) -> Option<f64> {
    let inner = format!("{path}/");
    let own = run.regions.iter().filter(|region| region.path == path || region.path.starts_with(&inner));
    own.map(figure).sum()
}

fn mean_mpi_s(run: &RunMetrics, path: &str) -> Option<f64> {
    let sum = with_inner(run, path, |region| {
        let activities = region.activities.keys().copied();
        let of_mpi = activities.filter(|activity| activity.is_mpi());
        Some(of_mpi.map(|activity| region.sum_s(activity)).sum())
    });
    Some(sum? / run.ranks.len().max(1) as f64)
}

fn mean_waiting_s(run: &RunMetrics, path: &str) -> Option<f64> {
    Some(with_inner(run, path, |region| region.blocked_s)? / run.ranks.len().max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::RegionFigures;

    #[test]
    fn paths_are_call_paths() {
        assert_eq!(call_path("main/step/force"), "main->step->force");
        assert_eq!(call_path(r"main/in\/out"), "main->in/out");
    }

    fn run(n_ranks: u32, n: f64, regions: &[&str]) -> RunMetrics {
        let region = |path: &&str| RegionFigures { path: (*path).to_owned(), operations: n * n, ..Default::default() };
        let params = BTreeMap::from([("n".to_owned(), n), ("version".to_owned(), 2.0)]);
        RunMetrics { n_ranks, params, regions: regions.iter().map(region).collect(), ..RunMetrics::default() }
    }

    #[test]
    fn what_differs_is_a_parameter_and_what_is_not_everywhere_is_left_out() {
        let runs = [run(4, 10.0, &["main", "main/a"]), run(4, 20.0, &["main"])];
        let found = ExtrapMeasurements::from_runs(&[&runs[0], &runs[1]]).unwrap();
        assert_eq!((found.params.as_slice(), found.left_out), (&["n".to_owned()][..], 1));
        let line = |n: f64, value: f64| {
            format!(r#"{{"params":{{"n":{n:?}}},"callpath":"main","metric":"operations","value":{value:?}}}"#)
        };
        assert_eq!(found.lines, [line(10.0, 100.0), line(20.0, 400.0)]);
        assert_eq!(ExtrapMeasurements::from_runs(&[&runs[0], &runs[0]]), Err(NoMeasurements));
        let more_ranks = run(8, 10.0, &["main"]);
        assert_eq!(ExtrapMeasurements::from_runs(&[&runs[0], &more_ranks]).unwrap().params, ["p"]);
    }
}
