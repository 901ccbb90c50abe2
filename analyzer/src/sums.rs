//! What a thread's records add up to, in a form that stays small however many iterations there are.
//!
//! The collector's fold has a wide row for each region and iteration. Its sums are therefore taken every few thousand records
//! and kept by region, iterations as columns of only those activities that occur: 8 bytes a figure. Numbers are those of the
//! rank's log, times are ticks; [`crate::gather`] translates both.

use std::collections::BTreeMap;
use std::mem;

use lbprof_collector::format::BatchHead;
use lbprof_collector::profile::{Cell, Iteration, Profile, ProfileBatch};
use lbprof_collector::record::NONE;
use lbprof_collector::{Activity, Record};

use crate::definitions::Definitions;
use crate::span::{Span, SpanFold};
use crate::structure::{Placed, Placer};

/// Records after which sums are taken from the fold: its rows are then still in the processor's caches.
const TAKE_AFTER: usize = 1 << 13;

/// A fold over one thread, and what was taken from it.
pub struct ThreadSums {
    fold: SpanFold,
    begin: u64,
    /// Records folded since the last take.
    folded: usize,
    sums: Sums,
}

/// The sums of a thread.
#[derive(Default)]
pub struct Sums {
    /// Ticks at which the first record may begin.
    pub begin: u64,
    /// By region id.
    pub regions: BTreeMap<u32, RegionSums>,
    /// All sums that do not grow with iterations; `cells` and `iterations` are empty.
    pub rest: Profile,
    /// Where the thread's records end.
    pub end: BatchHead,
    /// When each region of `end.open` was entered.
    pub entered: Vec<u64>,
    /// Whether sums of profile mode lie across an end of the span that counts, and are left out.
    pub uncut: bool,
}

/// The sums of a region, inner regions excluded.
#[derive(Default)]
pub struct RegionSums {
    /// By activity, at the index of its number.
    pub cells: [Cell; Activity::COUNT],
    /// Ticks by iteration of the innermost iterated region that it is, or lies in.
    pub times: Times,
    /// Its own iterations that ended.
    pub iterations: Vec<Iteration>,
}

impl ThreadSums {
    /// The sums of a thread whose first batch begins with `head`, of which `span` counts.
    pub fn new(head: &BatchHead, span: Span) -> Self {
        ThreadSums {
            fold: SpanFold::new(head.clone(), span),
            begin: head.previous_end,
            folded: 0,
            sums: Sums::default(),
        }
    }

    /// Adds the records behind `head`; their call sites are ids.
    pub fn records(&mut self, head: &BatchHead, records: &[Record]) {
        self.go_to(head);
        self.fold.records(records);
        self.added(records.len());
    }

    /// The same with each call, and the computation before it, in the region and interval that `placer` says.
    pub fn placed_records(
        &mut self,
        head: &BatchHead,
        records: &[Record],
        placer: &mut Placer,
        definitions: &Definitions,
    ) {
        self.go_to(head);
        let mut rest = records;
        // Markers before a call lie where the call does: the computation between them belongs to it.
        while let Some(call) = rest.iter().position(Record::is_call) {
            let (placed, before) = placer.place(&rest[call], definitions);
            for record in &rest[..call] {
                self.place(record, before.unwrap_or(placed));
                self.fold.records(std::slice::from_ref(record));
            }
            if let Some(before) = before {
                self.place(&rest[call], before);
                self.fold.advance(rest[call].begin);
            }
            self.place(&rest[call], placed);
            self.fold.records(std::slice::from_ref(&rest[call]));
            rest = &rest[call + 1..];
        }
        self.fold.records(rest);
        self.added(records.len());
    }

    /// Counts records that were folded, and takes the sums where there are enough.
    fn added(&mut self, n: usize) {
        self.folded += n;
        if self.folded >= TAKE_AFTER {
            self.take();
        }
    }

    #[inline(always)]
    fn place(&mut self, record: &Record, placed: Placed) {
        // A part adds to the call before it.
        if !record.is_call() && record.is_part() {
            return;
        }
        if let Some((region, iteration)) = placed.within(self.fold.innermost_open()) {
            self.fold.place_in(region, iteration);
        }
    }

    /// Adds what was folded when it was recorded.
    pub fn absorb(&mut self, batch: &ProfileBatch) {
        self.go_to(&batch.head);
        self.fold.absorb(batch);
        self.take();
    }

    /// All sums.
    pub fn finish(mut self) -> Sums {
        self.fold.end();
        self.take();
        Sums { begin: self.begin, uncut: self.fold.is_uncut(), ..self.sums }
    }

    /// Where records are missing before `head`, goes on behind them: their time belongs to nothing.
    fn go_to(&mut self, head: &BatchHead) {
        if self.fold.head().first != head.first {
            self.fold.skip_to(head);
        }
    }

    fn take(&mut self) {
        self.folded = 0;
        let ProfileBatch { next, entered, mut profile, .. } = self.fold.take();
        (self.sums.end, self.sums.entered) = (next, entered);
        // Cells are sorted by region and iteration, so that mostly the region of one is that of the one before.
        for of_region in mem::take(&mut profile.cells).chunk_by(|one, next| one.0.region == next.0.region) {
            let sums = self.sums.regions.entry(of_region[0].0.region).or_default();
            for (key, cell) in of_region {
                sums.cells[usize::from(key.activity & 7)].add(cell);
                if key.iteration != NONE {
                    sums.times.add(key.iteration, key.activity, cell.ticks);
                }
            }
        }
        for of_region in mem::take(&mut profile.iterations).chunk_by(|one, next| one.region == next.region) {
            let sums = self.sums.regions.entry(of_region[0].region).or_default();
            sums.iterations.extend_from_slice(of_region);
        }
        self.sums.rest = mem::take(&mut self.sums.rest).merge(profile);
    }
}

/// Ticks by iteration and activity, a column for each activity that occurs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// Numbers of iterations.
    numbers: Vec<u32>,
    /// At the index of the activity's number; a column may be shorter than `numbers`: what is not there is 0.
    ticks: [Vec<u64>; Activity::COUNT],
}

impl Times {
    /// Adds ticks of an activity to an iteration. Iterations may come in any order; in ascending order it is fast.
    fn add(&mut self, iteration: u32, activity: u8, ticks: u64) {
        if self.numbers.last() != Some(&iteration) {
            self.numbers.push(iteration);
        }
        let n = self.numbers.len();
        let column = &mut self.ticks[usize::from(activity & 7)];
        column.resize(n, 0);
        column[n - 1] = column[n - 1].saturating_add(ticks);
    }

    /// Adds the times of other iterations, or more of the same.
    pub fn append(&mut self, other: &Times) {
        if self.numbers == other.numbers {
            for (own, more) in self.ticks.iter_mut().zip(&other.ticks) {
                own.resize(own.len().max(more.len()), 0);
                own.iter_mut().zip(more).for_each(|(own, more)| *own = own.saturating_add(*more));
            }
            return;
        }
        let n = self.numbers.len();
        self.numbers.extend_from_slice(&other.numbers);
        for (own, more) in self.ticks.iter_mut().zip(&other.ticks).filter(|(_, more)| !more.is_empty()) {
            own.resize(n, 0);
            own.extend_from_slice(more);
        }
    }

    /// Adds iterations without any time.
    pub fn append_numbers(&mut self, numbers: impl Iterator<Item = u32>) {
        let numbers = numbers.collect();
        if self.numbers != numbers {
            self.append(&Times { numbers, ..Times::default() });
        }
    }

    /// The same times under other numbers; those that have none are left out.
    pub fn renumbered(&self, number: impl Fn(u32) -> Option<u32>) -> Times {
        let mut all = Times::default();
        for at in 0..self.numbers.len() {
            let Some(number) = number(self.numbers[at]) else { continue };
            for (activity, &ticks) in self.row(at).iter().enumerate().filter(|(_, ticks)| **ticks > 0) {
                all.add(number, activity as u8, ticks);
            }
        }
        all
    }

    /// Brings the iterations into ascending order, each once.
    pub fn sort(&mut self) {
        if self.numbers.is_sorted_by(|one, next| one < next) {
            return;
        }
        let mut order: Vec<usize> = (0..self.numbers.len()).collect();
        order.sort_by_key(|&at| self.numbers[at]);
        let mut sorted = Times::default();
        for at in order {
            sorted.add(self.numbers[at], 0, 0);
            for (activity, &ticks) in self.row(at).iter().enumerate().filter(|(_, ticks)| **ticks > 0) {
                sorted.add(self.numbers[at], activity as u8, ticks);
            }
        }
        *self = sorted;
    }

    /// Numbers of iterations, in the order in which they are.
    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// Ticks by activity of the iteration at this place.
    pub fn row(&self, at: usize) -> [u64; Activity::COUNT] {
        std::array::from_fn(|activity| self.ticks[activity].get(at).copied().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(rows: &[(u32, u8, u64)]) -> Times {
        let mut times = Times::default();
        rows.iter().for_each(|&(iteration, activity, ticks)| times.add(iteration, activity, ticks));
        times
    }

    fn rows(times: &Times) -> Vec<(u32, [u64; Activity::COUNT])> {
        (0..times.numbers.len()).map(|at| (times.numbers[at], times.row(at))).collect()
    }

    #[test]
    fn iterations_in_any_order_become_ascending_and_unique() {
        let mut all = times(&[(3, 0, 10), (3, 1, 1), (5, 0, 20), (3, 0, 5), (1, 2, 7)]);
        all.sort();
        let expected = [(1, [0, 0, 7, 0, 0, 0, 0, 0]), (3, [15, 1, 0, 0, 0, 0, 0, 0]), (5, [20, 0, 0, 0, 0, 0, 0, 0])];
        assert_eq!(rows(&all), expected);
    }

    #[test]
    fn appending_adds_what_both_have_and_keeps_the_rest() {
        let one = times(&[(0, 0, 10), (1, 0, 20)]);
        let mut same = one.clone();
        same.append(&times(&[(0, 1, 1), (1, 0, 2)]));
        assert_eq!(rows(&same), [(0, [10, 1, 0, 0, 0, 0, 0, 0]), (1, [22, 0, 0, 0, 0, 0, 0, 0])]);

        let mut other = one;
        other.append(&times(&[(1, 1, 3), (2, 1, 4)]));
        other.append_numbers([1, 7].into_iter());
        other.sort();
        let expected = [
            (0, [10, 0, 0, 0, 0, 0, 0, 0]),
            (1, [20, 3, 0, 0, 0, 0, 0, 0]),
            (2, [0, 4, 0, 0, 0, 0, 0, 0]),
            (7, [0; Activity::COUNT]),
        ];
        assert_eq!(rows(&other), expected);
    }

    #[test]
    fn iterations_of_an_inner_region_count_in_those_of_the_outer_one() {
        // Iterations 0 and 1 lie in iteration 4 of the outer region, 2 in none.
        let inner = times(&[(0, 0, 10), (1, 0, 20), (2, 0, 30)]);
        let outer = inner.renumbered(|number| (number < 2).then_some(4));
        assert_eq!(rows(&outer), [(4, [30, 0, 0, 0, 0, 0, 0, 0])]);
    }
}
