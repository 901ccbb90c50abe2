//! Regions that are one code under several names.
//!
//! Code between calls is named by these calls. Where another run goes through a function by other calls, or has other names for them, one region has less time
//! and another more:
//!
//! ```text
//!                     base runs        new runs       change
//!   comm (78 → 236)   1.0  1.0  1.0    9.0  9.1  9.0   +8.0
//!   comm (146 → 207)  8.0  8.1  8.0    1.0  1.0  1.0   −7.0
//!   main (42 → 45)    5.0  0.0  5.0    2.0  2.0  2.0   −1.3     in one run there was a call on line 50
//!   main (42 → 50)    0.0  5.0  0.0    0.0  0.0  0.0   −1.7
//! ```
//!
//! Where most of what such regions differ by cancels out, between the sides or between the runs of a side, they are one reason: `comm` +1.0, `main` −3.0. One
//! that all runs have, and that adds most of the change without being cancelled by any, stays a reason of its own. Regions are of one code if they lie in the same function, unless samples show that ranks compute in different functions there; or if samples show that they compute
//! in the same function, and one region is in the base runs alone, another in the new ones alone.

use std::collections::{BTreeMap, BTreeSet};

use super::noise::mean;
use super::reasons::{ComponentCost, Parts, TimeComponent};
use super::regions::{RegionList, without_loops};
use crate::RunMetrics;
use lbprof_collector::Activity;
use lbprof_report::words::{BEFORE_FIRST_CALL, separators};
use lbprof_thresholds::study::{
    MIN_CANCELLED_DIFFERENCE, MIN_MAIN_FUNCTION, MIN_REASON_OF_ITS_OWN, MIN_STILL_CANCELLED,
};

/// Merges the parts of regions that are one code, `n_base` of whose runs are the base's. Changes of less than `least_s` do not matter. Merged regions are added to
/// `regions`.
pub(super) fn merge(
    of_runs: &mut [Parts],
    n_base: usize,
    runs: &[&RunMetrics],
    regions: &mut RegionList,
    least_s: f64,
) {
    for code in possible_codes(n_base, runs, regions) {
        let mut cancelling: Vec<CodeTimes> = Vec::new();
        for &member in &code.members {
            let component = TimeComponent::In(member, Activity::Computation);
            let seconds = of_runs.iter().map(|run| run.get(&component).map_or(0.0, ComponentCost::total_s)).collect();
            let is_everywhere = (0..runs.len()).all(|run| regions.has(run, member));
            cancelling.push(CodeTimes { member, seconds, is_everywhere });
        }
        if !cancel_out(&cancelling, n_base, least_s) {
            continue;
        }
        while let Some(idx) = uncancelled(&cancelling, n_base, least_s) {
            cancelling.remove(idx);
        }
        let members: Vec<usize> = cancelling.iter().map(|one| one.member).collect();
        let merged = regions.add_merged(code.path, &members);
        for run in of_runs.iter_mut() {
            move_components(run, &members, merged);
        }
    }
}

/// The computation in a region of a code.
#[derive(Clone)]
struct CodeTimes {
    /// The region.
    member: usize,
    /// Seconds in each run.
    seconds: Vec<f64>,
    /// True if all runs have it.
    is_everywhere: bool,
}

/// Measures of how much the runs of two sides differ: between the sides, and between the runs of each.
const DIFFERENCES: [fn(&[f64], usize) -> f64; 3] = [
    |seconds, n_base| change(seconds, n_base).abs(),
    |seconds, n_base| spread(&seconds[..n_base]),
    |seconds, n_base| spread(&seconds[n_base..]),
];

/// Returns by how much the mean of the new runs is longer than that of the base's.
fn change(seconds: &[f64], n_base: usize) -> f64 {
    mean(&seconds[n_base..]) - mean(&seconds[..n_base])
}

/// Returns the seconds of all members in each run.
fn sum(members: &[CodeTimes]) -> Vec<f64> {
    let n_runs = members.first().map_or(0, |one| one.seconds.len());
    (0..n_runs).map(|run| members.iter().map(|one| one.seconds[run]).sum()).collect()
}

/// Returns by how much members differ by each of the measures, and how much of that is not there in their sum.
fn cancelled(members: &[CodeTimes], n_base: usize) -> [(f64, f64); 3] {
    let sum = sum(members);
    DIFFERENCES.map(|difference| {
        let all_s: f64 = members.iter().map(|one| difference(&one.seconds, n_base)).sum();
        (all_s, all_s - difference(&sum, n_base))
    })
}

/// Returns the index of a member that all runs have, and that adds most of what the sum changes by, while what the others differ by cancels out as much
/// without it.
fn uncancelled(members: &[CodeTimes], n_base: usize, least_s: f64) -> Option<usize> {
    let all = cancelled(members, n_base);
    let sum_s = change(&sum(members), n_base);
    (0..members.len()).find(|&idx| {
        let one_s = change(&members[idx].seconds, n_base);
        let adds_most = one_s * sum_s > 0.0 && one_s.abs() >= MIN_REASON_OF_ITS_OWN * sum_s.abs();
        let is_candidate = members[idx].is_everywhere && adds_most && members.len() > 2 && one_s.abs() >= least_s;
        is_candidate && {
            let others = members.iter().enumerate().filter(|&(at, _)| at != idx);
            let rest: Vec<CodeTimes> = others.map(|(_, one)| one.clone()).collect();
            let of_rest = cancelled(&rest, n_base);
            // A measure by which too little cancels out shows nothing but noise.
            of_rest.iter().any(|&(rest_s, gone_s)| is_mostly_cancelled(rest_s, gone_s, least_s))
                && of_rest.iter().zip(all).all(|(&(_, gone_s), (all_s, cancelled_s))| {
                    !is_mostly_cancelled(all_s, cancelled_s, least_s) || gone_s >= MIN_STILL_CANCELLED * cancelled_s
                })
        }
    })
}

/// Returns whether most of what regions differ by, between the sides or between the runs of one, is not there in their sum.
fn cancel_out(members: &[CodeTimes], n_base: usize, least_s: f64) -> bool {
    cancelled(members, n_base).iter().any(|&(all_s, cancelled_s)| is_mostly_cancelled(all_s, cancelled_s, least_s))
}

fn is_mostly_cancelled(all_s: f64, cancelled_s: f64, least_s: f64) -> bool {
    cancelled_s >= MIN_CANCELLED_DIFFERENCE * all_s && cancelled_s >= 2.0 * least_s
}

/// The difference of the longest and the shortest; 0 of none.
fn spread(seconds: &[f64]) -> f64 {
    let longest = seconds.iter().copied().reduce(f64::max).unwrap_or(0.0);
    longest - seconds.iter().copied().reduce(f64::min).unwrap_or(0.0)
}

/// Gives what a run's regions `members` have to the region `merged`.
fn move_components(run: &mut Parts, members: &[usize], merged: usize) {
    for &member in members {
        for (from, to) in [
            (TimeComponent::In(member, Activity::Computation), TimeComponent::In(merged, Activity::Computation)),
            (TimeComponent::WaitingForCalls(member), TimeComponent::WaitingForCalls(merged)),
            (TimeComponent::Calls(member), TimeComponent::Calls(merged)),
        ] {
            if let Some(cost) = run.remove(&from) {
                run.entry(to).or_default().add(&cost);
            }
        }
    }
}

/// Regions that may be one code.
struct PossibleCode {
    /// Path of what they have in common.
    path: String,
    /// Their indices, two or more.
    members: Vec<usize>,
}

/// Returns the regions that may be one code, each once.
fn possible_codes(n_base: usize, runs: &[&RunMetrics], regions: &RegionList) -> Vec<PossibleCode> {
    let mut by_function: BTreeMap<String, Vec<(usize, Option<String>)>> = BTreeMap::new();
    let mut one_sided: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (idx, path) in regions.paths.iter().enumerate().filter(|&(idx, _)| is_found(runs, regions, idx)) {
        let Some(function) = function_path(path) else { continue };
        let sampled = main_function(runs, regions, idx);
        let in_base = (0..n_base).any(|run| regions.has(run, idx));
        let in_new = (n_base..runs.len()).any(|run| regions.has(run, idx));
        if let Some(name) = sampled.as_ref().filter(|_| in_base != in_new) {
            one_sided.entry(name.clone()).or_default().push(idx);
        }
        by_function.entry(function).or_default().push((idx, sampled));
    }
    let mut codes = Vec::new();
    for (path, members) in by_function {
        let names: BTreeSet<&String> = members.iter().filter_map(|(_, sampled)| sampled.as_ref()).collect();
        match names.len() {
            0 | 1 => codes.push(PossibleCode { path, members: members.iter().map(|(idx, _)| *idx).collect() }),
            _ => {
                for name in names {
                    let of_name = members.iter().filter(|(_, sampled)| sampled.as_ref() == Some(name));
                    codes.push(PossibleCode { path: path.clone(), members: of_name.map(|(idx, _)| *idx).collect() });
                }
            }
        }
    }
    for (name, members) in one_sided {
        let is_known = codes.iter().any(|code| members.iter().all(|idx| code.members.contains(idx)));
        if !is_known {
            for code in &mut codes {
                code.members.retain(|idx| !members.contains(idx));
            }
            codes.push(PossibleCode { path: format!("main/{}", name.replace('/', "\\/")), members });
        }
    }
    codes.retain(|code| code.members.len() > 1);
    codes
}

/// Returns whether a region was found in the calls.
fn is_found(runs: &[&RunMetrics], regions: &RegionList, idx: usize) -> bool {
    runs.iter().enumerate().any(|(at, run)| {
        let path = regions.paths_in(at, idx).first();
        path.and_then(|path| run.region(path)).is_some_and(|region| region.found)
    })
}

/// Returns the path of the function in which code between calls lies: of `main/loop/solve (cg.c:120 → 140)` and of
/// `main/solve/solve (cg.c:120 → 140)` it is `main/solve`; `None` of other regions. What a rank computes before its first call belongs to the function of that
/// call.
fn function_path(path: &str) -> Option<String> {
    let path = without_loops(path);
    let last = separators(&path).last().map_or(0, |at| at + 1);
    let (function, calls) = path[last..].split_once(" (")?;
    let function = function.strip_prefix(BEFORE_FIRST_CALL).unwrap_or(function);
    let is_code = calls.ends_with(')') && !function.is_empty();
    let outer = path[..last].strip_suffix(&format!("/{function}/")).map(|before| format!("{before}/"));
    is_code.then(|| outer.unwrap_or_else(|| path[..last].to_owned()) + function)
}

/// Returns the function in which ranks spend most of their computation in a region, by samples; `None` if samples do not show one.
fn main_function(runs: &[&RunMetrics], regions: &RegionList, idx: usize) -> Option<String> {
    let mut by_name: BTreeMap<&str, f64> = BTreeMap::new();
    let mut computation_s = 0.0;
    for (at, run) in runs.iter().enumerate() {
        for path in regions.paths_in(at, idx) {
            let n_ranks = run.ranks.len().max(1) as f64;
            computation_s += run.region(path).map_or(0.0, |region| region.sum_s(Activity::Computation)) / n_ranks;
            let sums = run.functions.as_ref().and_then(|functions| functions.regions.get(path));
            for (name, (seconds, _)) in sums.iter().flat_map(|sums| &sums.times) {
                *by_name.entry(name).or_default() += seconds;
            }
        }
    }
    let (name, seconds) = by_name.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    (seconds >= MIN_MAIN_FUNCTION * computation_s).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::noise::NoiseLimits;
    use crate::compare::{ComparisonSide, ComparisonSides, NamedRun, RunComparison, TimeContribution};
    use crate::run::{FunctionFigures, FunctionSums, RankFigures, RegionFigures};

    /// A region found in the calls: its path, its computation on each of two ranks, and the function in which that is by samples.
    type Found<'a> = (&'a str, f64, Option<&'a str>);

    fn run(found: &[Found]) -> RunMetrics {
        let mut run = RunMetrics { causes: Some(Vec::new()), ..RunMetrics::default() };
        run.ranks = (0..2).map(|rank| RankFigures { rank, ..RankFigures::default() }).collect();
        let mut functions = FunctionFigures::default();
        for &(path, seconds, function) in found {
            run.times.elapsed_s += seconds;
            let activities = BTreeMap::from([(Activity::Computation, vec![seconds; 2])]);
            let figures = RegionFigures {
                path: path.into(),
                found: true,
                activities,
                blocked_s: Some(0.0),
                ..Default::default()
            };
            run.regions.push(figures);
            if let Some(function) = function {
                let times = BTreeMap::from([(function.to_owned(), (seconds, 0.01))]);
                functions.program.add(&FunctionSums { times: times.clone(), others_s: 0.0 });
                functions.regions.insert(path.into(), FunctionSums { times, others_s: 0.0 });
            }
        }
        run.functions = Some(functions);
        run
    }

    fn reasons(base: &[&[Found]], new: &[&[Found]]) -> Vec<TimeContribution> {
        let side = |runs: &[&[Found]]| ComparisonSide {
            runs: runs.iter().map(|found| NamedRun { name: String::new(), run: run(found) }).collect(),
        };
        let comparison =
            RunComparison::new(ComparisonSides { base: side(base), new: side(new) }, NoiseLimits::default());
        let sum_s: f64 = comparison.reasons.iter().map(|part| part.total.difference()).sum();
        assert!((sum_s - comparison.elapsed.difference()).abs() < 1e-9, "{:#?}", comparison.reasons);
        comparison.reasons
    }

    /// Regions and what they add to the change, those that change.
    fn changes(reasons: &[TimeContribution]) -> Vec<(&str, f64)> {
        let changed = reasons.iter().filter(|part| part.total.difference().abs() > 1e-9);
        changed
            .map(|part| (part.region.as_deref().unwrap_or(""), (1e3 * part.total.difference()).round() / 1e3))
            .collect()
    }

    #[test]
    fn code_with_another_name_in_one_run_is_one_reason_beyond_noise() {
        // 0.65 s gained in the same code, which one of the base runs names by another call.
        let reasons = reasons(
            &[
                &[("main/loop/main (a.c:42)", 2.00, None), ("main/loop/main (a.c:42 → 45)", 0.20, None)],
                &[("main/loop/main (a.c:42 → 50)", 2.01, None), ("main/loop/main (a.c:42 → 45)", 0.21, None)],
                &[("main/loop/main (a.c:42)", 2.02, None), ("main/loop/main (a.c:42 → 45)", 0.20, None)],
            ],
            &[
                &[("main/loop/main (a.c:42)", 1.40, None), ("main/loop/main (a.c:42 → 45)", 0.15, None)],
                &[("main/loop/main (a.c:42)", 1.41, None), ("main/loop/main (a.c:42 → 45)", 0.16, None)],
                &[("main/loop/main (a.c:42)", 1.42, None), ("main/loop/main (a.c:42 → 45)", 0.15, None)],
            ],
        );
        assert_eq!(changes(&reasons), [("main/main", -0.65)]);
        assert!(reasons[0].total.beyond_noise, "{reasons:#?}");
    }

    #[test]
    fn the_same_code_between_other_calls_is_one_reason() {
        let stencil = Some("stencil_calc (app)");
        let base: &[Found] =
            &[("main/comm (c.c:236 → 78)", 0.1, stencil), ("main/loop/comm (c.c:146 → 207)", 1.0, stencil)];
        let new: &[Found] =
            &[("main/comm (c.c:236 → 78)", 1.3, stencil), ("main/loop/comm (c.c:146 → 207)", 0.1, stencil)];
        let merged = reasons(&[base], &[new]);
        assert_eq!(changes(&merged), [("main/comm", 0.3)]);
        // What one function does more and another less are two reasons.
        let other: &[Found] =
            &[("main/comm (c.c:236 → 78)", 1.3, Some("pack (app)")), ("main/loop/comm (c.c:146 → 207)", 0.1, stencil)];
        let base: &[Found] =
            &[("main/comm (c.c:236 → 78)", 0.1, Some("pack (app)")), ("main/loop/comm (c.c:146 → 207)", 1.0, stencil)];
        assert_eq!(changes(&reasons(&[base], &[other])).len(), 2);
        // In other functions samples show it.
        let base: &[Found] = &[("main/comm (c.c:5 → 9)", 1.0, stencil), ("main/drive (d.c:3)", 0.5, None)];
        let new: &[Found] = &[("main/step (s.c:7)", 1.3, stencil), ("main/drive (d.c:3)", 0.5, None)];
        assert_eq!(changes(&reasons(&[base], &[new])), [("main/stencil_calc (app)", 0.3)]);
    }

    #[test]
    fn what_no_other_region_cancels_is_a_reason_of_its_own() {
        // An excess moves from f to g, and h computes longer, all between calls of main.
        let base: &[Found] = &[
            ("main/main (a.c:1 → 2)", 1.4, None),
            ("main/main (a.c:2 → 3)", 0.6, None),
            ("main/main (a.c:3)", 0.1, None),
        ];
        let new: &[Found] = &[
            ("main/main (a.c:1 → 2)", 0.6, None),
            ("main/main (a.c:2 → 3)", 1.4, None),
            ("main/main (a.c:3)", 0.6, None),
        ];
        assert_eq!(changes(&reasons(&[base], &[new])), [("main/main (a.c:3)", 0.5)]);
        // A function is split in two, a part of it before the first call, and another one computes longer.
        let base: &[Found] = &[
            ("main/start → main (a.c:7)", 0.1, None),
            ("main/main (a.c:9 → 7)", 0.9, None),
            ("main/main (a.c:7 → 9)", 0.4, None),
        ];
        let new: &[Found] = &[
            ("main/start → main (a.c:7)", 0.06, None),
            ("main/main (a.c:9 → 5)", 0.54, None),
            ("main/main (a.c:5 → 7)", 0.4, None),
            ("main/main (a.c:7 → 9)", 0.6, None),
        ];
        assert_eq!(changes(&reasons(&[base], &[new])), [("main/main (a.c:7 → 9)", 0.2)]);
    }

    #[test]
    fn regions_that_change_alike_stay_apart() {
        let base: &[Found] = &[("main/f (a.c:1 → 2)", 1.0, None), ("main/f (a.c:2 → 1)", 1.0, None)];
        let new: &[Found] = &[("main/f (a.c:1 → 2)", 1.5, None), ("main/f (a.c:2 → 1)", 1.1, None)];
        assert_eq!(changes(&reasons(&[base], &[new])), [("main/f (a.c:1 → 2)", 0.5), ("main/f (a.c:2 → 1)", 0.1)]);
    }
}
