//! In which functions the runs compute longer or shorter, by samples.
//!
//! Times are CPU time of computation, means over ranks. The error of a side's mean over n runs is that of counting samples, √(Σ eᵢ²) / n, or what the runs scatter by,
//! s / √n, whichever is larger. A change is reported from two standard errors on, and where it is larger than what counts at all.

use std::collections::BTreeMap;

use super::Side;
use super::Sides;
use super::noise::mean;
use crate::metrics::functions::SIGNIFICANT;
use crate::study::run::FunctionFigures;

/// Most functions that are reported.
const MOST: usize = 20;

/// How the CPU time of a function changed.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionChange {
    /// Its name and its file, or the file that has it.
    pub function: String,
    /// Mean of the base runs, in seconds.
    pub base_s: f64,
    /// Mean of the new ones.
    pub new_s: f64,
    /// Standard error of the difference.
    pub error_s: f64,
}

impl FunctionChange {
    /// By how much it grew.
    pub fn difference(&self) -> f64 {
        self.new_s - self.base_s
    }
}

/// The changes that are significant and at least `least_s`, the largest first; `None` where not all runs were sampled, or where only the names of
/// their functions were kept.
pub(super) fn changes(sides: &Sides, least_s: f64) -> Option<Vec<FunctionChange>> {
    let (base, new) = (means(&sides.base)?, means(&sides.new)?);
    let mut names: Vec<&String> = base.functions.keys().chain(new.functions.keys()).collect();
    names.sort();
    names.dedup();
    let change = |name: &String| {
        let ((base_s, base_error), (new_s, new_error)) = (base.of(name), new.of(name));
        FunctionChange { function: name.clone(), base_s, new_s, error_s: base_error.hypot(new_error) }
    };
    let is_sure = |change: &FunctionChange| {
        let difference = change.difference().abs();
        difference >= SIGNIFICANT * change.error_s && difference >= least_s && difference > 0.0
    };
    let mut changes: Vec<FunctionChange> = names.into_iter().map(change).filter(is_sure).collect();
    changes.sort_by(|a, b| b.difference().abs().total_cmp(&a.difference().abs()));
    changes.truncate(MOST);
    Some(changes)
}

/// The functions of a side.
struct Means {
    /// CPU time and its standard error.
    functions: BTreeMap<String, (f64, f64)>,
    /// CPU time of all functions that are not listed: so long at most is one of them.
    others_s: f64,
}

impl Means {
    fn of(&self, name: &str) -> (f64, f64) {
        self.functions.get(name).copied().unwrap_or((0.0, self.others_s))
    }
}

fn means(side: &Side) -> Option<Means> {
    let runs: Option<Vec<&FunctionFigures>> = side.runs.iter().map(|named| named.run.functions.as_ref()).collect();
    let runs = runs.filter(|runs| !runs.is_empty())?;
    let n = runs.len() as f64;
    let mut functions = BTreeMap::new();
    for name in runs.iter().flat_map(|run| run.times.keys()) {
        let of = |run: &&FunctionFigures| run.times.get(name).copied().unwrap_or((0.0, 0.0));
        let seconds: Vec<f64> = runs.iter().map(|run| of(run).0).collect();
        let counting = runs.iter().map(|run| of(run).1.powi(2)).sum::<f64>().sqrt() / n;
        let mean_s = mean(&seconds);
        let squares: f64 = seconds.iter().map(|one| (one - mean_s).powi(2)).sum();
        let scatter = if runs.len() > 1 { (squares / (n - 1.0) / n).sqrt() } else { 0.0 };
        functions.insert(name.clone(), (mean_s, counting.max(scatter)));
    }
    Some(Means { functions, others_s: runs.iter().map(|run| run.others_s).fold(0.0, f64::max) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Named;
    use crate::study::Run;

    fn side(runs: &[&[(&str, f64, f64)]]) -> Side {
        let run = |functions: &&[(&str, f64, f64)]| {
            let times = functions.iter().map(|&(name, mean_s, error_s)| (name.to_owned(), (mean_s, error_s))).collect();
            let functions = Some(FunctionFigures { times, others_s: 0.05 });
            Named { name: String::new(), run: Run { functions, ..Run::default() } }
        };
        Side { runs: runs.iter().map(run).collect() }
    }

    #[test]
    fn changes_beyond_their_error_are_reported() {
        let base = side(&[&[("force", 1.0, 0.02), ("sort", 0.5, 0.02), ("old", 0.2, 0.01)]]);
        let new = side(&[&[("force", 1.3, 0.03), ("sort", 0.53, 0.02), ("small", 0.08, 0.01)]]);
        let changes = changes(&Sides { base, new }, 0.01).unwrap();
        let names: Vec<&str> = changes.iter().map(|one| one.function.as_str()).collect();
        // `old` may still be among the functions that the new run does not list; it is longer than these together.
        assert_eq!(names, ["force", "old"]);
        assert!((changes[0].error_s - 0.03_f64.hypot(0.02)).abs() < 1e-12);
    }

    #[test]
    fn runs_that_scatter_say_less() {
        let base = side(&[&[("force", 1.0, 0.001)], &[("force", 1.2, 0.001)]]);
        let sides = Sides { base, new: side(&[&[("force", 1.3, 0.001)]]) };
        // 1.1 ± 0.1
        assert_eq!(changes(&sides, 0.01), Some(Vec::new()));
        assert_eq!(changes(&Sides { new: Side { runs: vec![Named::default()] }, ..sides }, 0.01), None);
    }
}
