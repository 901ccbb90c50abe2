//! The time of a rank's regions by iteration.

use std::collections::BTreeMap;

use lbprof_collector::record::NONE;
use lbprof_collector::{Activity, CoreState};
use lbprof_thresholds::regions::MIN_COMPUTATION_BY_ITERATION;

use super::joined::bounds::IterationBounds;
use super::joined::joining::{join_ranks, needed_powers};
use super::rank::RankBuilder;
use crate::model::code::loops::FoundLoopOfRank;
use crate::model::ranks::joined_iterations::JoinedIterations;
use crate::model::{IterationSeries, Region, RegionIdx, SlowestInIteration};
use crate::profile::summed::sums::ThreadTotals;
use crate::profile::summed::times::ActivityTicks;
use crate::structure::region_path::loop_path;

impl RankBuilder<'_> {
    /// Adds the time by iteration: for each region in its innermost iterated region, and for iterated regions also the series.
    ///
    /// ```text
    ///   main / step (iterated) / force / sub (iterated) / x
    ///     a cell of x in iteration 7 of sub counts in x and sub at 7; sub's iteration 7 lies in step's iteration 2,
    ///     so the same cell counts in force and step at 2; main lies in no iteration.
    /// ```
    pub(super) fn iterations(&mut self, sums: ThreadTotals) {
        let mut parts: BTreeMap<RegionIdx, Vec<(RegionIdx, ActivityTicks)>> = BTreeMap::new();
        let off_core: Vec<(f64, CoreState, f64)> = (sums.samples.off_core_computing.iter())
            .map(|&(middle, state, ticks)| (self.since_begin(middle), state, ticks * self.clock.tick_s()))
            .collect();
        let (mut bounds, mut times) = self.bounds_and_times(sums);
        let mut entering = None;
        if let Some(found) = self.iterated.take() {
            let idx = self.enter(loop_path(self.tables.structure, found.at));
            bounds.entry(idx).or_default().extend_from_slice(&found.bounds);
            self.rank.found = Some(FoundLoopOfRank {
                at: found.at,
                iterations: found.numbering.count,
                alike: found.numbering.alike,
                carried: found.carried,
            });
            entering = Some((idx, found.entering));
        }
        for (&idx, own) in &times {
            parts.entry(idx).or_default().push((idx, own.only(Activity::Computation)));
        }
        // Inner regions first: they come after the regions around them.
        for idx in (1..self.part.tables.regions.len() as RegionIdx).rev() {
            let bounds = IterationBounds::last_of_each(bounds.remove(&idx).unwrap_or_default());
            let mut own = times.remove(&idx).unwrap_or_default();
            own.append_numbers(bounds.iter().map(|one| one.number));
            own.sort();
            let Region { parent, iterated, .. } = self.part.tables.regions[idx as usize];
            let mut of_region = parts.remove(&idx).unwrap_or_default();
            if self.part.tables.in_iterated(parent) {
                if iterated {
                    for (_, part) in &mut of_region {
                        *part = part.renumbered(|number| IterationBounds::outer(&bounds, number));
                    }
                }
                parts.entry(parent).or_default().append(&mut of_region);
                let place = times.entry(parent).or_default();
                match iterated {
                    true => place.append(&own.renumbered(|number| IterationBounds::outer(&bounds, number))),
                    false => place.append(&own),
                }
            }
            self.keep_iterations(idx, &own, &bounds, &off_core);
            if iterated && !of_region.is_empty() {
                self.keep_parts(idx, of_region);
            }
        }
        self.rank.in_iterations.reverse();
        self.rank.iterations.reverse();
        if let Some((found, numbers)) = entering
            && let Some((_, series)) = self.rank.iterations.iter_mut().find(|(idx, _)| *idx == found)
        {
            series.entering = numbers;
        }
        for (region, power) in needed_powers(&self.rank.iterations, self.tables.most_iterations) {
            let mut joined = JoinedIterations { power, sums: Vec::new() };
            join_ranks(std::slice::from_mut(&mut self.rank), region, &mut joined);
            self.part.joined.insert(region, joined);
        }
    }

    /// Returns the iterations of regions that were marked, and the times of regions in iterated ones.
    fn bounds_and_times(
        &mut self,
        sums: ThreadTotals,
    ) -> (BTreeMap<RegionIdx, Vec<IterationBounds>>, BTreeMap<RegionIdx, ActivityTicks>) {
        let mut bounds: BTreeMap<RegionIdx, Vec<IterationBounds>> = BTreeMap::new();
        let mut times: BTreeMap<RegionIdx, ActivityTicks> = BTreeMap::new();
        let mut around = NONE;
        for (at, open) in sums.end.open.iter().enumerate().filter(|(_, open)| open.iteration != NONE) {
            let begin = sums.entered.get(at).copied();
            let one = IterationBounds { number: open.iteration, outer: around, begin, end: None };
            bounds.entry(self.region(open.region)).or_default().push(one);
            around = open.iteration;
        }
        for (id, region) in sums.regions {
            let idx = self.region(id);
            let ended = region.iterations.iter().map(IterationBounds::from_iteration);
            bounds.entry(idx).or_default().splice(0..0, ended);
            if self.part.tables.in_iterated(idx) {
                let times = times.entry(idx).or_default();
                match &self.iterated {
                    Some(found) => {
                        times.append(&region.times.renumbered(|interval| found.numbering.iteration(interval as usize)))
                    }
                    None => times.append(&region.times),
                }
            }
        }
        (bounds, times)
    }

    fn keep_iterations(
        &mut self,
        idx: RegionIdx,
        times: &ActivityTicks,
        bounds: &[IterationBounds],
        off_core: &[(f64, CoreState, f64)],
    ) {
        let n = times.numbers().len();
        if n == 0 {
            return;
        }
        let seconds = Activity::ALL.map(|activity| self.column_s(times.column(activity), n));
        self.part.slowest.insert(idx, SlowestInIteration::from_rank(self.rank.rank, times.numbers(), &seconds));
        self.rank.in_iterations.push((idx, self.seconds(times.total(Activity::Computation))));
        if self.part.tables.regions[idx as usize].iterated {
            let (begin_s, end_s) = self.iteration_bounds(times.numbers(), bounds);
            let numbers = times.numbers().to_vec();
            let series = IterationSeries { numbers, begin_s, end_s, seconds, ..IterationSeries::default() };
            self.rank.iterations.push((idx, series.with_states(off_core)));
        }
    }

    /// Keeps the computation in each iteration of region `idx`, which lies in no other iterated one, for the regions with the most computation, if there
    /// are several.
    fn keep_parts(&mut self, idx: RegionIdx, parts: Vec<(RegionIdx, ActivityTicks)>) {
        let mut summed: Vec<(u64, RegionIdx, ActivityTicks)> = Vec::with_capacity(parts.len());
        for (part, times) in parts {
            summed.push((times.total(Activity::Computation), part, times));
        }
        let all = summed.iter().fold(0, |all: u64, (ticks, ..)| all.saturating_add(*ticks));
        summed.retain(|&(ticks, ..)| ticks as f64 > MIN_COMPUTATION_BY_ITERATION * all as f64);
        summed.sort_by_key(|&(ticks, part, _)| (std::cmp::Reverse(ticks), part));
        summed.truncate(IterationSeries::MAX_PARTS);
        let Some((at, (_, series))) =
            self.rank.iterations.iter().enumerate().rev().find(|(_, (known, _))| *known == idx)
        else {
            return;
        };
        if summed.len() < 2 {
            return;
        }
        let mut kept = Vec::with_capacity(summed.len());
        for (_, part, mut times) in summed {
            times.sort();
            let ticks = times.aligned(Activity::Computation, &series.numbers);
            kept.push((part, ticks.into_iter().map(|ticks| self.seconds(ticks) as f32).collect()));
        }
        self.rank.iterations[at].1.parts = kept;
    }

    fn column_s(&self, ticks: &[u64], n: usize) -> Vec<f64> {
        if ticks.iter().all(|&ticks| ticks == 0) {
            return Vec::new();
        }
        let mut seconds = Vec::with_capacity(n);
        seconds.extend(ticks.iter().map(|&ticks| self.seconds(ticks)));
        seconds.resize(n, 0.0);
        seconds
    }

    /// Returns start and end of the iterations with these numbers, as in [`IterationSeries`]; both lists are sorted.
    fn iteration_bounds(&self, numbers: &[u32], bounds: &[IterationBounds]) -> (Vec<f64>, Vec<f64>) {
        let (mut begin_s, mut end_s) = (Vec::with_capacity(numbers.len()), Vec::with_capacity(numbers.len()));
        let mut bounds = bounds.iter().peekable();
        for number in numbers {
            let found = bounds.next_if(|one| one.number == *number);
            // The start of an iteration that the span cuts is unknown.
            let begin = found.and_then(|one| one.begin).filter(|&begin| begin >= self.span.begin);
            let end = found.and_then(|one| one.end);
            begin_s.push(begin.map_or(f64::NAN, |ticks| self.since_begin(ticks)));
            end_s.push(end.map_or(f64::NAN, |ticks| self.since_begin(ticks)));
        }
        (begin_s, end_s)
    }
}
