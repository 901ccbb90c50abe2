//! The user's counters, by region.

use std::collections::BTreeMap;

use lbprof_collector::profile::CounterTotals;
use serde::Serialize;

use lbprof_analysis::model::{Model, RegionIdx};

/// A counter in a region, all ranks together.
#[derive(Clone, Debug, Serialize, crate::JsonSchema)]
pub struct CounterRow {
    /// The counter's name.
    pub name: String,
    /// Path of the region in which it was set.
    pub region: String,
    /// Times that it was set, all ranks together.
    pub n: u64,
    /// Sum of its values.
    pub sum: f64,
    /// Their mean.
    pub mean: f64,
    /// Minimum.
    pub min: f64,
    /// Greatest value.
    pub max: f64,
}

pub(crate) fn counter_rows(model: &Model) -> Vec<CounterRow> {
    let mut sums: BTreeMap<(RegionIdx, u32), CounterTotals> = BTreeMap::new();
    for (key, totals) in model.ranks.iter().flat_map(|rank| &rank.counters) {
        sums.entry(*key).or_default().add(totals);
    }
    let rows = sums.into_iter().map(|((region, counter), totals)| CounterRow {
        name: model.counters[counter as usize].clone(),
        region: model.regions[region as usize].path.clone(),
        n: totals.n,
        sum: totals.sum,
        mean: totals.sum / totals.n.max(1) as f64,
        min: totals.min,
        max: totals.max,
    });
    rows.collect()
}
