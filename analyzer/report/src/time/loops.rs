//! Loops detected in the calls of programs without marked iterations.

use crate::fraction_of;
use lbprof_analysis::model::code::loops::{FoundLoopOfRank, IterationCount, Loop, NoLoopReason};
use lbprof_analysis::model::{Model, RankModel, RegionIdx};
use lbprof_analysis::profile::operation_name;
use lbprof_analysis::structure::code::symbols::CodePlace;
use lbprof_collector::semantics::CompletionEffect;
use lbprof_collector::{Activity, Operation};
use lbprof_thresholds::verdict::{
    MAX_FACTOR_OF_ITERATIONS, MAX_OTHER_CALLS, MIN_COVERAGE_OF_MAIN_LOOP, MIN_EQUAL_AMOUNTS, MIN_KINDS_OF_CALLS,
    MIN_TIME_OF_INNER_LOOP,
};
use serde::Serialize;

/// The detected loops.
#[derive(Clone, Debug, Default)]
pub struct LoopTable {
    /// A row per loop, outer ones before those in them.
    pub rows: Vec<LoopRow>,
    /// Why there are none.
    pub without: NoLoopReason,
}

/// A loop, found in the calls of some ranks.
#[derive(Clone, Debug, Serialize, crate::JsonSchema)]
pub struct LoopRow {
    /// Its name, or the name of its region if it has one.
    pub name: String,
    /// Index in `loops` of the loop around it.
    pub parent: Option<usize>,
    /// True if it is the main loop of its ranks; no rank has two. Ranks that go through the same iterations with different calls are one
    /// row.
    pub main: bool,
    /// True if the user named the call that ends an iteration.
    #[serde(skip)]
    pub named: bool,
    /// True if `iterations` describes its iterations: for several main loops, the one in which most is computed; for several groups that go through
    /// the same iterations, all loops with one name.
    pub in_report: bool,
    /// Number of ranks that go through the loop.
    pub rank_count: usize,
    /// The ranks, ascending; the first 1,000 unless `--full` is given.
    pub ranks: Vec<u32>,
    /// The call that ends an iteration; the first of several, or the call of most ranks if they make different ones.
    pub ends_at: Option<EndOfIteration>,
    /// Fewest iterations of a rank in the selected time, those that its ends cut included: of the main loop counted in all calls, of others
    /// estimated from `for_each_main`.
    pub iterations_min: f64,
    /// Largest number of iterations of a rank, likewise.
    pub iterations_max: f64,
    /// The smallest number of iterations that is possible, by all signs of another one: `iterations_min` where the number is certain; null if
    /// it is no main loop.
    pub possible_min: Option<f64>,
    /// The largest, likewise.
    pub possible_max: Option<f64>,
    /// Iterations for each one of the main loop, the mean in the calls that were searched.
    pub for_each_main: f64,
    /// Fewest iterations in one of the loop around it, in the calls that were searched; null if no loop is around it.
    pub in_parent_min: Option<u32>,
    /// Most of them; null likewise.
    pub in_parent_max: Option<u32>,
    /// Share of its ranks' selected time that it covers, 0 to 1; of other loops than the main one an estimate.
    pub covered: f64,
    /// Share of the iterations that have the same kinds of calls as most have; null if it is no main loop.
    pub alike: Option<f64>,
    /// Confidence in the loop; null if it is no main loop.
    pub confidence: Option<LoopConfidence>,
    /// The most serious reason to suspect another loop than the one found; null if there is none, and where it is no main loop. Where the
    /// user named the call that ends an iteration, only `period`.
    pub doubt: Option<LoopDoubt>,
}

/// The call that ends an iteration.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct EndOfIteration {
    /// Its operation.
    pub operation: String,
    /// Location of the call.
    #[serde(flatten)]
    pub place: CodePlace,
    /// True if an uninterrupted run of such calls ends only one iteration.
    pub run: bool,
}

/// The confidence in a detected loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, crate::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LoopConfidence {
    /// Their number is certain and the same on all ranks, at least ten, four fifths of them are alike, they cover half of the time, and
    /// nothing speaks for another loop; or the user named the call that ends an iteration.
    Sure,
    /// Ranks differ by a fiftieth at most, half of the iterations are alike, and they cover half of the time.
    Likely,
    /// Neither of these.
    Unsure,
}

impl LoopConfidence {
    /// Returns the word in reports.
    pub fn name(self) -> &'static str {
        match self {
            LoopConfidence::Sure => "sure",
            LoopConfidence::Likely => "likely",
            LoopConfidence::Unsure => "unsure",
        }
    }

    /// Judges a loop by the range of iteration counts, the fraction of similar iterations, and the fraction of time covered.
    fn judge(range: (f64, f64), alike: f64, covered: f64) -> LoopConfidence {
        let (fewest, most) = range;
        if fewest == most && most >= 10.0 && alike >= 0.8 && covered >= MIN_COVERAGE_OF_MAIN_LOOP {
            LoopConfidence::Sure
        } else if fewest >= 0.98 * most && most >= 3.0 && alike >= 0.5 && covered >= MIN_COVERAGE_OF_MAIN_LOOP {
            LoopConfidence::Likely
        } else {
            LoopConfidence::Unsure
        }
    }
}

/// A reason to suspect that another loop than the detected one iterates, or that it has another number of iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, crate::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoopDoubt {
    /// Several of its iterations may be one of the program's, or one of them several: it may be a function that the program calls in several
    /// places, or the code has another loop beside it that no call shows, or the call that the user named comes several times in each.
    Period,
    /// Ranks that exchange messages with these in the loop, or make some of its calls, have another number of iterations.
    Ranks,
    /// Its iterations are events: a rank handles messages as they come, which may be another number in another run.
    Events,
    /// The first or the last may be no iteration, or calls before or after them may be one.
    Ends,
}

/// Ratio of iteration counts of ranks that loop as messages arrive, without meeting. From 2 on, some may end iterations that are several of the others.
const FREE: std::ops::Range<f64> = 1.1..1.9;
const BYTES_OF_A_NUMBER: f64 = 8.0;

/// Returns the most serious doubt about a main loop, and the highest confidence that it allows. `found` has an entry per rank, `inner` the longest
/// inner loop and whether it takes most of the time.
fn find_doubt(
    one: &Loop,
    inner: Option<(&Loop, bool)>,
    found: &[FoundLoopOfRank],
) -> Option<(LoopDoubt, LoopConfidence)> {
    use LoopConfidence::{Likely, Unsure};
    use LoopDoubt::{Ends, Period, Ranks};
    let calls = sum_up(found, |rank| rank.carried.calls);
    if calls == 0.0 {
        return None;
    }
    let is_certain = one.count == IterationCount::default();
    // A step needs a varying number of calls that complete some of the requests.
    let ends_as_requests_complete =
        one.anchor.first().is_some_and(|&(_, end)| Operation::completes(end) == CompletionEffect::Some);
    let must_carry_alike = !one.is_unique || ends_as_requests_complete;
    let n_alike = sum_up(found, |rank| rank.carried.alike.into());
    let n_iterations = sum_up(found, |rank| rank.iterations.into());
    // Calls with a known path, or in main, have a single caller.
    let has_few_kinds = !is_certain && !one.is_unique && one.kinds() < MIN_KINDS_OF_CALLS;
    let is_mostly_inner = inner.is_some_and(|(_, is_most)| is_most);
    let has_silent_loop = one.has_silent_loop_around || inner.is_some_and(|(inner, _)| inner.has_silent_loop_around);
    // A program may skip calls on ranks with nothing to send.
    let carries_little = !one.is_in_main && sum_up(found, |rank| rank.carried.bytes) <= BYTES_OF_A_NUMBER * calls;
    let signs = [
        (one.is_interpreted || one.is_split, Period, Unsure),
        (must_carry_alike && n_alike < MIN_EQUAL_AMOUNTS * n_iterations, Period, Unsure),
        (MAX_OTHER_CALLS * calls <= sum_up(found, |rank| rank.carried.foreign), Period, Unsure),
        (one.by_rhythm && inner.is_some(), Period, Unsure),
        (one.others.is_some(), Ranks, Likely),
        (has_few_kinds, Period, if is_mostly_inner { Unsure } else { Likely }),
        (has_silent_loop || carries_little, Period, Likely),
        (!is_certain, Ends, Likely),
    ];
    signs.into_iter().find(|(holds, ..)| *holds).map(|(_, doubt, at_most)| (doubt, at_most))
}

fn sum_up(found: &[FoundLoopOfRank], value: fn(&FoundLoopOfRank) -> u64) -> f64 {
    found.iter().map(value).sum::<u64>() as f64
}

impl LoopTable {
    pub(crate) fn new(model: &Model, places: &[CodePlace]) -> LoopTable {
        let mut rows: Vec<LoopRow> = model.loops.iter().map(|one| loop_row(model, places, one)).collect();
        let most_of: Vec<f64> = model.loops.iter().map(|one| most_iterations(model, one)).collect();
        for (at, row) in rows.iter_mut().enumerate().filter(|(at, row)| row.main && !model.loops[*at].named) {
            let more = model.loops.iter().zip(&most_of).find(|(other, most)| {
                other.main
                    && MAX_FACTOR_OF_ITERATIONS * most_of[at] < **most
                    && other.has_common_kinds(&model.loops[at])
            });
            if let (Some((_, &most)), None | Some(LoopDoubt::Ends)) = (more, row.doubt) {
                (row.doubt, row.confidence) =
                    (Some(LoopDoubt::Ranks), row.confidence.max(Some(LoopConfidence::Likely)));
                row.possible_max = row.possible_max.map(|known| known.max(most));
            }
        }
        let events = event_loops(model, &most_of);
        for (row, _) in rows.iter_mut().zip(events).filter(|(_, is_event)| *is_event) {
            (row.doubt, row.confidence) = (Some(LoopDoubt::Events), Some(LoopConfidence::Unsure));
        }
        let mut rows = join_rows(rows);
        for row in rows.iter_mut() {
            row.rank_count = row.ranks.len();
        }
        let without = if model.loops.is_empty() { model.without_loop } else { NoLoopReason::Nothing };
        LoopTable { rows, without }
    }

    /// Returns whether the iterations of `ranks` (ascending) are reliable: marked, or from loops that are not unsure. If the report is about the
    /// iterations of some of these loops, only those count.
    pub(crate) fn are_sure_of(&self, ranks: &[u32]) -> bool {
        let mains = self.rows.iter().filter(|row| row.main);
        let loops: Vec<&LoopRow> =
            mains.filter(|row| row.ranks.iter().any(|rank| ranks.binary_search(rank).is_ok())).collect();
        let has_reported = loops.iter().any(|row| row.in_report);
        !loops
            .iter()
            .filter(|row| row.in_report || !has_reported)
            .any(|row| row.confidence == Some(LoopConfidence::Unsure))
    }
}

fn loop_row(model: &Model, places: &[CodePlace], one: &Loop) -> LoopRow {
    let ranks: Vec<&RankModel> =
        model.ranks.iter().filter(|rank| rank.found.is_some() && one.ranks.binary_search(&rank.rank).is_ok()).collect();
    let region = main_region(model, &ranks);
    let selected = &model.facts.selected;
    let is_window = selected.from.is_some() || selected.to.is_some();
    let (fewest, most) = match is_window {
        true => iteration_range(&ranks, |rank| {
            region.and_then(|idx| rank.series(idx)).map_or(0, |series| series.iterations() as u32)
        }),
        false => iteration_range(&ranks, in_run),
    };
    let found: Vec<FoundLoopOfRank> =
        ranks.iter().filter_map(|rank| rank.found).filter(|found| found.iterations > 0).collect();
    let alike = found.iter().map(|found| f64::from(found.alike) / f64::from(found.iterations));
    let alike = alike.sum::<f64>() / found.len().max(1) as f64;
    let in_loop = ranks.iter().map(|rank| region.map_or(0.0, |region| rank.inclusive(region).iter().sum::<f64>()));
    let whole_s = ranks.iter().map(|rank| rank.end_s - rank.begin_s).sum();
    let covered = fraction_of(in_loop.sum::<f64>() * one.share_of_main, whole_s).min(1.0);
    let ends_at = one.anchor.first().map(|&(site, operation)| {
        let place = site.and_then(|site| places.get(site as usize)).cloned().unwrap_or_default();
        EndOfIteration { operation: operation_name(operation), place, run: one.anchors.run }
    });
    let in_all = iteration_range(&ranks, in_run);
    let inner = longest_inner(model, one);
    let times = one.detected.and_then(|detected| calls_in_iteration(in_all.1, f64::from(detected)));
    let possible = possible_range(one, inner, times, in_all);
    let by_figures = if one.named { LoopConfidence::Sure } else { LoopConfidence::judge(in_all, alike, covered) };
    let doubt = match (one.named, one.main) {
        (true, _) => times.map(|_| (LoopDoubt::Period, LoopConfidence::Sure)),
        (false, true) => {
            let inner = inner.map(|inner| (inner, is_most_of(model, &ranks, region, inner)));
            find_doubt(one, inner, &found)
        }
        (false, false) => None,
    };
    let confidence = doubt.map_or(by_figures, |(_, at_most)| by_figures.max(at_most));
    LoopRow {
        name: one.name.clone(),
        parent: one.parent,
        main: one.main,
        named: one.named,
        in_report: one.main && region.is_some() && region == model.main_loop(),
        rank_count: ranks.len(),
        ranks: ranks.iter().map(|rank| rank.rank).collect(),
        ends_at,
        iterations_min: fewest * one.for_each_main,
        iterations_max: most * one.for_each_main,
        possible_min: one.main.then_some(possible.0),
        possible_max: one.main.then_some(possible.1),
        for_each_main: one.for_each_main,
        in_parent_min: one.in_parent.map(|range| range.0),
        in_parent_max: one.in_parent.map(|range| range.1),
        covered,
        alike: one.main.then_some(alike),
        confidence: one.main.then_some(confidence),
        doubt: doubt.map(|(doubt, _)| doubt),
    }
}

/// Returns whether most of the time and computation of the main loop `region` is in `inner`. Ranks that only receive make no steps.
fn is_most_of(model: &Model, ranks: &[&RankModel], region: Option<RegionIdx>, inner: &Loop) -> bool {
    let within = model.regions.iter().position(|one| Some(one.parent) == region && one.found && one.name == inner.name);
    let regions = [within.map(|within| within as RegionIdx), region];
    let [inner_s, all_s] = regions.map(|at| {
        ranks.iter().map(|rank| at.map_or(0.0, |at| rank.inclusive(at)[Activity::Computation as usize])).sum::<f64>()
    });
    let is_much = within.is_none() || inner_s >= MIN_TIME_OF_INNER_LOOP * all_s;
    inner.share_of_main >= MIN_TIME_OF_INNER_LOOP && is_much
}

/// Returns the iterations of a rank's main loop over the whole run.
fn in_run(rank: &RankModel) -> u32 {
    rank.found.map_or(0, |found| found.iterations)
}

fn most_iterations(model: &Model, one: &Loop) -> f64 {
    let ranks = model.ranks.iter().filter(|rank| one.ranks.binary_search(&rank.rank).is_ok());
    ranks.map(|rank| f64::from(in_run(rank))).fold(0.0, f64::max) * one.for_each_main
}

fn iteration_range(ranks: &[&RankModel], of: impl Fn(&RankModel) -> u32) -> (f64, f64) {
    let counts: Vec<f64> = ranks.iter().map(|rank| f64::from(of(rank))).collect();
    (counts.iter().copied().reduce(f64::min).unwrap_or(0.0), counts.iter().copied().fold(0.0, f64::max))
}

/// Marks the loops whose iterations are events: ranks make the same calls with different iteration counts, and either another rank has as many
/// iterations as all of them together, or they have no collectives. `most_of` has the maximum iterations per rank of each loop.
fn event_loops(model: &Model, most_of: &[f64]) -> Vec<bool> {
    let mut are_events = vec![false; model.loops.len()];
    let found: Vec<usize> =
        (0..model.loops.len()).filter(|&at| model.loops[at].main && !model.loops[at].named).collect();
    for &first in &found {
        let (alike, others): (Vec<usize>, Vec<usize>) =
            found.iter().partition(|&&at| at == first || model.loops[at].has_common_kinds(&model.loops[first]));
        let fewest = alike.iter().map(|&at| most_of[at]).fold(f64::MAX, f64::min);
        let differ = alike.iter().any(|&at| MAX_FACTOR_OF_ITERATIONS * fewest < most_of[at]);
        let all: f64 = alike.iter().map(|&at| most_of[at] * model.loops[at].ranks.len() as f64).sum();
        let handling: Vec<usize> = others
            .into_iter()
            .filter(|&at| (most_of[at] - all).abs() <= MAX_FACTOR_OF_ITERATIONS * all - all)
            .collect();
        let most = alike.iter().map(|&at| most_of[at]).fold(0.0, f64::max);
        let never_meet =
            FREE.contains(&(most / fewest.max(1.0))) && alike.iter().all(|&at| !model.loops[at].has_collectives);
        if differ && !handling.is_empty() || never_meet {
            for &at in alike.iter().chain(&handling) {
                are_events[at] = true;
            }
        }
    }
    are_events
}

fn longest_inner<'a>(model: &'a Model, one: &Loop) -> Option<&'a Loop> {
    let inner =
        model.loops.iter().filter(|other| !other.main && other.ranks == one.ranks && other.for_each_main >= 1.5);
    inner.max_by(|a, b| a.share_of_main.total_cmp(&b.share_of_main))
}

/// Returns the range of possible iteration counts of a main loop: `counted`, extended by those of `inner` and of other ranks, or divided by `times` if
/// the call that the user named occurs several times per iteration.
fn possible_range(one: &Loop, inner: Option<&Loop>, times: Option<f64>, counted: (f64, f64)) -> (f64, f64) {
    let fewest = (counted.0 - f64::from(one.count.fewer)).min(counted.1 / times.unwrap_or(1.0));
    let inner = inner.filter(|inner| one.by_rhythm || inner.has_silent_loop_around);
    let most = (counted.1 + f64::from(one.count.more)) * inner.map_or(1.0, |inner| inner.for_each_main.round());
    let others = one.others.map(f64::from);
    (fewest.min(others.unwrap_or(f64::MAX)), most.max(others.unwrap_or(0.0)))
}

/// Returns how many times per detected iteration the call that the user named occurs, if more than once.
fn calls_in_iteration(named: f64, detected: f64) -> Option<f64> {
    let times = (named / detected.max(1.0)).round();
    // There may be extra calls before and after the loop.
    let is_multiple = (named - times * detected).abs() <= (0.02 * named).max(times);
    (detected > 0.0 && times >= 2.0 && is_multiple).then_some(times)
}

/// Joins the rows of a loop that ranks execute with different calls. The row keeps the end of most ranks, and the doubt of the least certain row.
fn join_rows(rows: Vec<LoopRow>) -> Vec<LoopRow> {
    let mut joined: Vec<LoopRow> = Vec::new();
    let mut places: Vec<usize> = Vec::new();
    for row in rows {
        let parent = row.parent.and_then(|parent| places.get(parent).copied());
        let row = LoopRow { parent, ..row };
        let place = joined.iter().position(|known| known.is_one_with(&row));
        match place.and_then(|at| joined.get_mut(at)) {
            Some(known) => known.join(row),
            None => joined.push(row),
        }
        places.push(place.unwrap_or(joined.len() - 1));
    }
    joined
}

impl LoopRow {
    fn is_one_with(&self, other: &LoopRow) -> bool {
        let is_alike = match self.main {
            true => self.name == other.name,
            false => self.parent == other.parent && self.ends_at == other.ends_at,
        };
        is_alike && self.main == other.main && self.ranks != other.ranks
    }

    /// Merges the row of the same loop on other ranks. Shares are weighted by rank counts.
    fn join(&mut self, other: LoopRow) {
        let (own, others) = (self.ranks.len() as f64, other.ranks.len() as f64);
        let all = (own + others).max(1.0);
        self.covered = (own * self.covered + others * other.covered) / all;
        self.alike = self.alike.zip(other.alike).map(|(one, other)| (own * one + others * other) / all);
        self.iterations_min = self.iterations_min.min(other.iterations_min);
        self.iterations_max = self.iterations_max.max(other.iterations_max);
        self.possible_min = self.possible_min.zip(other.possible_min).map(|(one, other)| one.min(other));
        self.possible_max = self.possible_max.zip(other.possible_max).map(|(one, other)| one.max(other));
        self.in_report |= other.in_report;
        let range = (self.iterations_min, self.iterations_max);
        if range.0 < range.1 && self.main {
            self.confidence = self.confidence.max(Some(LoopConfidence::judge(range, 1.0, 1.0)));
        }
        if self.confidence < other.confidence || self.doubt.is_none() {
            self.doubt = other.doubt.or(self.doubt);
        }
        self.confidence = self.confidence.max(other.confidence);
        if others > own {
            self.ends_at = other.ends_at;
        }
        self.ranks.extend(other.ranks);
        self.ranks.sort_unstable();
    }
}

fn main_region(model: &Model, ranks: &[&RankModel]) -> Option<RegionIdx> {
    let main = model.loops.get(ranks.first()?.found?.at)?;
    let at = model
        .regions
        .iter()
        .position(|region| region.found && region.iterated && region.parent == 0 && region.name == main.name)?;
    Some(at as RegionIdx)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lbprof_analysis::model::code::loops::{CarriedCalls, TokenClass};

    #[test]
    fn a_loop_is_sure_where_ranks_agree_and_iterations_are_alike() {
        assert_eq!(LoopConfidence::judge((500.0, 500.0), 0.95, 0.9), LoopConfidence::Sure);
        assert_eq!(LoopConfidence::judge((500.0, 500.0), 0.95, 0.3), LoopConfidence::Unsure, "it may be no main loop");
        assert_eq!(LoopConfidence::judge((4.0, 4.0), 1.0, 0.9), LoopConfidence::Likely);
        assert_eq!(LoopConfidence::judge((99.0, 100.0), 0.6, 0.9), LoopConfidence::Likely);
        assert_eq!(LoopConfidence::judge((90.0, 100.0), 1.0, 0.9), LoopConfidence::Unsure);
        assert_eq!(LoopConfidence::judge((500.0, 500.0), 0.3, 0.9), LoopConfidence::Unsure);
    }

    /// The doubt about a loop of 100 iterations on each of two ranks, whose calls carry 5 kB, and the confidence that it leaves.
    fn doubt(one: Loop, inner: Option<Loop>, carried: CarriedCalls) -> Option<(LoopDoubt, LoopConfidence)> {
        let found = FoundLoopOfRank { at: 0, iterations: 100, alike: 100, carried };
        let inner = inner.as_ref().map(|inner| (inner, inner.share_of_main >= MIN_TIME_OF_INNER_LOOP));
        find_doubt(&one, inner, &[found; 2])
    }

    /// A loop of these kinds of calls, whose number of iterations is certain or not.
    fn found_loop(kinds: usize, is_certain: bool) -> Loop {
        let count = IterationCount { fewer: u32::from(!is_certain), more: 0 };
        Loop { count, classes: vec![TokenClass::Inside; kinds], ..Loop::default() }
    }

    const EVEN: CarriedCalls = CarriedCalls { alike: 95, calls: 1000, foreign: 10, bytes: 50_000 };
    const LIKELY_PERIOD: Option<(LoopDoubt, LoopConfidence)> = Some((LoopDoubt::Period, LoopConfidence::Likely));
    const UNSURE_PERIOD: Option<(LoopDoubt, LoopConfidence)> = Some((LoopDoubt::Period, LoopConfidence::Unsure));
    const ENDS: Option<(LoopDoubt, LoopConfidence)> = Some((LoopDoubt::Ends, LoopConfidence::Likely));

    #[test]
    fn what_iterations_carry_and_which_calls_they_have_may_speak_for_another_loop() {
        assert_eq!(doubt(found_loop(12, false), None, EVEN), ENDS);
        assert_eq!(doubt(found_loop(12, false), None, CarriedCalls { alike: 89, ..EVEN }), UNSURE_PERIOD);
        assert_eq!(doubt(found_loop(12, false), None, CarriedCalls { foreign: 200, ..EVEN }), UNSURE_PERIOD);
        assert_eq!(doubt(found_loop(3, false), None, EVEN), LIKELY_PERIOD);
        assert_eq!(doubt(found_loop(12, false), None, CarriedCalls { bytes: 8_000, ..EVEN }), LIKELY_PERIOD);
        let interpreted = Loop { is_interpreted: true, ..found_loop(12, true) };
        assert_eq!(doubt(interpreted, None, EVEN), UNSURE_PERIOD);
        let split = Loop { is_split: true, ..found_loop(12, true) };
        assert_eq!(doubt(split, None, EVEN), UNSURE_PERIOD);
        assert_eq!(doubt(found_loop(12, false), None, CarriedCalls::default()), None, "no calls");
        let mostly_inner = Loop { share_of_main: 0.5, ..Loop::default() };
        assert_eq!(doubt(found_loop(3, false), Some(mostly_inner), EVEN), UNSURE_PERIOD);
    }

    #[test]
    fn a_call_in_main_is_in_no_function_that_is_called_from_many_places() {
        let silent = CarriedCalls { alike: 100, calls: 200, foreign: 0, bytes: 0 };
        let certain = Loop { is_in_main: true, ..found_loop(2, true) };
        assert_eq!(doubt(certain.clone(), None, silent), None);
        let by_rhythm = Loop { by_rhythm: true, others: Some(80), ..certain };
        assert_eq!(doubt(by_rhythm.clone(), Some(Loop::default()), silent), UNSURE_PERIOD);
        assert_eq!(doubt(by_rhythm, None, silent), Some((LoopDoubt::Ranks, LoopConfidence::Likely)));
    }

    #[test]
    fn loops_of_the_code_that_no_call_shows_are_a_doubt() {
        let certain = Loop { is_unique: true, ..found_loop(3, true) };
        let silent = Loop { has_silent_loop_around: true, ..Loop::default() };
        assert_eq!(doubt(certain.clone(), Some(Loop::default()), EVEN), None);
        assert_eq!(doubt(certain.clone(), Some(silent), EVEN), LIKELY_PERIOD);
        assert_eq!(doubt(Loop { has_silent_loop_around: true, ..certain }, None, EVEN), LIKELY_PERIOD);
    }

    #[test]
    fn unlike_iterations_that_end_as_requests_complete_may_be_parts_of_one() {
        // MPI_Waitsome twice in each of 50 steps, in a function that is called from one place: only one of both follows the work.
        let unlike = CarriedCalls { alike: 50, ..EVEN };
        let unique = Loop { is_unique: true, ..found_loop(5, false) };
        assert_eq!(doubt(unique.clone(), None, unlike), ENDS);
        let by_requests = Loop { anchor: vec![(None, Operation::Waitsome as u16)], ..unique };
        assert_eq!(doubt(by_requests, None, unlike), UNSURE_PERIOD);
    }

    #[test]
    fn signs_of_another_loop_widen_the_range_of_iterations() {
        let inner = Loop { for_each_main: 5.0, ..Loop::default() };
        let silent = Loop { has_silent_loop_around: true, ..inner.clone() };
        let few = Loop { others: Some(10), ..Loop::default() };
        let many = Loop { others: Some(40), ..Loop::default() };
        let rhythm = Loop { by_rhythm: true, ..Loop::default() };
        for (one, inner, times, range) in [
            (found_loop(3, true), &inner, None, (12.0, 12.0)),
            (found_loop(3, false), &inner, None, (11.0, 12.0)),
            (few, &inner, None, (10.0, 12.0)),
            (many, &inner, None, (12.0, 40.0)),
            (rhythm, &inner, None, (12.0, 60.0)),
            (Loop::default(), &silent, None, (12.0, 60.0)),
            (Loop::default(), &inner, Some(3.0), (4.0, 12.0)),
        ] {
            assert_eq!(possible_range(&one, Some(inner), times, (12.0, 12.0)), range, "{one:?}");
        }
    }

    #[test]
    fn a_named_call_may_come_several_times_in_each_iteration() {
        assert_eq!(calls_in_iteration(72.0, 24.0), Some(3.0));
        assert_eq!(calls_in_iteration(75.0, 24.0), Some(3.0), "three before the loop");
        assert_eq!(calls_in_iteration(84.0, 24.0), None);
        assert_eq!(calls_in_iteration(24.0, 24.0), None);
        assert_eq!(calls_in_iteration(24.0, 0.0), None);
    }
}
