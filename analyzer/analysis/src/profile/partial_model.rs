//! Partial models of the run, and how they become its model.

use std::collections::BTreeMap;

use bincode::{Decode, Encode};
use lbprof_collector::{Problem, ProblemKind};

use super::joined::joining::{join_groups, report_joined};
use super::lines::LineTimes;
use super::tables::{SharedTables, TableRenumbering, sort_table};
use crate::model::ranks::joined_iterations::JoinedIterations;
use crate::model::ranks::samples::SampledLine;
use crate::model::{Model, RankModel, Region, RegionIdx, RunFacts, SlowestInIteration};
use crate::partial_result::PartialResult;
use crate::profile::concurrency::ConcurrencySlices;
use crate::profile::summed::rank_summaries::SummarizedRanks;
use crate::structure::RunStructure;

/// A part of the run: the models of some ranks, and the tables that they refer to.
#[derive(Default, Encode, Decode)]
pub(crate) struct PartialModel {
    pub(super) facts: RunFacts,
    pub(super) tables: SharedTables,
    pub(super) ranks: Vec<RankModel>,
    /// Ranks with sums across an end of the time that counts.
    pub(super) uncut: Vec<u32>,
    pub(super) slowest: BTreeMap<RegionIdx, Vec<SlowestInIteration>>,
    pub(super) joined: BTreeMap<RegionIdx, JoinedIterations>,
    pub(super) lines: BTreeMap<SampledLine, LineTimes>,
    pub(super) concurrency: ConcurrencySlices,
    pub(super) summed_up: SummarizedRanks,
    pub(super) problems: Vec<Problem>,
}

impl PartialResult for PartialModel {
    fn merge(mut self, mut higher: PartialModel) -> PartialModel {
        let tables = &mut self.tables;
        let mut numbers = TableRenumbering { regions: Vec::new(), counters: Vec::new() };
        numbers.regions.push(0);
        for region in &higher.tables.regions[1..] {
            // The region around it comes before it in its table, so that it has its new index already.
            let parent = numbers.regions.get(region.parent as usize).copied().unwrap_or(0);
            let idx = tables.region(parent, region).unwrap_or(parent);
            numbers.regions.push(idx);
        }
        numbers.counters = higher.tables.counters.iter().map(|name| tables.counter(name)).collect();
        for (uid, comm) in higher.tables.communicators {
            tables.communicators.entry(uid).or_insert(comm);
        }
        for rank in higher.ranks.iter_mut() {
            numbers.apply(rank);
        }
        join_groups(&mut self.joined, &mut self.ranks, numbers.by_region(higher.joined), &mut higher.ranks);
        self.ranks.append(&mut higher.ranks);
        self.uncut.append(&mut higher.uncut);
        for (idx, list) in numbers.by_region(higher.slowest) {
            let own = self.slowest.entry(idx).or_default();
            *own = SlowestInIteration::slower_of(std::mem::take(own), list);
        }
        for (line, times) in numbers.lines(higher.lines) {
            self.lines.entry(line).or_default().add(&times);
        }
        self.summed_up.ranks += higher.summed_up.ranks;
        self.summed_up.without_iterations += higher.summed_up.without_iterations;
        self.concurrency = self.concurrency.merge(higher.concurrency);
        self.facts.common_clock &= higher.facts.common_clock;
        self.facts.clock_error_s =
            [self.facts.clock_error_s, higher.facts.clock_error_s].into_iter().flatten().reduce(f64::max);
        self.facts.programs = self.facts.programs.merge(higher.facts.programs);
        self.facts.n_ranks = self.facts.n_ranks.max(higher.facts.n_ranks);
        for (name, value) in higher.facts.params {
            self.facts.params.entry(name).or_insert(value);
        }
        self.problems.append(&mut higher.problems);
        self
    }
}

impl PartialModel {
    /// Makes the model. The order of its tables does not depend on the order of merging.
    pub(super) fn finish(mut self, structure: &RunStructure) -> Model {
        let tables = self.tables;
        // A region sorts after the region around it, whose names are a prefix of its own.
        let names: Vec<Vec<String>> = (0..tables.regions.len() as RegionIdx)
            .map(|idx| tables.chain(idx).iter().rev().map(|&idx| tables.regions[idx as usize].name.clone()).collect())
            .collect();
        let (named, region_numbers) = sort_table(tables.regions.into_iter().zip(names).collect(), |one| one.1.clone());
        let mut regions: Vec<Region> = named.into_iter().map(|(region, _)| region).collect();
        for region in &mut regions {
            region.parent = region_numbers[region.parent as usize];
        }
        let (counters, counter_numbers) = sort_table(tables.counters, String::clone);
        let numbers = TableRenumbering { regions: region_numbers, counters: counter_numbers };
        for rank in self.ranks.iter_mut() {
            numbers.apply(rank);
        }
        self.ranks.shrink_to_fit();
        let mut slowest = vec![Vec::new(); regions.len()];
        for (idx, list) in numbers.by_region(self.slowest) {
            slowest[idx as usize] = list;
        }
        let lines = numbers.lines(self.lines).into_iter().map(|(line, times)| (line, times.finish())).collect();
        let mut model = Model {
            facts: self.facts,
            ranks: self.ranks,
            uncut_ranks: self.uncut,
            regions,
            communicators: tables.communicators.into_values().collect(),
            counters,
            slowest,
            joined: numbers.by_region(self.joined),
            lines,
            loops: structure.loops.clone(),
            without_loop: structure.without,
            problems: self.problems,
            ..Model::default()
        };
        model.outermost_iterated = (0..model.regions.len() as RegionIdx)
            .filter(|&idx| {
                let around = model.regions[idx as usize].parent;
                model.is_by_iteration(idx) && (idx == 0 || !model.is_by_iteration(around))
            })
            .collect();
        report_joined(&mut model);
        common_clock(&mut model);
        model.alone = self.concurrency.alone(&windows_ns(&model.ranks)).filter(|_| model.facts.common_clock);
        model
    }
}

/// Returns start and end of each rank's window, in nanoseconds of the common clock.
fn windows_ns(ranks: &[RankModel]) -> Vec<(i64, i64)> {
    ranks
        .iter()
        .map(|rank| (rank.begin_ns, rank.begin_ns.saturating_add(((rank.end_s - rank.begin_s) * 1e9) as i64)))
        .collect()
}

/// Shifts all times so that the run's window begins at 0. If the clocks of hosts cannot be compared, every rank's window begins there: ranks leave
/// MPI_Init at nearly the same time.
fn common_clock(model: &mut Model) {
    let one_host = model.ranks.windows(2).all(|pair| pair[0].host == pair[1].host);
    model.facts.common_clock |= one_host;
    let first_ns = model.ranks.iter().map(|rank| rank.begin_ns).min().unwrap_or(0);
    for rank in &mut model.ranks {
        rank.begin_s = match model.facts.common_clock {
            true => rank.begin_ns.saturating_sub(first_ns) as f64 / 1e9,
            false => 0.0,
        };
        rank.end_s += rank.begin_s;
        for (_, series) in &mut rank.iterations {
            for time in series.begin_s.iter_mut().chain(&mut series.end_s) {
                *time += rank.begin_s;
            }
        }
    }
    if !model.facts.common_clock && !model.problems.iter().any(|one| one.kind == ProblemKind::ClocksUnknown) {
        let detail = "the windows of all ranks are taken to begin together".to_owned();
        model.problems.push(Problem { kind: ProblemKind::ClocksUnknown, rank: None, count: 1, detail });
    }
}
