//! Variables that differ between runs: the number of ranks and the user's parameters; and sweeps of runs in which only one of them does.

use std::collections::BTreeMap;

use crate::RunMetrics;

/// The name of the number of ranks among variables. A parameter of this name is not seen: `study add` refuses one, and reports
/// one that the program stated.
pub const RANKS: &str = "P";

/// The variables of a run: P and its parameters.
pub fn run_variables(run: &RunMetrics) -> BTreeMap<String, f64> {
    let mut variables = run.params.clone();
    variables.insert(RANKS.to_owned(), f64::from(run.n_ranks));
    variables
}

/// Runs in which one variable differs alone.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableSweep {
    /// Indices of the runs, by the variable's value.
    pub runs: Vec<usize>,
    /// Values of the other variables in all of its runs.
    pub held: BTreeMap<String, f64>,
    /// Number of different values of the variable.
    pub n_different: usize,
}

/// Names of variables that differ between runs, P first.
pub fn varying_names(runs: &[BTreeMap<String, f64>]) -> Vec<String> {
    let mut names: Vec<&String> = runs.iter().flat_map(BTreeMap::keys).collect();
    names.sort_by_key(|name| (*name != RANKS, *name));
    names.dedup();
    names.retain(|name| {
        let mut values = runs.iter().filter_map(|run| run.get(*name));
        let first = values.next();
        first.is_some_and(|first| values.any(|value| value != first))
    });
    names.into_iter().cloned().collect()
}

/// The common properties of a sweep's runs: their MPI library, and the bits of other variables.
type Key<'a> = (Option<&'a String>, Vec<(&'a str, u64)>);

/// The sweeps of runs that have `name` and differ in nothing else, nor in their `libraries` (one entry per run). Sweeps with most values
/// of it come first, then those with most runs, then the largest.
pub fn variable_sweeps(runs: &[BTreeMap<String, f64>], libraries: &[String], name: &str) -> Vec<VariableSweep> {
    let mut sweeps: BTreeMap<Key, VariableSweep> = BTreeMap::new();
    for (at, variables) in runs.iter().enumerate() {
        if !variables.contains_key(name) {
            continue;
        }
        let others = variables.iter().filter(|(other, _)| *other != name);
        let key = others.clone().map(|(other, value)| (other.as_str(), value.to_bits())).collect();
        let sweep = sweeps.entry((libraries.get(at), key)).or_insert_with(|| {
            let held = others.map(|(other, value)| (other.clone(), *value)).collect();
            VariableSweep { runs: Vec::new(), held, n_different: 0 }
        });
        sweep.runs.push(at);
    }
    let values: Vec<f64> = runs.iter().map(|run| run.get(name).copied().unwrap_or(f64::NAN)).collect();
    let mut sweeps: Vec<VariableSweep> = sweeps.into_values().collect();
    for sweep in &mut sweeps {
        sweep.runs.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        let mut different: Vec<f64> = sweep.runs.iter().map(|&at| values[at]).collect();
        different.dedup();
        sweep.n_different = different.len();
    }
    sweeps.sort_by(|a, b| {
        let most = (b.n_different, b.runs.len()).cmp(&(a.n_different, a.runs.len()));
        // Runs at larger values of the held variables are larger.
        let [a_size, b_size] = [a, b].map(|sweep| sweep.held.values().sum::<f64>());
        most.then(b_size.total_cmp(&a_size))
    });
    sweeps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(p: f64, n: f64) -> BTreeMap<String, f64> {
        [(RANKS.to_owned(), p), ("n".to_owned(), n)].into()
    }

    #[test]
    fn the_sweep_with_most_values_comes_first() {
        let mut runs =
            vec![run(1.0, 40.0), run(2.0, 80.0), run(2.0, 60.0), run(2.0, 40.0), run(4.0, 40.0), run(2.0, 40.0)];
        let by_n = variable_sweeps(&runs, &[], "n");
        assert_eq!((by_n[0].runs.clone(), by_n[0].n_different), (vec![3, 5, 2, 1], 3));
        assert_eq!(by_n[0].held, [("P".to_owned(), 2.0)].into());
        assert_eq!(by_n.len(), 3);
        assert_eq!(by_n[1].held["P"], 4.0, "of as many the largest");
        assert_eq!(variable_sweeps(&runs, &[], RANKS)[0].runs, [0, 3, 5, 4]);
        assert_eq!(varying_names(&runs), ["P", "n"]);
        // A run without the parameter is in no sweep of it, and with no other in one.
        runs.push([(RANKS.to_owned(), 8.0)].into());
        assert_eq!(variable_sweeps(&runs, &[], "n"), by_n);
        assert_eq!(variable_sweeps(&runs, &[], RANKS)[0].runs.len(), 4);
    }

    #[test]
    fn runs_under_another_library_are_in_another_sweep() {
        let runs = vec![run(1.0, 40.0), run(2.0, 40.0), run(4.0, 40.0), run(2.0, 40.0)];
        let libraries = ["A", "A", "A", "B"].map(str::to_owned);
        let found: Vec<Vec<usize>> =
            variable_sweeps(&runs, &libraries, RANKS).into_iter().map(|sweep| sweep.runs).collect();
        assert_eq!(found, [vec![0, 1, 2], vec![3]]);
    }

    #[test]
    fn what_is_the_same_everywhere_is_no_variable() {
        assert!(varying_names(&[run(2.0, 40.0), run(2.0, 40.0)]).is_empty());
        assert_eq!(varying_names(&[run(2.0, 40.0), run(2.0, 41.0)]), ["n"]);
        assert!(varying_names(&[]).is_empty() && variable_sweeps(&[], &[], "n").is_empty());
    }
}
