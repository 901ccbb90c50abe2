//! The user's counters, by region.

use std::collections::BTreeMap;

use lbprof_collector::profile::CounterTotals;

use crate::model::{Model, RegionIdx};

/// A counter in a region, all ranks together.
#[derive(Clone, Debug)]
pub struct CounterRow {
    /// Its name.
    pub name: String,
    /// Path of the region.
    pub region: String,
    /// Its values.
    pub totals: CounterTotals,
}

/// One row a region and counter.
pub(super) fn rows(model: &Model) -> Vec<CounterRow> {
    let mut sums: BTreeMap<(RegionIdx, u32), CounterTotals> = BTreeMap::new();
    for (key, totals) in model.ranks.iter().flat_map(|rank| &rank.counters) {
        sums.entry(*key).or_default().add(totals);
    }
    let row = |((region, counter), totals): ((RegionIdx, u32), CounterTotals)| CounterRow {
        name: model.counters[counter as usize].clone(),
        region: model.regions[region as usize].path.clone(),
        totals,
    };
    sums.into_iter().map(row).collect()
}
