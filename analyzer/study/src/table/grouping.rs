//! Runs → tables and their columns.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::TableRequest;
use crate::key::{BUILT_IN, KeyValue, RANKS, compare_values, known_keys};
use crate::store::StoredRun;
use lbprof_report::rows::words::mpi_name;

#[derive(Clone, Debug)]
pub struct RunGroup<'a> {
    pub program: String,
    pub fixed: Vec<(String, KeyValue)>,
    pub by: Vec<String>,
    /// The runs of each column, at least one, by number; columns in the order of their values.
    pub columns: Vec<Vec<&'a StoredRun>>,
}

type Values = Vec<Option<KeyValue>>;

/// The tables of these runs: by program, then by all parameters that the columns do not show.
pub fn group_runs<'a>(runs: &'a [StoredRun], wanted: &TableRequest) -> Vec<RunGroup<'a>> {
    let mut all = Vec::new();
    for (_, of_program) in split_by_values(runs.iter().collect(), &["program".to_owned()]) {
        let mut varying = varying_keys(&of_program);
        if wanted.each {
            varying.push("run".to_owned());
        }
        let by = if wanted.by.is_empty() { default_by(&of_program, &varying, wanted) } else { wanted.by.clone() };
        let columns: HashSet<&String> = by.iter().collect();
        let rest: Vec<String> = varying.into_iter().filter(|key| !columns.contains(key) && key != "run").collect();
        for (_, runs) in split_by_values(of_program, &rest) {
            all.push(make_group(runs, &by, &rest, wanted.each));
        }
    }
    all
}

/// Returns the parameters in which two runs differ that have everything else in common; by the hash of a sum, seldom a few more.
///
/// There may be hundreds of thousands of parameters, so the runs are not grouped anew for each: what a run has besides a parameter is the sum
/// over all that it has, less that parameter.
pub fn find_distinguishing_params(runs: &[StoredRun]) -> Vec<String> {
    let keys = known_keys(runs);
    let sums = runs.iter().map(|run| {
        let compared = keys.iter().map(String::as_str).filter(|key| is_compared(key)).chain(["program"]);
        let hashes = compared.map(|key| hash_value(key, KeyValue::look_up(run, key).as_ref()));
        hashes.fold(0, u64::wrapping_add)
    });
    let sums: Vec<u64> = sums.collect();
    let mut first_of_rest: HashMap<u64, Option<KeyValue>> = HashMap::new();
    let params = keys.iter().filter(|key| !BUILT_IN.contains(&key.as_str()));
    let distinguishing = params.filter(|key| {
        first_of_rest.clear();
        runs.iter().zip(&sums).any(|(run, sum)| {
            let value = KeyValue::look_up(run, key);
            let rest = sum.wrapping_sub(hash_value(key, value.as_ref()));
            let first = first_of_rest.entry(rest).or_insert_with(|| value.clone());
            compare_values(std::slice::from_ref(first), &[value]).is_ne()
        })
    });
    distinguishing.cloned().collect()
}

/// False for keys whose values say nothing about what a run computes.
fn is_compared(key: &str) -> bool {
    !matches!(key, "run" | "program" | "host")
}

/// Returns a hash of what a run has for a key: 0 where it has none. The two zeros of floating point are one value.
fn hash_value(key: &str, value: Option<&KeyValue>) -> u64 {
    let Some(value) = value else { return 0 };
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    match value {
        KeyValue::Number(number) => (number + 0.0).to_bits().hash(&mut hasher),
        KeyValue::Text(text) => text.hash(&mut hasher),
    }
    hasher.finish()
}

fn varying_keys(runs: &[&StoredRun]) -> Vec<String> {
    let mut keys = known_keys(runs.iter().copied());
    keys.retain(|key| {
        let mut values = runs.iter().map(|run| KeyValue::look_up(run, key));
        let first = values.next().flatten();
        is_compared(key) && values.any(|value| value != first)
    });
    keys
}

/// The keys that distinguish columns by default: P, unless that leaves each run alone in its table.
fn default_by(runs: &[&StoredRun], varying: &[String], wanted: &TableRequest) -> Vec<String> {
    let params: Vec<String> = varying.iter().filter(|key| *key != "run").cloned().collect();
    let ranks = vec![RANKS.to_owned()];
    if params.is_empty() {
        return ranks;
    }
    let rest: Vec<String> = params.iter().filter(|key| *key != RANKS).cloned().collect();
    let side_by_side =
        split_by_values(runs.to_vec(), &rest).iter().any(|(_, runs)| split_by_values(runs.clone(), &ranks).len() > 1);
    if side_by_side && !wanted.weak { ranks } else { params }
}

fn make_group<'a>(runs: Vec<&'a StoredRun>, by: &[String], rest: &[String], each: bool) -> RunGroup<'a> {
    // There may be hundreds of thousands of parameters.
    let columns: HashSet<&String> = by.iter().collect();
    let fixed = known_keys(runs.iter().copied()).into_iter().filter(|key| {
        !columns.contains(key)
            && is_compared(key)
            // It is reported where there are runs under several.
            && (key != "mpi" || rest.contains(key))
            && split_by_values(runs.clone(), std::slice::from_ref(key)).len() == 1
    });
    let fixed = fixed.filter_map(|key| Some((key.clone(), KeyValue::look_up(runs.first()?, &key)?))).collect();
    let program = runs.first().map(|run| run.run.program().to_owned()).unwrap_or_default();
    let mut grouped_by = by.to_vec();
    if each {
        grouped_by.push("run".to_owned());
    }
    let columns = split_by_values(runs, &grouped_by).into_iter().map(|(_, runs)| runs).collect();
    RunGroup { program, fixed, by: by.to_vec(), columns }
}

/// Returns the runs of `all` that `run` may be compared with: under the same MPI library, unless the columns of its table distinguish
/// libraries.
pub fn comparable_runs<'a>(run: &StoredRun, group: &RunGroup, all: &'a [StoredRun]) -> Cow<'a, [StoredRun]> {
    let mpi = mpi_name(&run.run.mpi);
    if group.by.iter().any(|key| key == "mpi") || all.iter().all(|other| mpi_name(&other.run.mpi) == mpi) {
        return Cow::Borrowed(all);
    }
    all.iter().filter(|other| mpi_name(&other.run.mpi) == mpi).cloned().collect()
}

fn split_by_values<'a>(runs: Vec<&'a StoredRun>, by: &[String]) -> Vec<(Values, Vec<&'a StoredRun>)> {
    let mut parts: Vec<(Values, Vec<&StoredRun>)> = Vec::new();
    for run in runs {
        let values: Values = by.iter().map(|key| KeyValue::look_up(run, key)).collect();
        match parts.binary_search_by(|(of_part, _)| compare_values(of_part, &values)) {
            Ok(at) => parts[at].1.push(run),
            Err(at) => parts.insert(at, (values, vec![run])),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::RunMetrics;

    #[test]
    fn hundreds_of_thousands_of_parameters_take_no_time() {
        let params = |run: u32| (0..100_000).map(|at| (format!("parameter {at:06}"), f64::from(run))).collect();
        let run = |number| StoredRun { number, run: RunMetrics { params: params(number), ..RunMetrics::default() } };
        let runs = [run(1), run(2)];
        let begun = Instant::now();
        let groups = group_runs(&runs, &TableRequest::default());
        assert_eq!(groups[0].by.len(), 100_000);
        // Quadratic, it is minutes.
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }

    #[test]
    fn parameters_distinguish_runs_that_have_all_else_in_common() {
        let run = |number, n_ranks, params: &[(&str, f64)]| {
            let params = params.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
            StoredRun { number, run: RunMetrics { n_ranks, params, ..RunMetrics::default() } }
        };
        let found = |runs: &[StoredRun]| find_distinguishing_params(runs);
        let base = run(1, 4, &[("n", 1.0), ("m", 0.0)]);
        assert_eq!(found(&[base.clone(), run(2, 4, &[("n", 2.0), ("m", -0.0)])]), ["n"]);
        assert_eq!(found(&[base.clone(), run(2, 4, &[("n", 1.0)])]), ["m"], "a run may lack one");
        assert!(found(&[base.clone(), run(2, 8, &[("n", 2.0), ("m", 0.0)])]).is_empty(), "the ranks differ, too");
        assert!(found(&[base.clone(), run(2, 4, &[("n", 2.0), ("m", 1.0)])]).is_empty(), "two parameters differ");
        let third = run(3, 4, &[("n", 2.0), ("m", 1.0)]);
        assert_eq!(found(&[base, third, run(2, 4, &[("n", 2.0), ("m", 0.0)])]), ["m", "n"]);
    }
}
