//! Decides whether calls around a loop form a loop of their own, or are occasional extras of its iterations.
//!
//! ```text
//!   S1 S2 S3 S1 S2 S3 … S1 S2 S3 E F G S1 S2 S3 …     a solver's iterations in each time step: E, F and G make the main loop
//!   F R F R F R F R F R T F R F R …                   T is output in every tenth time step: F R is the main loop
//!   F R F R … F R X B R F R …                         X B takes the place of F now and then, like T above
//! ```
//!
//! If the solver is called anew in each time step, the functions that make the calls distinguish the first two cases: the loop is in the
//! caller. Otherwise the calls alone do not, and the rules below decide.

use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::structure::iterations::sequence::{CallSequence, SequenceItem, SequenceSymbol};
use crate::structure::iterations::window::{CallRole, CallWindow};
use lbprof_thresholds::loops::{
    MAX_ITERATIONS_BETWEEN_EXTRAS, MAX_SINGLE_INNER_ITERATIONS, MIN_EXTRAS_OF_ITERATION, MIN_INCOMPLETE_VISITS,
    MIN_REGULAR_GAPS, MIN_TIME_OF_EXTRAS,
};

/// The role of the items around the visits to an inner loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SurroundingItems {
    /// A loop of their own, in which the inner loop runs.
    Loop,
    /// A loop around the inner one, distinguished only by its rhythm from calls made in every n-th iteration.
    Rhythm,
    /// Something done now and then between two iterations of the inner loop.
    Extras,
    /// Something done now and then in place of a part of an iteration, or of all that is inner loop.
    Variants,
}

/// Determines the role of the items around the visits to `inner`, in these visits to a possible loop around it.
pub(super) fn classify_surroundings(
    sequence: &CallSequence,
    window: &CallWindow,
    visits: &[Range<usize>],
    inner: SequenceSymbol,
) -> SurroundingItems {
    let mut rounds = OuterRounds::default();
    for visit in visits {
        rounds.add(sequence, window.whole_run, &sequence.parts[visit.clone()], inner);
    }
    match rounds.role(sequence, window, inner) {
        Some(CallRole::Around) => SurroundingItems::Loop,
        // A branch that many iterations take is a part of them.
        Some(CallRole::Within) if rounds.instead() || rounds.mean_iterations() <= MAX_ITERATIONS_BETWEEN_EXTRAS => {
            SurroundingItems::Variants
        }
        Some(CallRole::Within) => SurroundingItems::Extras,
        Some(CallRole::PerhapsAround) => match rounds.around_by_calls(window) {
            SurroundingItems::Loop => SurroundingItems::Rhythm,
            other => other,
        },
        None => rounds.around_by_calls(window),
    }
}

/// Maximum number of gaps between visits to a loop, and of calls in each, that are looked at.
const MAX_GAPS: usize = 16;
const MAX_CALLS: usize = 32;

/// The rounds of an outer loop: a visit to the inner loop and the extras after it.
#[derive(Debug, Default)]
struct OuterRounds {
    visits: Vec<InnerVisit>,
    extras: Vec<RoundExtras>,
    /// Calls from the last one of a visit to the first one of the next, for some visits.
    gaps: Vec<Range<usize>>,
    time: u64,
}

#[derive(Debug)]
struct InnerVisit {
    iterations: usize,
    /// True if all that each iteration holds once occurs equally often.
    complete: bool,
    /// True if it is cut off by the window.
    cut: bool,
    calls: usize,
    /// From the first anchor's end to the last's.
    ticks: TickRange,
    after_first_anchor: Range<usize>,
}

/// The duration between the ends of two calls.
#[derive(Clone, Copy, Debug, Default)]
struct TickRange {
    all: u64,
    /// Ticks outside of calls: unlike the time in calls, they do not depend on waiting.
    computing: u64,
}

impl TickRange {
    /// Returns the duration from the end of the call before these calls to the end of the last one.
    fn from_calls(sequence: &CallSequence, calls: Range<usize>) -> TickRange {
        let Some(before) = calls.start.checked_sub(1) else { return TickRange::default() };
        let (before, own) = (sequence.calls[before], &sequence.calls[calls]);
        let all = own.last().map_or(0, |last| last.end.saturating_sub(before.end));
        let in_calls = own.iter().map(|call| call.end.saturating_sub(call.begin)).fold(0, u64::saturating_add);
        TickRange { all, computing: all.saturating_sub(in_calls) }
    }
}

/// The calls between two visits to the inner loop, up to the first anchor of the second.
#[derive(Clone, Copy, Debug, Default)]
struct RoundExtras {
    calls: usize,
    ticks: TickRange,
    /// True if there is a part of an iteration of the inner loop among them.
    part: bool,
    /// True if there is another loop among them that has calls of the inner loop.
    shares: bool,
}

impl OuterRounds {
    fn add(&mut self, sequence: &CallSequence, whole_run: bool, items: &[SequenceItem], inner: SequenceSymbol) {
        let (Some(first), Some(last)) = (items.first(), items.last()) else { return };
        self.time += sequence.end(last).saturating_sub(sequence.calls[first.calls().start].begin);
        let Some(found) = sequence.loop_of(inner) else { return };
        let tokens: FxHashSet<SequenceSymbol> = found.tokens.iter().copied().collect();
        let core: FxHashSet<SequenceSymbol> = found.core.iter().copied().collect();
        let mut before: Option<usize> = None;
        let mut visited: Option<usize> = None;
        let mut since = RoundExtras::default();
        for item in items {
            if item.symbol != inner {
                since.calls += item.calls().len();
                since.part |= core.contains(&item.symbol);
                since.shares |= !core.contains(&item.symbol)
                    && sequence.loop_of(item.symbol).is_some()
                    && sequence.tokens_of(item.symbol).iter().any(|token| tokens.contains(token));
                continue;
            }
            let Some(visit) = InnerVisit::from_item(sequence, whole_run, item) else { continue };
            if let Some(before) = before {
                let ticks = TickRange::from_calls(sequence, before..visit.after_first_anchor.start);
                self.extras.push(RoundExtras { ticks, ..since });
            }
            let gap = visited.map(|end| end.saturating_sub(1)..item.calls().start + 1);
            self.gaps.extend(gap.filter(|gap| self.gaps.len() < MAX_GAPS && gap.len() > 2));
            visited = Some(item.calls().end);
            before = Some(visit.after_first_anchor.end);
            self.visits.push(visit);
            since = RoundExtras::default();
        }
    }

    fn around_by_calls(&self, window: &CallWindow) -> SurroundingItems {
        if self.are_called_anew(window) { SurroundingItems::Loop } else { self.around() }
    }

    /// Returns whether the function with the inner loop is called anew for each visit, by the function that makes the calls between visits.
    fn are_called_anew(&self, window: &CallWindow) -> bool {
        let several = self.visits.iter().find(|visit| visit.iterations > 1);
        let inner = several.and_then(|visit| window.pair_at(visit.after_first_anchor.start.checked_sub(1)?));
        self.gaps.len() >= MIN_REGULAR_GAPS
            && self.gaps.iter().all(|gap| {
                let mut pairs = (gap.start..gap.end - 1).take(MAX_CALLS).filter_map(|at| window.pair_at(at));
                inner.is_some_and(|inner| pairs.any(|outer| (window.is_called_by)(inner, outer)))
            })
    }

    /// Returns the role of the calls between visits for the inner loop, if the code shows it for all of them.
    fn role(&self, sequence: &CallSequence, window: &CallWindow, inner: SequenceSymbol) -> Option<CallRole> {
        let end = self.visits.iter().find(|visit| visit.iterations > 1)?.after_first_anchor.start;
        let turn = window.pair_at(end.checked_sub(1)?)?;
        let own: FxHashSet<u32> = sequence.window_tokens(inner).collect();
        let mut roles = self.gaps.iter().map(|gap| {
            let tokens = gap.clone().take(MAX_CALLS).filter_map(|at| window.token_at(at));
            common_role(tokens.filter(|token| !own.contains(token)).map(|call| (window.role_of)(turn, call)).collect())
        });
        let first = roles.next()??;
        roles.all(|role| role == Some(first)).then_some(first)
    }

    fn around(&self) -> SurroundingItems {
        if self.extras.is_empty() {
            return SurroundingItems::Variants;
        }
        let often = self.mean_iterations() <= MAX_ITERATIONS_BETWEEN_EXTRAS;
        let share = self.beyond_ordinary(|ticks| ticks.all) / self.time.max(1) as f64;
        let regular = self.regular();
        if self.instead() {
            // A branch, unless it is taken in a fixed rhythm and often, or for long.
            return match () {
                () if regular && MIN_TIME_OF_EXTRAS <= share => SurroundingItems::Loop,
                () if regular && often => SurroundingItems::Rhythm,
                () => SurroundingItems::Variants,
            };
        }
        let many = self.many_calls();
        match () {
            () if MIN_TIME_OF_EXTRAS <= share || (regular && many && self.long()) => SurroundingItems::Loop,
            () if often && (regular || (many && !self.often_once())) => SurroundingItems::Rhythm,
            // A branch that many iterations take is a part of them.
            () if often => SurroundingItems::Variants,
            () => SurroundingItems::Extras,
        }
    }

    fn mean_iterations(&self) -> f64 {
        let whole = self.visits.iter().filter(|visit| !visit.cut);
        match whole.clone().count() {
            0 => self.visits.iter().map(|visit| visit.iterations).sum::<usize>() as f64 / self.extras.len() as f64,
            n => whole.map(|visit| visit.iterations).sum::<usize>() as f64 / n as f64,
        }
    }

    /// Returns whether the extras often replace a part of an iteration. Another loop with calls of the inner one comes after it and does not replace a
    /// part of it.
    fn instead(&self) -> bool {
        let whole: Vec<_> = self.visits.iter().filter(|visit| !visit.cut).collect();
        let incomplete = whole.iter().filter(|visit| !visit.complete).count();
        let parts = self.extras.iter().filter(|extras| extras.part).count();
        let shares = self.extras.iter().filter(|extras| extras.shares).count();
        MIN_INCOMPLETE_VISITS * whole.len().max(1) as f64 <= (incomplete + parts) as f64
            && 2 * shares < self.extras.len()
    }

    /// Returns whether the inner loop always runs equally often.
    fn regular(&self) -> bool {
        let mut whole = self.visits.iter().filter(|visit| !visit.cut).map(|visit| visit.iterations);
        let first = whole.next();
        whole.all(|iterations| Some(iterations) == first)
    }

    fn often_once(&self) -> bool {
        let once = self.visits.iter().filter(|visit| visit.iterations <= 1).count();
        MAX_SINGLE_INNER_ITERATIONS * (self.visits.len() as f64) < once as f64
    }

    fn ordinary(&self, of: fn(&TickRange) -> u64) -> f64 {
        let time = self.visits.iter().map(|visit| of(&visit.ticks)).fold(0, u64::saturating_add);
        let n: usize = self.visits.iter().map(|visit| visit.iterations - 1).sum();
        time as f64 / n.max(1) as f64
    }

    /// Returns the ticks that the iterations with extras take more than ordinary ones.
    fn beyond_ordinary(&self, of: fn(&TickRange) -> u64) -> f64 {
        let with_extras: f64 = self.extras.iter().map(|extras| of(&extras.ticks) as f64).sum();
        (with_extras - self.extras.len() as f64 * self.ordinary(of)).max(0.0)
    }

    fn many_calls(&self) -> bool {
        let iterations: usize = self.visits.iter().map(|visit| visit.iterations).sum();
        let inner: usize = self.visits.iter().map(|visit| visit.calls).sum();
        let calls: usize = self.extras.iter().map(|extras| extras.calls).sum();
        inner as f64 / iterations.max(1) as f64 <= calls as f64 / self.extras.len().max(1) as f64
    }

    /// Returns whether extras take a good part of the time of an iteration of the inner loop, or of its computation: if ranks wait long in the inner
    /// loop, for a core or for others, everything else is short.
    fn long(&self) -> bool {
        self.take_long(|ticks| ticks.all) || self.take_long(|ticks| ticks.computing)
    }

    fn take_long(&self, of: fn(&TickRange) -> u64) -> bool {
        let ordinary = self.ordinary(of);
        0.0 < ordinary
            && MIN_EXTRAS_OF_ITERATION * ordinary <= self.beyond_ordinary(of) / self.extras.len().max(1) as f64
    }
}

impl InnerVisit {
    fn from_item(sequence: &CallSequence, whole_run: bool, item: &SequenceItem) -> Option<InnerVisit> {
        let inner = sequence.loop_of(item.symbol)?;
        let parts = &sequence.parts[item.parts()];
        let mut anchors = parts.iter().filter(|part| part.symbol == inner.anchor);
        let first = anchors.next()?;
        let last = anchors.next_back().unwrap_or(first);
        let after_first_anchor = first.calls().end..last.calls().end;
        // There may be very many visits, mostly short ones, so that sorting is quicker than a table of each.
        let mut symbols: Vec<SequenceSymbol> = parts.iter().map(|part| part.symbol).collect();
        symbols.sort_unstable();
        let iterations = count_symbol(&symbols, inner.anchor);
        let calls = item.calls();
        Some(InnerVisit {
            iterations,
            complete: inner.core.iter().all(|&symbol| count_symbol(&symbols, symbol) == iterations),
            cut: !whole_run && (calls.start == 0 || calls.end == sequence.calls.len()),
            calls: calls.len(),
            ticks: TickRange::from_calls(sequence, after_first_anchor.clone()),
            after_first_anchor,
        })
    }
}

/// Returns the common role of the calls of a gap, or `None` if the code does not show it.
fn common_role(roles: Vec<Option<CallRole>>) -> Option<CallRole> {
    if roles.contains(&Some(CallRole::Around)) {
        return Some(CallRole::Around);
    }
    roles.into_iter().reduce(|one, other| match (one, other) {
        (Some(CallRole::Within), other) => other,
        (one, Some(CallRole::Within)) => one,
        (one, other) => one.and(other),
    })?
}

/// Counts a symbol in a sorted list.
fn count_symbol(sorted: &[SequenceSymbol], symbol: SequenceSymbol) -> usize {
    sorted.partition_point(|&other| other <= symbol) - sorted.partition_point(|&other| other < symbol)
}
