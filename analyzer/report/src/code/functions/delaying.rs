//! Finds the computation that other ranks wait for.

use std::collections::BTreeMap;

use lbprof_collector::Activity;

use super::SampledFunctions;
use super::data::{DelayingFunction, DelayingRank};
use crate::waiting::blocking::{BlockingTable, CauseRow};
use lbprof_analysis::metrics::sampled::functions::{FunctionTime, SampledEstimate};
use lbprof_analysis::model::RegionIdx;

/// Maximum number of ranks, and of functions of each.
const MOST: (usize, usize) = (20, 3);

impl SampledFunctions<'_> {
    pub(super) fn delaying_ranks(&self, blocking: &BlockingTable) -> Vec<DelayingRank> {
        let computing = blocking.causes.iter().filter(|row| row.activity == Some(Activity::Computation));
        computing.filter_map(|row| self.delaying_rank(row)).take(MOST.0).collect()
    }

    /// Returns the functions in which a rank computes in a region, or `None` if none is known.
    ///
    /// Functions that cause waiting come first, by samples in the awaited time. Without such samples, those with an excess over the mean do.
    fn delaying_rank(&self, row: &CauseRow) -> Option<DelayingRank> {
        let at = self.model.ranks.iter().position(|one| one.rank == row.cause.rank)?;
        let region = self.model.regions.iter().position(|one| one.path == row.region)? as RegionIdx;
        let functions = self.times.by_function(Some(region), Some(at));
        let cpu_s: f64 = functions.values().map(|time| time.own.seconds).sum();
        let (samples, caused) = self.caused(row);
        let is_known = samples > 0;
        let mut order: Vec<(f64, u32, FunctionTime)> = Vec::with_capacity(functions.len());
        for (function, time) in functions.into_iter().filter(|(_, time)| time.own.samples > 0) {
            let excess = self.excess(&time);
            let weight = match is_known {
                true => caused.get(&function).map_or(0.0, |caused| caused.seconds),
                false if excess.is_significant() => excess.seconds.max(0.0),
                false => 0.0,
            };
            order.push((weight, function, time));
        }
        order.sort_by(|(weight_a, a, time_a), (weight_b, b, time_b)| {
            weight_b.total_cmp(weight_a).then(time_b.own.seconds.total_cmp(&time_a.own.seconds)).then(a.cmp(b))
        });
        order.truncate(MOST.1);
        let callers = self.times.by_caller(Some(region));
        let functions = order.into_iter().map(|(_, function, time)| {
            let excess = self.excess(&time);
            let caused = is_known.then(|| caused.get(&function).copied().unwrap_or_default());
            DelayingFunction {
                name: self.name(function, self.lines_of(Some(region), function).first().map(|line| line.line)),
                caused_s: caused.map(|one| one.seconds),
                caused_error_s: caused.map(|one| one.error_s),
                cpu_s: time.own.seconds,
                error_s: time.own.error_s(),
                share: time.own.seconds / cpu_s,
                excess_s: excess.seconds,
                excess_error_s: excess.error_s,
                significant: excess.is_significant(),
                call: self.main_call(callers.get(&function)),
            }
        });
        let functions: Vec<DelayingFunction> = functions.collect();
        let (rank, caused_s) = (row.cause.rank, row.cause.caused_s);
        (cpu_s > 0.0).then(|| DelayingRank { rank, region: row.region.clone(), caused_s, samples, cpu_s, functions })
    }

    /// Counts a rank's samples in the time that others waited for, and sums up the caused waiting by function.
    fn caused(&self, row: &CauseRow) -> (u64, BTreeMap<u32, SampledEstimate>) {
        let (mut samples, mut functions) = (0, BTreeMap::new());
        let Some(followed) = &self.model.followed else { return (samples, functions) };
        for one in followed.delaying_code.iter() {
            let is_first = followed.threads.get(one.thread as usize).is_some_and(|thread| thread.number == 0);
            let region = followed.regions.get(one.kind.region() as usize);
            let is_there = region.is_some_and(|region| region.path == row.region);
            if !is_first || !is_there || followed.world_rank(one.thread) != row.cause.rank {
                continue;
            }
            let Some(leaf) = self.code.leaves.get(one.leaf as usize) else { continue };
            let sum: &mut SampledEstimate = functions.entry(self.code.responsible(leaf.node)).or_default();
            sum.seconds += one.ns * 1e-9;
            sum.error_s = sum.error_s.hypot(one.error_ns * 1e-9);
            samples += one.samples;
        }
        (samples, functions)
    }
}
