//! The loops found in the calls of a program without marked iterations: how, how many iterations, how sure.

use std::borrow::Cow;

use super::bounds::{ListBounds, truncate};
use super::serial;
use lbprof_analysis::model::loops::CarriedCalls;
use lbprof_analysis::model::loops::FoundLoopOfRank;
use lbprof_analysis::model::loops::{IterationCount, Loop, NoLoopReason};
use lbprof_analysis::model::{Model, RankModel, RegionIdx};
use lbprof_analysis::profile::operation_name;
use lbprof_analysis::structure::symbols::CodePlace;
use lbprof_collector::Operation;
use lbprof_collector::semantics::CompletionEffect;
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
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoopRow {
    /// Its name; that of its region, where it has one.
    pub name: String,
    /// Index in `loops` of the loop around it.
    pub parent: Option<usize>,
    /// True if it is the main loop of its ranks; no rank has two. Ranks that go through the same iterations with different calls are one
    /// row.
    pub main: bool,
    /// True if the user named the call that ends an iteration.
    #[serde(skip)]
    pub named: bool,
    /// True if its iterations are those of `iterations`: of the main loops those in which most is computed; of several groups where they go
    /// through the same iterations, all with one name.
    pub in_report: bool,
    /// Number of ranks that go through the loop.
    pub rank_count: usize,
    /// The ranks, ascending; the first 1,000 unless `--full` is given.
    pub ranks: Vec<u32>,
    /// The call that ends an iteration; the first of several; if ranks make different calls, that of most of them.
    pub ends_at: Option<EndOfIteration>,
    /// Fewest and most iterations of a rank, counted in all its calls in the selected time, those that its ends cut included; of
    /// other loops than the main one estimated, from how many come in one of its iterations.
    #[serde(flatten, serialize_with = "serial::written_as::<_, CountedRange, _>")]
    #[cfg_attr(feature = "schema", schemars(with = "CountedRange"))]
    pub iterations: (f64, f64),
    /// The range in which their number lies, by all that speaks for another one; of the main loop alone.
    #[serde(flatten, serialize_with = "serial::written_as::<_, PossibleRange, _>")]
    #[cfg_attr(feature = "schema", schemars(with = "PossibleRange"))]
    pub possible: Option<(f64, f64)>,
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
    /// user named the call that ends an iteration, only `comes_often`.
    #[serde(serialize_with = "serial::known_as::<_, DoubtName, _>")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<DoubtName>"))]
    pub doubt: Option<LoopDoubt>,
}

/// Iterations as they are written.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct CountedRange {
    /// Fewest iterations of a rank in the selected time, those that its ends cut included: of the main loop counted in all calls, of others
    /// estimated from `for_each_main`.
    iterations_min: f64,
    /// Largest number of iterations of a rank, likewise.
    iterations_max: f64,
}

impl From<&(f64, f64)> for CountedRange {
    fn from(range: &(f64, f64)) -> CountedRange {
        let &(iterations_min, iterations_max) = range;
        CountedRange { iterations_min, iterations_max }
    }
}

/// The range in which the number of iterations lies, as it is written.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct PossibleRange {
    /// The smallest number of iterations that `doubt` leaves possible: `iterations_min` where the number is certain; null if it is no main loop.
    possible_min: Option<f64>,
    /// The largest, likewise.
    possible_max: Option<f64>,
}

impl From<&Option<(f64, f64)>> for PossibleRange {
    fn from(range: &Option<(f64, f64)>) -> PossibleRange {
        PossibleRange { possible_min: range.map(|range| range.0), possible_max: range.map(|range| range.1) }
    }
}

/// The call that ends an iteration.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            LoopConfidence::Sure => "sure",
            LoopConfidence::Likely => "likely",
            LoopConfidence::Unsure => "unsure",
        }
    }

    /// Judges a loop by the range of the ranks' numbers of iterations, the fraction of them that is alike, and the fraction of the time that they cover.
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

/// A sign that another loop than the detected one iterates, however regular that is (it may be a function of the program through which it
/// communicates, or iterations may be missing), or that it has another number of iterations.
#[derive(Clone, Debug, PartialEq)]
pub enum LoopDoubt {
    /// A tenth of the iterations or more carry less than half or more than twice the bytes of the middle one.
    Amounts,
    /// A fifth of the calls in the iterations or more are not the loop's.
    OtherCalls,
    /// So many kinds of calls, which are few; and whether most of its time is in a loop within it, whose iterations may be the program's.
    FewKinds(usize, bool),
    /// Ranks outside of this loop's group that make its calls have more iterations, so many.
    OtherRanks(u32),
    /// Partners of these ranks' messages in the loop have another number of iterations.
    Partners(u32),
    /// The code has another loop between this one and the loop in it, which may go around without the call that ends an iteration. The loop in it has so
    /// many iterations in each.
    LoopBetween(u32),
    /// The code has another loop around this one, and may get from an iteration to the next by it without another call.
    LoopAround,
    /// A call carries eight bytes or less, on average: where a rank has nothing to send, a program may leave calls out.
    LittleCarried,
    /// Call sites are those of an interpreter's module, whichever line of a script calls.
    Interpreter,
    /// Calls outside of the inner loop recur in each iteration, but may as well recur in every n-th of these.
    Rhythm(u32),
    /// The first or the last may be none, or parts of the body before or after them may be one.
    Ends,
    /// Ranks go around as often as others have messages for them: each handles what comes next, which may be another number in another run.
    Events,
    /// The call that the user named comes so often in each iteration of the loop that is found, which ends with this call.
    ComesOften(u32, (String, CodePlace)),
}

/// The names of doubts about a loop.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum DoubtName {
    /// A tenth of the iterations or more carry less than half or more than twice the bytes of the middle one.
    Amounts,
    /// A fifth of the calls in them or more are not the loop's.
    OtherCalls,
    /// Fewer than four kinds of calls.
    FewKinds,
    /// Ranks outside of this loop's group that make some of its calls have more iterations.
    OtherRanks,
    /// Ranks that these exchange messages with in the loop have another number of iterations, and are at least as many.
    Partners,
    /// The code has another loop between this one and the loop in it, which may go around without the call that ends an iteration.
    LoopBetween,
    /// The code has another loop around this one, and no call shows how often that goes around.
    LoopAround,
    /// A call carries eight bytes or less, on average.
    LittleCarried,
    /// Call sites are those of a module for scripts.
    Interpreter,
    /// Calls outside of the inner loop recur in each iteration, but may as well recur in every n-th of these.
    Rhythm,
    /// The first or the last may be no iteration, or calls before or after them may be one.
    Ends,
    /// Its iterations are events: a rank handles messages of others, which go around in different numbers with the same calls, and goes around as often as
    /// all of them do.
    Events,
    /// The call that the user named comes several times in each iteration of the loop that the calls show.
    ComesOften,
}

impl From<&LoopDoubt> for DoubtName {
    fn from(doubt: &LoopDoubt) -> DoubtName {
        match doubt {
            LoopDoubt::Amounts => DoubtName::Amounts,
            LoopDoubt::OtherCalls => DoubtName::OtherCalls,
            LoopDoubt::FewKinds(..) => DoubtName::FewKinds,
            LoopDoubt::OtherRanks(_) => DoubtName::OtherRanks,
            LoopDoubt::Partners(_) => DoubtName::Partners,
            LoopDoubt::LoopBetween(_) => DoubtName::LoopBetween,
            LoopDoubt::LoopAround => DoubtName::LoopAround,
            LoopDoubt::LittleCarried => DoubtName::LittleCarried,
            LoopDoubt::Interpreter => DoubtName::Interpreter,
            LoopDoubt::Rhythm(_) => DoubtName::Rhythm,
            LoopDoubt::Ends => DoubtName::Ends,
            LoopDoubt::Events => DoubtName::Events,
            LoopDoubt::ComesOften(..) => DoubtName::ComesOften,
        }
    }
}

/// Ranks that differ by a factor in this range, and meet nowhere in their loops, go around as messages come. From twice as often on, some may end
/// iterations that are several of the others.
const FREE: std::ops::Range<f64> = 1.1..1.9;
/// Bytes of a number, as of elements to come.
const BYTES_OF_A_NUMBER: f64 = 8.0;
/// Parts of the paths of modules that call MPI for scripts.
const INTERPRETERS: [&str; 4] = ["mpi4py", "MPI.cpython", "MPI.abi3", "Rmpi"];

impl LoopDoubt {
    /// The highest confidence that the doubt allows.
    fn at_most(&self) -> LoopConfidence {
        match self {
            LoopDoubt::Amounts
            | LoopDoubt::OtherCalls
            | LoopDoubt::Events
            | LoopDoubt::Rhythm(_)
            | LoopDoubt::FewKinds(_, true) => LoopConfidence::Unsure,
            _ => LoopConfidence::Likely,
        }
    }

    /// Widens the range of possible iterations by the numbers that the doubt suggests.
    fn widened(&self, range: (f64, f64)) -> (f64, f64) {
        let (fewest, most) = (range.0.min(range.1), range.1);
        match self {
            LoopDoubt::OtherRanks(other) | LoopDoubt::Partners(other) => {
                (fewest.min(f64::from(*other)), most.max(f64::from(*other)))
            }
            LoopDoubt::Rhythm(times) | LoopDoubt::LoopBetween(times) => (fewest, most * f64::from(*times)),
            _ => (fewest, most),
        }
    }

    /// Lists the doubts about a loop, the gravest first. `carried` and `iterations` have an entry per rank.
    fn find_all(carried: &[CarriedCalls], iterations: &[u32], facts: &LoopFacts) -> Vec<LoopDoubt> {
        let (mut calls, mut foreign, mut bytes, mut alike) = (0, 0, 0, 0);
        for rank in carried {
            calls += rank.calls;
            foreign += rank.foreign;
            bytes += rank.bytes;
            alike += u64::from(rank.alike);
        }
        if calls == 0 {
            return Vec::new();
        }
        let calls = calls as f64;
        let n_iterations: f64 = iterations.iter().copied().map(f64::from).sum();
        let is_interpreted = facts.module.is_some_and(|module| INTERPRETERS.iter().any(|part| module.contains(part)));
        // A call whose path is known, or one in main, is called from one place.
        let is_of_function = !facts.is_certain && !facts.is_unique;
        let must_be_alike = !facts.is_unique || facts.ends_as_requests_complete;
        let doubts = [
            (must_be_alike && (alike as f64) < MIN_EQUAL_AMOUNTS * n_iterations).then_some(LoopDoubt::Amounts),
            (MAX_OTHER_CALLS * calls <= foreign as f64).then_some(LoopDoubt::OtherCalls),
            is_interpreted.then_some(LoopDoubt::Interpreter),
            facts.rhythm.map(LoopDoubt::Rhythm),
            facts.partners.map(LoopDoubt::Partners),
            (is_of_function && facts.kinds < MIN_KINDS_OF_CALLS)
                .then_some(LoopDoubt::FewKinds(facts.kinds, facts.is_mostly_inner)),
            facts.loop_between.map(LoopDoubt::LoopBetween),
            facts.has_loop_around.then_some(LoopDoubt::LoopAround),
            (!facts.is_in_main && bytes as f64 <= BYTES_OF_A_NUMBER * calls).then_some(LoopDoubt::LittleCarried),
            (!facts.is_certain).then_some(LoopDoubt::Ends),
        ];
        doubts.into_iter().flatten().collect()
    }
}

/// Facts about a loop, besides the calls in it.
#[derive(Debug, Default)]
struct LoopFacts<'a> {
    /// Kinds of its calls.
    kinds: usize,
    /// Module of the call that ends an iteration.
    module: Option<&'a str>,
    /// Iterations of other ranks that its ranks deal with.
    partners: Option<u32>,
    /// Iterations of the loop in it for each of its own, where only their rhythm makes it one.
    rhythm: Option<u32>,
    /// Iterations of the loop in it for each of its own, where the code has another loop between both whose iterations no call shows.
    loop_between: Option<u32>,
    /// True if the code has another loop around it whose iterations no call shows.
    has_loop_around: bool,
    /// True if most of its time is in a loop within it.
    is_mostly_inner: bool,
    /// True if the number of its iterations is certain.
    is_certain: bool,
    /// True if the paths of its calls show that no other code of the program makes them.
    is_unique: bool,
    /// True if one of them is in `main`.
    is_in_main: bool,
    /// True if an iteration ends with a call that completes whichever requests are complete: a step makes as many of them as it takes until all are.
    ends_as_requests_complete: bool,
}

impl LoopTable {
    /// Makes the table of the loops of `model`, whose call sites are at `places`.
    pub(super) fn new(model: &Model, places: &[CodePlace]) -> LoopTable {
        let mut rows: Vec<LoopRow> = model.loops.iter().map(|one| row(model, places, one)).collect();
        let most_of: Vec<f64> = model.loops.iter().map(|one| most_iterations(model, one)).collect();
        for (at, row) in rows.iter_mut().enumerate().filter(|(at, row)| row.main && !model.loops[*at].named) {
            let others = model.loops.iter().zip(&most_of).filter(|(other, _)| other.main);
            let others = others.filter(|(_, most)| MAX_FACTOR_OF_ITERATIONS * most_of[at] < **most);
            let mut others = others.filter(|(other, _)| other.has_common_kinds(&model.loops[at]));
            if let Some((_, most)) = others.next() {
                row.doubt_it(LoopDoubt::OtherRanks(*most as u32));
            }
        }
        let events = event_loops(model, &most_of);
        for (row, _) in rows.iter_mut().zip(events).filter(|(_, is_event)| *is_event) {
            row.doubt_most(LoopDoubt::Events);
        }
        let mut rows = joined(rows);
        for row in rows.iter_mut() {
            row.rank_count = row.ranks.len();
        }
        let without = if model.loops.is_empty() { model.without_loop } else { NoLoopReason::Nothing };
        LoopTable { rows, without }
    }
}

impl LoopTable {
    /// Returns whether the iterations of `ranks`, ascending, are reliable: marked, or those of loops that are not unsure.
    ///
    /// If these ranks go through a loop whose iterations the report is about, only such loops count.
    pub(super) fn are_sure_of(&self, ranks: &[u32]) -> bool {
        let loops: Vec<&LoopRow> = self.rows.iter().filter(|row| row.is_main_loop_of(ranks)).collect();
        let has_reported = loops.iter().any(|row| row.in_report);
        !loops
            .iter()
            .filter(|row| row.in_report || !has_reported)
            .any(|row| row.confidence == Some(LoopConfidence::Unsure))
    }
}

fn row(model: &Model, places: &[CodePlace], one: &Loop) -> LoopRow {
    let ranks: Vec<&RankModel> =
        model.ranks.iter().filter(|rank| rank.found.is_some() && one.ranks.binary_search(&rank.rank).is_ok()).collect();
    let region = main_region(model, &ranks);
    let selected = &model.facts.selected;
    let is_window = selected.from.is_some() || selected.to.is_some();
    let (fewest, most) = match is_window {
        true => counts(&ranks, |rank| {
            region.and_then(|idx| rank.series(idx)).map_or(0, |series| series.iterations() as u32)
        }),
        false => counts(&ranks, in_run),
    };
    let found: Vec<FoundLoopOfRank> =
        ranks.iter().filter_map(|rank| rank.found).filter(|found| found.iterations > 0).collect();
    let alike: Vec<f64> = found.iter().map(|found| f64::from(found.alike) / f64::from(found.iterations)).collect();
    let alike = alike.iter().sum::<f64>() / alike.len().max(1) as f64;
    let in_loop = ranks.iter().map(|rank| region.map_or(0.0, |region| rank.inclusive(region).iter().sum::<f64>()));
    let covered = in_loop.sum::<f64>() * one.share_of_main;
    let whole = ranks.iter().map(|rank| rank.end_s - rank.begin_s).sum::<f64>();
    let covered = if whole > 0.0 { (covered / whole).min(1.0) } else { 0.0 };
    let ends_at = one.anchor.first().map(|&(site, operation)| {
        let place = site.and_then(|site| places.get(site as usize)).cloned().unwrap_or_default();
        EndOfIteration { operation: operation_name(operation), place, run: one.anchors.run }
    });
    let doubts = match (one.main, one.named) {
        (false, _) => Vec::new(),
        (true, true) => frequent_call(places, one, &ranks).into_iter().collect(),
        (true, false) => doubts(model, &found, one, ends_at.as_ref()),
    };
    let in_all = counts(&ranks, in_run);
    let confidence = match one.named {
        true => LoopConfidence::Sure,
        false => LoopConfidence::judge(in_all, alike, covered)
            .max(doubts.first().map_or(LoopConfidence::Sure, LoopDoubt::at_most)),
    };
    let counted = (in_all.0 - f64::from(one.count.fewer), in_all.1 + f64::from(one.count.more));
    LoopRow {
        name: one.name.clone(),
        parent: one.parent,
        main: one.main,
        named: one.named,
        in_report: one.main && region.is_some() && region == model.main_loop(),
        rank_count: ranks.len(),
        ranks: ranks.iter().map(|rank| rank.rank).collect(),
        ends_at,
        iterations: (fewest * one.for_each_main, most * one.for_each_main),
        possible: one.main.then(|| doubts.iter().fold(counted, |range, doubt| doubt.widened(range))),
        for_each_main: one.for_each_main,
        in_parent_min: one.in_parent.map(|range| range.0),
        in_parent_max: one.in_parent.map(|range| range.1),
        covered,
        alike: one.main.then_some(alike),
        confidence: one.main.then_some(confidence),
        doubt: doubts.into_iter().next(),
    }
}

/// Iterations of a rank's main loop in all its calls.
fn in_run(rank: &RankModel) -> u32 {
    rank.found.map_or(0, |found| found.iterations)
}

/// Iterations of a loop on the rank that has most of them.
fn most_iterations(model: &Model, one: &Loop) -> f64 {
    let ranks = model.ranks.iter().filter(|rank| one.ranks.binary_search(&rank.rank).is_ok());
    ranks.map(|rank| f64::from(in_run(rank))).fold(0.0, f64::max) * one.for_each_main
}

/// Fewest and most iterations of `ranks`.
fn counts(ranks: &[&RankModel], of: impl Fn(&RankModel) -> u32) -> (f64, f64) {
    let counts: Vec<f64> = ranks.iter().map(|rank| f64::from(of(rank))).collect();
    (counts.iter().copied().reduce(f64::min).unwrap_or(0.0), counts.iter().copied().fold(0.0, f64::max))
}

/// Lists the doubts about the loop that was `found` on each rank, the gravest first.
fn doubts(model: &Model, found: &[FoundLoopOfRank], one: &Loop, ends_at: Option<&EndOfIteration>) -> Vec<LoopDoubt> {
    let carried: Vec<CarriedCalls> = found.iter().map(|found| found.carried).collect();
    let iterations: Vec<u32> = found.iter().map(|found| found.iterations).collect();
    let inner = longest_inner(model, one);
    let facts = LoopFacts {
        kinds: one.kinds(),
        module: ends_at.and_then(|end| end.place.module.as_deref()),
        partners: one.others,
        rhythm: inner.filter(|_| one.by_rhythm).map(|inner| inner.for_each_main.round() as u32),
        loop_between: inner
            .filter(|inner| inner.has_silent_loop_around)
            .map(|inner| inner.for_each_main.round() as u32),
        has_loop_around: one.has_silent_loop_around,
        is_mostly_inner: inner.is_some_and(|inner| inner.share_of_main >= MIN_TIME_OF_INNER_LOOP),
        is_certain: one.count == IterationCount::default(),
        is_unique: one.is_unique,
        is_in_main: one.is_in_main,
        ends_as_requests_complete: one
            .anchor
            .first()
            .is_some_and(|&(_, operation)| Operation::completes(operation) == CompletionEffect::Some),
    };
    LoopDoubt::find_all(&carried, &iterations, &facts)
}

/// Finds the loops whose iterations are events: ranks that make the same calls go around in different numbers, as messages come to them, and either
/// another rank goes around as often as all of them together, or they have no collective operation. `most_of` has the most iterations of each loop on a
/// rank.
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

/// The loop with most time inside this one.
fn longest_inner<'a>(model: &'a Model, one: &Loop) -> Option<&'a Loop> {
    let inner =
        model.loops.iter().filter(|other| !other.main && other.ranks == one.ranks && other.for_each_main >= 1.5);
    inner.max_by(|a, b| a.share_of_main.total_cmp(&b.share_of_main))
}

/// The doubt about a named call that comes several times in each iteration of the loop that is found in the calls.
fn frequent_call(places: &[CodePlace], one: &Loop, ranks: &[&RankModel]) -> Option<LoopDoubt> {
    let detected = one.detected.as_ref().filter(|detected| detected.iterations > 0)?;
    let named = f64::from(ranks.iter().map(|rank| in_run(rank)).max()?);
    let times = (named / f64::from(detected.iterations)).round();
    // Before and after the loop there may be some more.
    let is_multiple = (named - times * f64::from(detected.iterations)).abs() <= (0.02 * named).max(times);
    let (site, operation) = detected.end;
    let place = site.and_then(|site| places.get(site as usize)).cloned().unwrap_or_default();
    (times >= 2.0 && is_multiple).then(|| LoopDoubt::ComesOften(times as u32, (operation_name(operation), place)))
}

/// Joins the rows of a loop that groups of ranks go through with different calls. The row keeps the end of most ranks, and the doubt of the least sure row.
fn joined(rows: Vec<LoopRow>) -> Vec<LoopRow> {
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
    /// Returns `rows` with at most as many ranks in their lists as `bounds` allows.
    pub(super) fn bounded<'a>(rows: &'a [LoopRow], bounds: &ListBounds) -> Cow<'a, [LoopRow]> {
        if rows.iter().all(|row| row.ranks.len() <= bounds.numbers) {
            return Cow::Borrowed(rows);
        }
        let bounded =
            rows.iter().map(|row| LoopRow { ranks: truncate(&row.ranks, bounds.numbers).to_vec(), ..row.clone() });
        Cow::Owned(bounded.collect())
    }

    /// Returns whether any of `ranks`, ascending, has this loop as its main one.
    fn is_main_loop_of(&self, ranks: &[u32]) -> bool {
        self.main && self.ranks.iter().any(|rank| ranks.binary_search(rank).is_ok())
    }

    /// Replaces the doubt by a graver one.
    fn doubt_most(&mut self, doubt: LoopDoubt) {
        self.doubt = None;
        self.doubt_it(doubt);
    }

    /// Adds a doubt, unless there is a graver one.
    fn doubt_it(&mut self, doubt: LoopDoubt) {
        let doubt = self.doubt.take().filter(|known| *known != LoopDoubt::Ends).unwrap_or(doubt);
        self.confidence = self.confidence.max(Some(doubt.at_most()));
        self.possible = self.possible.map(|range| doubt.widened(range));
        self.doubt = Some(doubt);
    }

    /// Returns whether both rows are the same loop, on different ranks.
    fn is_one_with(&self, other: &LoopRow) -> bool {
        let is_alike = match self.main {
            true => self.name == other.name,
            false => self.parent == other.parent && self.ends_at == other.ends_at,
        };
        is_alike && self.main == other.main && self.ranks != other.ranks
    }

    /// Merges the row of the same loop on other ranks. Shares are averaged over ranks.
    fn join(&mut self, other: LoopRow) {
        let (own, others) = (self.ranks.len() as f64, other.ranks.len() as f64);
        let all = (own + others).max(1.0);
        self.covered = (own * self.covered + others * other.covered) / all;
        self.alike = self.alike.zip(other.alike).map(|(one, other)| (own * one + others * other) / all);
        self.iterations = enclosing_range(self.iterations, other.iterations);
        self.possible = self.possible.zip(other.possible).map(|(one, other)| enclosing_range(one, other));
        self.in_report |= other.in_report;
        if self.iterations.0 < self.iterations.1 && self.main {
            self.confidence = self.confidence.max(Some(LoopConfidence::judge(self.iterations, 1.0, 1.0)));
        }
        if self.confidence < other.confidence || self.doubt.is_none() {
            self.doubt = other.doubt.or(self.doubt.take());
        }
        self.confidence = self.confidence.max(other.confidence);
        if others > own {
            self.ends_at = other.ends_at;
        }
        self.ranks.extend(other.ranks);
        self.ranks.sort_unstable();
    }
}

/// The smallest range that contains both.
fn enclosing_range(one: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    (one.0.min(other.0), one.1.max(other.1))
}

/// The region of the main loop of these ranks.
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

    #[test]
    fn a_loop_is_sure_where_ranks_agree_and_iterations_are_alike() {
        assert_eq!(LoopConfidence::judge((500.0, 500.0), 0.95, 0.9), LoopConfidence::Sure);
        assert_eq!(LoopConfidence::judge((500.0, 500.0), 0.95, 0.3), LoopConfidence::Unsure, "it may be no main loop");
        assert_eq!(LoopConfidence::judge((4.0, 4.0), 1.0, 0.9), LoopConfidence::Likely);
        assert_eq!(LoopConfidence::judge((99.0, 100.0), 0.6, 0.9), LoopConfidence::Likely);
        assert_eq!(LoopConfidence::judge((90.0, 100.0), 1.0, 0.9), LoopConfidence::Unsure);
        assert_eq!(LoopConfidence::judge((500.0, 500.0), 0.3, 0.9), LoopConfidence::Unsure);
    }

    /// The doubt about 100 iterations on each of two ranks, of which so many carry as much as others, with calls of these numbers.
    fn doubt(alike: u32, [calls, foreign, bytes]: [u64; 3], kinds: usize, module: &str) -> Option<LoopDoubt> {
        let carried = CarriedCalls { alike, calls, foreign, bytes };
        LoopDoubt::find_all(
            &[carried; 2],
            &[100; 2],
            &LoopFacts { kinds, module: Some(module), ..LoopFacts::default() },
        )
        .into_iter()
        .next()
    }

    #[test]
    fn what_iterations_carry_and_which_calls_they_have_may_speak_for_another_loop() {
        assert_eq!(doubt(95, [1000, 10, 50_000], 12, "lmp"), Some(LoopDoubt::Ends));
        assert_eq!(doubt(89, [1000, 10, 50_000], 12, "mg"), Some(LoopDoubt::Amounts));
        assert_eq!(doubt(95, [1000, 200, 50_000], 12, "pw.x"), Some(LoopDoubt::OtherCalls));
        assert_eq!(doubt(95, [1000, 10, 50_000], 3, "is"), Some(LoopDoubt::FewKinds(3, false)));
        assert_eq!(doubt(95, [1000, 10, 8_000], 12, "lmp"), Some(LoopDoubt::LittleCarried));
        assert_eq!(doubt(100, [1000, 0, 50_000], 12, "lib/mpi4py/MPI.so"), Some(LoopDoubt::Interpreter));
        assert_eq!(LoopDoubt::find_all(&[], &[], &LoopFacts::default()), []);
    }

    #[test]
    fn a_call_in_main_is_in_no_function_that_is_called_from_many_places() {
        let carried = CarriedCalls { alike: 100, calls: 200, foreign: 0, bytes: 0 };
        let certain = LoopFacts { kinds: 2, is_certain: true, is_in_main: true, ..LoopFacts::default() };
        assert_eq!(LoopDoubt::find_all(&[carried], &[100], &certain), []);
        let by_rhythm = LoopFacts { rhythm: Some(3), partners: Some(80), ..certain };
        assert_eq!(
            LoopDoubt::find_all(&[carried], &[100], &by_rhythm),
            [LoopDoubt::Rhythm(3), LoopDoubt::Partners(80)]
        );
    }

    #[test]
    fn loops_of_the_code_that_no_call_shows_are_a_doubt() {
        // 12 rounds of 10 exchanges of 1 kB, each ended by a sum: the code has a loop of 60 steps of 2 exchanges between both.
        let carried = CarriedCalls { alike: 12, calls: 252, foreign: 0, bytes: 250_000 };
        let certain = LoopFacts { kinds: 3, is_certain: true, is_unique: true, ..LoopFacts::default() };
        assert_eq!(LoopDoubt::find_all(&[carried], &[12], &certain), []);
        let between = LoopFacts { loop_between: Some(10), ..certain };
        assert_eq!(LoopDoubt::find_all(&[carried], &[12], &between), [LoopDoubt::LoopBetween(10)]);
        assert_eq!(LoopDoubt::LoopBetween(10).widened((12.0, 12.0)), (12.0, 120.0));
        let around = LoopFacts { loop_between: None, has_loop_around: true, ..between };
        assert_eq!(LoopDoubt::find_all(&[carried], &[12], &around), [LoopDoubt::LoopAround]);
        assert_eq!(LoopConfidence::Sure.max(LoopDoubt::LoopAround.at_most()), LoopConfidence::Likely);
    }

    #[test]
    fn unlike_iterations_that_end_as_requests_complete_may_be_parts_of_one() {
        // MPI_Waitsome twice in each of 16 steps, in a function that is called from one place: only one of both follows the work.
        let carried = CarriedCalls { alike: 16, calls: 93, foreign: 0, bytes: 31_000 };
        let unique = LoopFacts { kinds: 5, is_unique: true, ..LoopFacts::default() };
        assert_eq!(LoopDoubt::find_all(&[carried], &[31], &unique), [LoopDoubt::Ends]);
        let by_requests = LoopFacts { ends_as_requests_complete: true, ..unique };
        assert_eq!(LoopDoubt::find_all(&[carried], &[31], &by_requests), [LoopDoubt::Amounts, LoopDoubt::Ends]);
    }

    #[test]
    fn a_doubt_says_which_number_it_may_be() {
        assert_eq!(LoopDoubt::Partners(201).widened((223.0, 223.0)), (201.0, 223.0));
        assert_eq!(LoopDoubt::Rhythm(5).widened((12.0, 12.0)), (12.0, 60.0));
        assert_eq!(LoopDoubt::Ends.widened((49.0, 50.0)), (49.0, 50.0));
    }

    #[test]
    fn a_doubt_bounds_how_sure_a_loop_is() {
        assert_eq!(LoopConfidence::Sure.max(LoopDoubt::Amounts.at_most()), LoopConfidence::Unsure);
        assert_eq!(LoopConfidence::Sure.max(LoopDoubt::FewKinds(2, false).at_most()), LoopConfidence::Likely);
        assert_eq!(LoopConfidence::Sure.max(LoopDoubt::FewKinds(2, true).at_most()), LoopConfidence::Unsure);
        assert_eq!(LoopConfidence::Unsure.max(LoopDoubt::Interpreter.at_most()), LoopConfidence::Unsure);
    }
}
