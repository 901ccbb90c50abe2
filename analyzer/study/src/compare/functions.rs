//! In which functions the runs compute longer or shorter, by samples.
//!
//! Times are CPU time of computation, means over ranks. The error of a side's mean over n runs is the error of counting samples, √(Σ eᵢ²) / n, or what the runs scatter by,
//! s / √n, whichever is larger. A change is reported from two standard errors on, and where it is larger than what counts at all.
//!
//! Functions whose names differ in file, class, module or template arguments alone are the same. A function of the base runs and one of the new runs that
//! are the only such functions of a region, with a like time, are taken for one that was renamed.

use std::collections::BTreeMap;

use serde::Serialize;

use super::names::code_names::plain_name;
use super::names::regions::RegionList;
use super::noise::{mean_of, sum_of_deviations};
use super::{ComparisonSide, ComparisonSides};
use crate::run::{FunctionFigures, FunctionSums};
use lbprof_thresholds::metrics::MIN_STANDARD_ERRORS;
use lbprof_thresholds::study::MAX_RATIO_OF_SAME_CODE;

/// Most functions that are reported, and most regions of each.
const MOST: (usize, usize) = (20, 3);

/// A change of CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct TimeChange {
    /// CPU time in the base runs, the mean over ranks, by samples.
    pub base_s: f64,
    /// Its value in the new runs.
    pub new_s: f64,
    /// `new` minus `base`.
    pub change_s: f64,
    /// Standard error of `change_s`.
    pub error_s: f64,
}

/// A function whose CPU time changed.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct FunctionChange {
    /// Its name and source file, or the library that has it.
    pub function: String,
    /// In the whole program.
    #[serde(flatten)]
    pub time: TimeChange,
    /// The regions without inner regions in which the change is significant, too, the largest first, at most 3.
    pub regions: Vec<RegionChange>,
}

/// The CPU time of a function in a region.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct RegionChange {
    /// Path of the region in the new runs.
    pub region: String,
    /// The change there.
    #[serde(flatten)]
    pub time: TimeChange,
}

/// The changes that are significant and at least `least_s`, the largest first, and sentences on functions that are taken for the same; `None` where not all runs
/// were sampled, or where an older version added one to a study.
pub(super) fn function_changes(
    sides: &ComparisonSides,
    regions: &RegionList,
    least_s: f64,
) -> Option<(Vec<FunctionChange>, Vec<String>)> {
    let mut both = [side_figures(&sides.base)?, side_figures(&sides.new)?];
    let remarks = unify_names(&mut both, regions, least_s);
    let [base, new] = both.each_ref().map(|runs| runs.iter().map(|run| &run.program).collect::<Vec<_>>());
    let (base, new) = (function_means(&base), function_means(&new));
    let changes = sure_changes(&base, &new, least_s).map(|(function, time)| FunctionChange {
        function,
        time,
        regions: Vec::new(),
    });
    let mut changes: Vec<FunctionChange> = changes.collect();
    changes.sort_by(|a, b| b.time.change_s.abs().total_cmp(&a.time.change_s.abs()));
    changes.truncate(MOST.0);
    for (idx, path) in regions.paths.iter().enumerate() {
        let base = region_means(&both[0], regions, 0, idx);
        let new = region_means(&both[1], regions, both[0].len(), idx);
        for (function, time) in sure_changes(&base, &new, least_s) {
            if let Some(change) = changes.iter_mut().find(|change| change.function == function) {
                change.regions.push(RegionChange { region: path.clone(), time });
            }
        }
    }
    for change in &mut changes {
        change.regions.sort_by(|a, b| b.time.change_s.abs().total_cmp(&a.time.change_s.abs()));
        change.regions.truncate(MOST.1);
    }
    Some((changes, remarks))
}

fn side_figures(side: &ComparisonSide) -> Option<Vec<FunctionFigures>> {
    let runs: Option<Vec<FunctionFigures>> = side.runs.iter().map(|named| named.run.functions.clone()).collect();
    runs.filter(|runs| !runs.is_empty())
}

/// Gives functions of the base runs the names that they have in the new runs. Returns sentences on what is not sure.
fn unify_names(both: &mut [Vec<FunctionFigures>; 2], regions: &RegionList, least_s: f64) -> Vec<String> {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let whole = both.each_ref().map(|runs| function_means(&runs.iter().map(|run| &run.program).collect::<Vec<_>>()));
    let [base, new] = one_sided(&whole, 0.0);
    for old in &base {
        if let ([_], [found]) = (&similar_names(&base, old)[..], &similar_names(&new, old)[..]) {
            names.insert(old.clone(), (*found).clone());
        }
    }
    rename_functions(&mut both[0], &names);
    let mut renamed: BTreeMap<String, String> = BTreeMap::new();
    for idx in 0..regions.paths.len() {
        let times =
            [(0, 0), (1, both[0].len())].map(|(side, first_run)| region_means(&both[side], regions, first_run, idx));
        let [base, new] = one_sided(&times, least_s);
        let ([old], [found]) = (&base[..], &new[..]) else { continue };
        let [old_s, found_s] = [times[0].time(old).0, times[1].time(found).0];
        let is_whole =
            [(&whole[1], old), (&whole[0], found)].iter().all(|(other, name)| !other.times.contains_key(*name));
        if is_whole && old_s.max(found_s) <= MAX_RATIO_OF_SAME_CODE * old_s.min(found_s) {
            renamed.entry(old.clone()).or_insert_with(|| found.clone());
        }
    }
    rename_functions(&mut both[0], &renamed);
    renamed
        .iter()
        .map(|(old, found)| {
            format!("{old} of the base runs is taken for {found} of the new ones, by its place and time.")
        })
        .collect()
}

/// Returns the functions of at least `least_s` that one side lists, and that are not among the others of the other side.
fn one_sided(times: &[FunctionSums; 2], least_s: f64) -> [Vec<String>; 2] {
    [0, 1].map(|side| {
        let own = times[side].times.iter().filter(|(name, time)| {
            !times[1 - side].times.contains_key(*name)
                && time.0 >= least_s
                && (least_s == 0.0 || time.0 > times[1 - side].others_s)
        });
        own.map(|(name, _)| name.clone()).collect()
    })
}

/// Returns the names that are the same without file, class, module and template arguments.
fn similar_names<'a>(names: &'a [String], wanted: &str) -> Vec<&'a String> {
    names.iter().filter(|name| bare_name(name) == bare_name(wanted)).collect()
}

/// Returns a function's name without its file, class, module and template arguments.
fn bare_name(name: &str) -> &str {
    plain_name(name.split_once(" (").map_or(name, |(function, _)| function))
}

fn rename_functions(runs: &mut [FunctionFigures], names: &BTreeMap<String, String>) {
    let sums = runs.iter_mut().flat_map(|run| std::iter::once(&mut run.program).chain(run.regions.values_mut()));
    for sums in sums {
        let times = std::mem::take(&mut sums.times);
        sums.times = times.into_iter().map(|(name, time)| (names.get(&name).cloned().unwrap_or(name), time)).collect();
    }
}

/// The mean times of the functions in region `idx` over `runs`, the first of which is run `first_run` of `regions`.
fn region_means(runs: &[FunctionFigures], regions: &RegionList, first_run: usize, idx: usize) -> FunctionSums {
    let mut sums = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        let mut of_run = FunctionSums::default();
        for path in regions.paths_in(first_run + at, idx) {
            of_run.add(&run.regions.get(path).cloned().unwrap_or_else(|| unlisted_bound(run)));
        }
        sums.push(of_run);
    }
    function_means(&sums.iter().collect::<Vec<_>>())
}

/// The bound on a region that a run does not list: it has no more time than all regions that are not listed.
fn unlisted_bound(run: &FunctionFigures) -> FunctionSums {
    let listed_s: f64 = run.regions.values().map(FunctionSums::total_s).sum();
    FunctionSums { others_s: (run.program.total_s() - listed_s).max(0.0), ..FunctionSums::default() }
}

fn sure_changes<'a>(
    base: &'a FunctionSums,
    new: &'a FunctionSums,
    least_s: f64,
) -> impl Iterator<Item = (String, TimeChange)> {
    let mut names: Vec<&String> = base.times.keys().chain(new.times.keys()).collect();
    names.sort();
    names.dedup();
    let changes = names.into_iter().map(|name| {
        let ((base_s, base_error), (new_s, new_error)) = (base.time(name), new.time(name));
        (name.clone(), TimeChange { base_s, new_s, change_s: new_s - base_s, error_s: base_error.hypot(new_error) })
    });
    changes.filter(move |(_, time)| {
        let change_s = time.change_s.abs();
        change_s >= MIN_STANDARD_ERRORS * time.error_s && change_s >= least_s && change_s > 0.0
    })
}

fn function_means(runs: &[&FunctionSums]) -> FunctionSums {
    let n = runs.len() as f64;
    let mut functions = BTreeMap::new();
    for name in runs.iter().flat_map(|run| run.times.keys()) {
        let seconds: Vec<f64> = runs.iter().map(|run| run.time(name).0).collect();
        let counting = runs.iter().map(|run| run.time(name).1.powi(2)).sum::<f64>().sqrt() / n;
        let scatter = if runs.len() > 1 { (sum_of_deviations(&seconds) / (n - 1.0) / n).sqrt() } else { 0.0 };
        functions.insert(name.clone(), (mean_of(&seconds), counting.max(scatter)));
    }
    FunctionSums { times: functions, others_s: runs.iter().map(|run| run.others_s).fold(0.0, f64::max) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunMetrics;
    use crate::compare::NamedRun;
    use crate::run::RegionFigures;

    /// A function and its time in the program, of which all but what is in `main` is in the region `main/step`.
    type Function = (&'static str, f64, f64);

    fn sums(functions: &[Function]) -> FunctionSums {
        let times = functions.iter().map(|&(name, mean_s, error_s)| (name.to_owned(), (mean_s, error_s))).collect();
        FunctionSums { times, others_s: 0.05 }
    }

    fn side(runs: &[&[Function]]) -> ComparisonSide {
        in_regions(&runs.iter().map(|program| (*program, [].as_slice())).collect::<Vec<_>>())
    }

    /// The functions of a region, by its path.
    type InRegion<'a> = (&'a str, &'a [Function]);

    fn in_regions(runs: &[(&[Function], &[InRegion])]) -> ComparisonSide {
        let run = |(program, regions): &(&[Function], &[InRegion])| {
            let listed = regions.iter().filter(|(_, functions)| !functions.is_empty());
            let by_path = listed.map(|(path, functions)| (path.to_string(), sums(functions))).collect();
            let functions = Some(FunctionFigures { program: sums(program), regions: by_path });
            let region = |path: &str| RegionFigures { path: path.to_owned(), ..RegionFigures::default() };
            let regions = regions.iter().map(|(path, _)| region(path)).collect();
            NamedRun { name: String::new(), run: RunMetrics { functions, regions, ..RunMetrics::default() } }
        };
        ComparisonSide { runs: runs.iter().map(run).collect() }
    }

    fn changes(sides: &ComparisonSides) -> Option<Vec<FunctionChange>> {
        let runs: Vec<&RunMetrics> = sides.base.runs.iter().chain(&sides.new.runs).map(|named| &named.run).collect();
        let regions = RegionList::new(&runs, sides.base.runs.len());
        super::function_changes(sides, &regions, 0.01).map(|(changes, _)| changes)
    }

    #[test]
    fn changes_beyond_their_error_are_reported() {
        let base = side(&[&[("force", 1.0, 0.02), ("sort", 0.5, 0.02), ("old", 0.2, 0.01)]]);
        let new = side(&[&[("force", 1.3, 0.03), ("sort", 0.53, 0.02), ("small", 0.08, 0.01)]]);
        let changes = changes(&ComparisonSides { base, new }).unwrap();
        let names: Vec<&str> = changes.iter().map(|one| one.function.as_str()).collect();
        // `old` may still be among the functions that the new run does not list; it is longer than these together.
        assert_eq!(names, ["force", "old"]);
        assert!((changes[0].time.error_s - 0.03_f64.hypot(0.02)).abs() < 1e-12);
    }

    #[test]
    fn a_change_is_in_the_regions_where_it_is_significant_too() {
        let force: &[Function] = &[("force", 0.5, 0.02)];
        let base = in_regions(&[(
            &[("force", 1.3, 0.03), ("sort", 0.2, 0.01)],
            &[
                ("main", &[("force", 0.3, 0.02)]),
                ("main/step", &[("force", 0.5, 0.02), ("sort", 0.2, 0.01)]),
                ("main/io", force),
            ],
        )]);
        let new = in_regions(&[(
            &[("force", 2.2, 0.03), ("sort", 0.2, 0.01)],
            &[
                ("main", &[("force", 0.33, 0.02)]),
                ("main/step", &[("force", 0.87, 0.02), ("sort", 0.3, 0.01)]),
                ("main/io", &[]),
                ("main/new", force),
            ],
        )]);
        let changes = changes(&ComparisonSides { base, new }).unwrap();
        // In `main` it is not significant; `main/io` may still have 0.3 s in the new run; `sort` did not change in the program.
        let [one] = changes.as_slice() else { panic!("{changes:?}") };
        let found: Vec<_> =
            one.regions.iter().map(|there| (there.region.as_str(), there.time.base_s, there.time.new_s)).collect();
        assert_eq!(found, [("main/new", 0.0, 0.5), ("main/step", 0.5, 0.87)]);
    }

    #[test]
    fn functions_that_were_renamed_or_have_another_file_or_template_argument_are_the_same() {
        let names = ["force (old.c)", "old_flux (old.c)", "Cell<double>::sum (old.cpp)", "same (a.c)"];
        let base: [Function; 4] = names.map(|name| (name, 0.5, 0.01));
        let names = ["force (new.c)", "new_flux (new.c)", "Cell<float>::sum (old.cpp)", "same (a.c)"];
        let new: [Function; 4] = names.map(|name| (name, 0.6, 0.01));
        let sides = ComparisonSides {
            base: in_regions(&[(&base, &[("main", &base)])]),
            new: in_regions(&[(&new, &[("main", &new)])]),
        };
        let runs = [&sides.base.runs[0].run, &sides.new.runs[0].run];
        let (changes, remarks) = function_changes(&sides, &RegionList::new(&runs, 1), 0.01).unwrap();
        assert!(changes.iter().all(|one| (one.time.change_s - 0.1).abs() < 1e-9), "{changes:?}");
        assert_eq!((changes.len(), remarks.len()), (4, 1));
        assert!(
            remarks[0].starts_with("old_flux (old.c) of the base runs is taken for new_flux (new.c)"),
            "{remarks:?}"
        );
    }

    #[test]
    fn runs_that_scatter_say_less() {
        let base = side(&[&[("force", 1.0, 0.001)], &[("force", 1.2, 0.001)]]);
        let sides = ComparisonSides { base, new: side(&[&[("force", 1.3, 0.001)]]) };
        // 1.1 ± 0.1
        assert_eq!(changes(&sides), Some(Vec::new()));
        assert_eq!(
            changes(&ComparisonSides { new: ComparisonSide { runs: vec![NamedRun::default()] }, ..sides }),
            None
        );
    }

    #[test]
    fn a_function_that_one_run_of_a_side_does_not_list_may_be_among_its_others() {
        let base = side(&[&[("force", 0.2, 0.001)], &[]]);
        // 0.1 ± 0.1 of the two, for the second has at most 0.05 s of it.
        assert_eq!(changes(&ComparisonSides { base, new: side(&[&[("force", 0.25, 0.001)]]) }), Some(Vec::new()));
    }
}
