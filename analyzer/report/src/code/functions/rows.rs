//! The functions of a region and their lines, by CPU time.

use std::collections::BTreeMap;

use super::SampledFunctions;
use super::data::{FunctionCall, FunctionName, FunctionRow, LibraryRow, LineRow, OtherFunctions};
use crate::fraction_of;
use lbprof_analysis::metrics::hardware::instructions_per_cycle;
use lbprof_analysis::metrics::sampled::functions::{CpuTimeComparison, FunctionTime, SampledEstimate};
use lbprof_analysis::model::RegionIdx;
use lbprof_analysis::model::ranks::samples::{CpuTime, CpuTimeOverRanks};

/// Maximum number of rows for the whole program and for a region.
const MOST_FUNCTIONS: (usize, usize) = (60, 12);

const MOST_LIBRARIES: usize = 3;

const MOST_LINES: usize = 5;

impl SampledFunctions<'_> {
    /// Returns the rows, and the sum of the others.
    pub(super) fn rows(
        &self,
        region: Option<RegionIdx>,
        functions: &BTreeMap<u32, FunctionTime>,
        all_s: f64,
    ) -> (Vec<FunctionRow>, OtherFunctions) {
        let weights = functions.iter().map(|(&function, time)| {
            let excess = self.excess(time);
            let mean_s = self.mean(time.over.sum.seconds);
            (function, if excess.is_significant() { mean_s.max(excess.seconds.abs()) } else { mean_s })
        });
        let mut order: Vec<(u32, f64)> = weights.collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let most = if region.is_none() { MOST_FUNCTIONS.0 } else { MOST_FUNCTIONS.1 };
        let (listed, rest) = order.split_at(most.min(order.len()));
        let mut others = CpuTimeComparison::default();
        for (function, _) in rest.iter() {
            others.add(&functions[function].compared());
        }
        let of_others = others.excess(self.times.ranks, self.times.period_s);
        let others = OtherFunctions {
            functions: rest.len(),
            mean_s: self.mean(others.all.seconds),
            slowest_s: others.own.seconds,
            excess_s: of_others.seconds,
            excess_error_s: if rest.is_empty() { 0.0 } else { of_others.error_s },
        };
        let (callers, libraries) = (self.times.by_caller(region), self.times.in_libraries(region));
        let rows = listed.iter().map(|&(function, _)| {
            let time = &functions[&function];
            let (excess, lines) = (self.excess(time), self.lines_of(region, function));
            let (all, own) = (&time.over.sum.counted, &time.own.counted);
            FunctionRow {
                name: self.name(function, lines.first().map(|line| line.line)),
                samples: time.over.sum.samples,
                mean_s: self.mean(time.over.sum.seconds),
                error_s: self.mean(time.over.sum.error_s()),
                share: if all_s > 0.0 { time.over.sum.seconds / all_s } else { 0.0 },
                min_s: if (time.over.ranks as usize) < self.times.ranks { 0.0 } else { time.over.min_s },
                max_s: time.over.max_s,
                max_rank: time.over.max_rank,
                slowest_s: time.own.seconds,
                excess_s: excess.seconds,
                excess_error_s: excess.error_s,
                significant: excess.is_significant(),
                instructions: (all.instructions > 0).then(|| self.mean(all.instructions as f64)),
                ipc: instructions_per_cycle(all),
                slowest_instructions: (own.instructions > 0).then_some(own.instructions as f64),
                slowest_ipc: instructions_per_cycle(own),
                lines: lines.into_iter().take(MOST_LINES).collect(),
                libraries: self.libraries(libraries.get(&function), time.over.sum.seconds),
                call: self.main_call(callers.get(&function)),
            }
        });
        (rows.collect(), others)
    }

    /// Returns the excess of the compared rank over the mean.
    pub(super) fn excess(&self, time: &FunctionTime) -> SampledEstimate {
        time.compared().excess(self.times.ranks, self.times.period_s)
    }

    fn libraries(&self, times: Option<&BTreeMap<u32, CpuTime>>, all_s: f64) -> Vec<LibraryRow> {
        let mut order: Vec<(u32, f64)> =
            times.into_iter().flatten().map(|(&function, time)| (function, time.seconds)).collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let rows = order.into_iter().take(MOST_LIBRARIES).map(|(function, seconds)| LibraryRow {
            name: self.name(function, None),
            mean_s: self.mean(seconds),
            share: fraction_of(seconds, all_s),
        });
        rows.collect()
    }

    /// Returns the caller with the largest time, and the line from which it called for most of that.
    pub(super) fn main_call(&self, times: Option<&BTreeMap<(u32, Option<u32>), CpuTime>>) -> FunctionCall {
        let mut sums: BTreeMap<u32, f64> = BTreeMap::new();
        for (&(function, _), time) in times.into_iter().flatten() {
            *sums.entry(function).or_default() += time.seconds;
        }
        let Some((&caller, _)) = sums.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0))) else {
            return FunctionCall::default();
        };
        let calls = times.into_iter().flatten().filter(|((function, _), _)| *function == caller);
        let most = calls.max_by(|a, b| a.1.seconds.total_cmp(&b.1.seconds).then(b.0.cmp(a.0)));
        let FunctionName { function, file, line, .. } = self.name(caller, most.and_then(|((_, line), _)| *line));
        FunctionCall { caller: function, caller_file: file, caller_line: line }
    }

    pub(super) fn name(&self, function: u32, line: Option<u32>) -> FunctionName {
        self.code.functions.get(function as usize).map(|one| FunctionName::for_function(one, line)).unwrap_or_default()
    }

    pub(super) fn lines_of(&self, region: Option<RegionIdx>, function: u32) -> Vec<LineRow> {
        let mut sums: BTreeMap<u32, Vec<&CpuTimeOverRanks>> = BTreeMap::new();
        let regions = match region {
            Some(region) => region..region + 1,
            None => 0..self.model.regions.len() as RegionIdx,
        };
        for region in regions {
            for &leaf in self.lines.get(&(region, function)).into_iter().flatten() {
                let line = self.code.leaves.get(leaf as usize).and_then(|leaf| leaf.line);
                if let Some((line, times)) = line.zip(self.model.lines.get(&(self.threads, region, leaf))) {
                    sums.entry(line).or_default().push(times);
                }
            }
        }
        let mut rows: Vec<LineRow> = sums
            .into_iter()
            .map(|(line, parts)| {
                let mut sum = CpuTime::default();
                for part in parts.iter() {
                    sum.add(&part.sum);
                }
                // The ranks of several parts may differ.
                let only = parts.first().filter(|_| parts.len() == 1);
                LineRow {
                    line,
                    mean_s: self.mean(sum.seconds),
                    error_s: self.mean(sum.error_s()),
                    min_s: only.map(|one| if (one.ranks as usize) < self.times.ranks { 0.0 } else { one.min_s }),
                    max_s: only.map(|one| one.max_s),
                    max_rank: only.map(|one| one.max_rank),
                }
            })
            .collect();
        rows.sort_by(|a, b| b.mean_s.total_cmp(&a.mean_s).then(a.line.cmp(&b.line)));
        rows
    }
}
