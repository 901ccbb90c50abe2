//! Names that several ranks share, each stored once, and their indices.

use std::collections::{BTreeMap, HashMap};

use bincode::{Decode, Encode};

use super::lines::LineTimes;
use crate::model::ranks::samples::SampledLine;
use crate::model::{Communicator, RankModel, Region, RegionIdx, regions_around};
use crate::read::definitions::path_part;
use crate::structure::interning::intern;

/// Names that several ranks share, each stored once.
#[derive(Default, Encode, Decode)]
pub(super) struct SharedTables {
    /// The first is the whole program.
    pub(super) regions: Vec<Region>,
    /// By the region around it and its name.
    pub(super) regions_by_name: HashMap<(RegionIdx, String), RegionIdx>,
    pub(super) path_bytes: usize,
    pub(super) counters: Vec<String>,
    pub(super) counters_by_name: HashMap<String, u32>,
    pub(super) communicators: BTreeMap<u64, Communicator>,
}

/// Maximum size of all regions' paths in bytes: thousands of regions have a few hundred thousand. Nested regions with long names, which a
/// small log can define, could otherwise fill the memory.
const MAX_PATH_BYTES: usize = 64 << 20;

impl SharedTables {
    /// Returns the region with this name within `parent`, entered if it is new, or `None` if there are too many.
    pub(super) fn region(&mut self, parent: RegionIdx, part: &Region) -> Option<RegionIdx> {
        let key = (parent, part.name.clone());
        if let Some(&idx) = self.regions_by_name.get(&key) {
            let known = &mut self.regions[idx as usize];
            known.iterated |= part.iterated;
            known.ends = known.ends.take().or_else(|| part.ends.clone());
            known.call = known.call.or(part.call);
            return Some(idx);
        }
        let path = format!("{}/{}", self.regions[parent as usize].path, path_part(&part.name));
        self.path_bytes = Some(self.path_bytes + path.len()).filter(|&bytes| bytes <= MAX_PATH_BYTES)?;
        let idx = self.regions.len() as RegionIdx;
        self.regions.push(Region { path, parent, ..part.clone() });
        self.regions_by_name.insert(key, idx);
        Some(idx)
    }

    pub(super) fn chain(&self, region: RegionIdx) -> Vec<RegionIdx> {
        regions_around(&self.regions, region)
    }

    pub(super) fn in_iterated(&self, region: RegionIdx) -> bool {
        self.chain(region).iter().any(|&idx| self.regions[idx as usize].iterated)
    }

    pub(super) fn counter(&mut self, name: &str) -> u32 {
        intern(&mut self.counters_by_name, &mut self.counters, name.to_owned())
    }
}

/// New indices of a part's regions and counters.
pub(super) struct TableRenumbering {
    pub(super) regions: Vec<RegionIdx>,
    pub(super) counters: Vec<u32>,
}

impl TableRenumbering {
    pub(super) fn apply(&self, rank: &mut RankModel) {
        for ((_, counter), _) in &mut rank.counters {
            *counter = self.counters[*counter as usize];
        }
        map_regions(rank, |idx| Some(self.regions[idx as usize]));
    }

    pub(super) fn lines(&self, lines: BTreeMap<SampledLine, LineTimes>) -> BTreeMap<SampledLine, LineTimes> {
        lines
            .into_iter()
            .map(|((threads, idx, leaf), times)| ((threads, self.regions[idx as usize], leaf), times))
            .collect()
    }

    pub(super) fn by_region<T>(&self, all: BTreeMap<RegionIdx, T>) -> BTreeMap<RegionIdx, T> {
        all.into_iter().map(|(idx, one)| (self.regions[idx as usize], one)).collect()
    }
}

/// Replaces the regions in a rank's lists by the ones that `new` returns, and drops the entries of regions for which it returns `None`.
pub(crate) fn map_regions(rank: &mut RankModel, new: impl Fn(RegionIdx) -> Option<RegionIdx>) {
    map_sorted(&mut rank.cells, |key| &mut key.0, &new);
    map_sorted(&mut rank.inclusive, |idx| idx, &new);
    map_sorted(&mut rank.in_iterations, |idx| idx, &new);
    map_sorted(&mut rank.totals, |idx| idx, &new);
    for (_, series) in &mut rank.iterations {
        map_keys(&mut series.parts, |idx| idx, &new);
    }
    map_sorted(&mut rank.iterations, |idx| idx, &new);
    map_sorted(&mut rank.counters, |key| &mut key.0, &new);
    map_sorted(&mut rank.sites, |key| &mut key.region, &new);
    map_sorted(&mut rank.other_sites, |key| &mut key.region, &new);
    for threads in &mut rank.samples.of {
        map_sorted(&mut threads.times, |at| &mut at.region, &new);
    }
    for off_core in rank.samples.off_core.iter_mut() {
        map_sorted(&mut off_core.places, |at| &mut at.0, &new);
    }
    for pool in &mut rank.pools {
        map_sorted(&mut pool.times, |at| &mut at.region, &new);
    }
}

type RegionOfKey<K> = fn(&mut K) -> &mut RegionIdx;

/// Replaces the regions in a list that is not sorted by region, like [`map_regions`].
fn map_keys<K, T>(list: &mut Vec<(K, T)>, region: RegionOfKey<K>, new: &impl Fn(RegionIdx) -> Option<RegionIdx>) {
    list.retain_mut(|(key, _)| {
        let region = region(key);
        new(*region).inspect(|new| *region = *new).is_some()
    });
}

fn map_sorted<K: Copy + Ord, T>(
    list: &mut Vec<(K, T)>,
    region: RegionOfKey<K>,
    new: &impl Fn(RegionIdx) -> Option<RegionIdx>,
) {
    map_keys(list, region, new);
    list.sort_by_key(|&(key, _)| key);
}

/// Sorts a table by `key`. Also returns the new index of each old one.
pub(super) fn sort_table<T, K: Ord>(table: Vec<T>, key: impl Fn(&T) -> K) -> (Vec<T>, Vec<u32>) {
    let mut order: Vec<(usize, T)> = table.into_iter().enumerate().collect();
    order.sort_by_cached_key(|(_, one)| key(one));
    let mut numbers = vec![0; order.len()];
    for (new, (old, _)) in order.iter().enumerate() {
        numbers[*old] = new as u32;
    }
    (order.into_iter().map(|(_, one)| one).collect(), numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ranks::samples::{CpuTime, SampledAt};
    use crate::model::ranks::thread_pools::SampledPool;
    use lbprof_collector::Activity;

    #[test]
    fn new_numbers_of_regions_reach_the_pools() {
        let at = |region| SampledAt { region, activity: Activity::Computation, node: 0 };
        let times = [1, 2, 3].map(|region| (at(region), CpuTime { samples: u64::from(region), ..CpuTime::default() }));
        let pools = vec![SampledPool { times: times.to_vec(), ..SampledPool::default() }];
        let mut rank = RankModel { pools, ..RankModel::default() };
        map_regions(&mut rank, |region| [Some(0), Some(2), Some(1), None][region as usize]);
        let regions: Vec<(RegionIdx, u64)> =
            rank.pools[0].times.iter().map(|(at, time)| (at.region, time.samples)).collect();
        assert_eq!(regions, [(1, 2), (2, 1)], "sorted; a region that is left out is gone");
    }
}
