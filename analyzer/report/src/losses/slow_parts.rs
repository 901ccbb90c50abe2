//! Parts of an iteration in which different ranks compute longest, e.g. forces on rank 0 and neighbour lists on rank 3.

use std::collections::BTreeSet;

use lbprof_analysis::model::Model;
use lbprof_collector::Activity;
use lbprof_thresholds::verdict::{MIN_EXCESS_OF_EQUAL_RANK, MIN_EXCESS_OF_PART};
use serde::Serialize;

use crate::RegionRow;
use crate::code::functions::{ExplainedExcess, SampledFunctions};

const MAX_PARTS: usize = 4;

/// A region in which one rank computes longer than the others.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct SlowPart {
    /// The rank that computes longest there.
    pub rank: u32,
    /// The ranks that exceed the mean there by at least 90 % as much, ascending.
    #[serde(skip)]
    pub equals: Vec<u32>,
    /// Path of the region.
    pub region: String,
    /// Computation of the rank there less the mean over ranks, inner regions excluded.
    pub over_mean_s: f64,
    /// In which functions the rank computes longer than the mean there; null if it was not sampled.
    pub explained: Option<ExplainedExcess>,
}

impl SlowPart {
    /// Lists the ranks that are slow in any of these parts, ascending.
    pub fn ranks_of(parts: &[SlowPart]) -> Vec<u32> {
        let ranks: BTreeSet<u32> = parts.iter().flat_map(|part| part.equals.iter().copied()).collect();
        ranks.into_iter().collect()
    }
}

/// Returns the regions in which a rank exceeds the mean, the largest excess first.
pub(crate) fn slow_parts<'a>(
    model: &Model,
    regions: impl Iterator<Item = &'a RegionRow>,
    functions: Option<&SampledFunctions>,
) -> Vec<SlowPart> {
    let mut parts: Vec<SlowPart> = regions.filter_map(|row| slowest_in(model, row)).collect();
    parts.sort_by(|a, b| b.over_mean_s.total_cmp(&a.over_mean_s));
    let largest_s = parts.first().map_or(0.0, |part| part.over_mean_s);
    parts.retain(|part| part.over_mean_s > 0.0 && part.over_mean_s >= MIN_EXCESS_OF_PART * largest_s);
    parts.truncate(MAX_PARTS);
    for part in &mut parts {
        part.explained = functions.and_then(|functions| functions.explained_in(part.rank, Some(&part.region)));
    }
    parts
}

fn slowest_in(model: &Model, row: &RegionRow) -> Option<SlowPart> {
    let slowest = model.ranks.iter().max_by(|a, b| {
        let [a_s, b_s] = [a, b].map(|rank| rank.exclusive(row.idx)[Activity::Computation as usize]);
        a_s.total_cmp(&b_s)
    })?;
    let over_mean_s = row.excess_computation_s(slowest);
    let least_s = MIN_EXCESS_OF_EQUAL_RANK * over_mean_s;
    let equals = model.ranks.iter().filter(|rank| row.excess_computation_s(rank) >= least_s);
    Some(SlowPart {
        rank: slowest.rank,
        equals: equals.map(|rank| rank.rank).collect(),
        region: row.path.clone(),
        over_mean_s,
        explained: None,
    })
}
