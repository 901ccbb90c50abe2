//! Names that several ranks share, each once, and the numbers that stand for them.

use std::collections::{BTreeMap, HashMap};

use bincode::{Decode, Encode};

use super::lines::LineTimes;
use crate::model::samples::SampledLine;
use crate::model::{Communicator, RankModel, Region, RegionIdx, chain};
use crate::read::definitions::{WHOLE_PROGRAM, path_part};

/// Names that several ranks share, each once.
#[derive(Encode, Decode)]
pub(super) struct SharedTables {
    /// The first is the whole program.
    pub(super) regions: Vec<Region>,
    /// By the region around it and its name.
    pub(super) regions_by_name: HashMap<(RegionIdx, String), RegionIdx>,
    /// Bytes of all regions' paths.
    pub(super) path_bytes: usize,
    pub(super) counters: Vec<String>,
    pub(super) counters_by_name: HashMap<String, u32>,
    pub(super) communicators: BTreeMap<u64, Communicator>,
}

/// Most bytes of all regions' paths: thousands of regions have a few hundred thousand. Nested regions with long names, which a
/// small log can define, would take without a bound what memory there is.
const MAX_PATH_BYTES: usize = 64 << 20;

impl Default for SharedTables {
    fn default() -> Self {
        SharedTables {
            regions: vec![Region::marked(WHOLE_PROGRAM)],
            regions_by_name: HashMap::new(),
            path_bytes: 0,
            counters: Vec::new(),
            counters_by_name: HashMap::new(),
            communicators: BTreeMap::new(),
        }
    }
}

impl SharedTables {
    /// The region of this name within `parent`; `None`: there are too many.
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
        chain(&self.regions, region)
    }

    pub(super) fn in_iterated(&self, region: RegionIdx) -> bool {
        self.chain(region).iter().any(|&idx| self.regions[idx as usize].iterated)
    }

    pub(super) fn counter(&mut self, name: &str) -> u32 {
        *self.counters_by_name.entry(name.to_owned()).or_insert_with(|| {
            self.counters.push(name.to_owned());
            self.counters.len() as u32 - 1
        })
    }
}

/// New indices of what a part refers to.
pub(super) struct TableRenumbering {
    pub(super) regions: Vec<RegionIdx>,
    pub(super) counters: Vec<u32>,
}

impl TableRenumbering {
    pub(super) fn apply(&self, rank: &mut RankModel) {
        for ((idx, _), _) in rank.cells.iter_mut() {
            self.renumber(idx);
        }
        rank.cells.sort_by_key(|&(key, _)| key);
        self.renumber_all(&mut rank.inclusive);
        self.renumber_all(&mut rank.in_iterations);
        self.renumber_all(&mut rank.totals);
        for (part, _) in rank.iterations.iter_mut().flat_map(|(_, series)| &mut series.parts) {
            self.renumber(part);
        }
        self.renumber_all(&mut rank.iterations);
        for ((idx, counter), _) in &mut rank.counters {
            self.renumber(idx);
            *counter = self.counters[*counter as usize];
        }
        rank.counters.sort_by_key(|&(key, _)| key);
        for sites in [&mut rank.sites, &mut rank.other_sites] {
            for (key, _) in sites.iter_mut() {
                self.renumber(&mut key.region);
            }
            sites.sort_by_key(|&(key, _)| key);
        }
        let of_threads = rank.samples.of.iter_mut().map(|threads| &mut threads.times);
        for times in of_threads.chain(rank.pools.iter_mut().map(|pool| &mut pool.times)) {
            for (at, _) in times.iter_mut() {
                self.renumber(&mut at.region);
            }
            times.sort_by_key(|&(at, _)| at);
        }
        for off_core in rank.samples.off_core.iter_mut() {
            for ((region, ..), _) in &mut off_core.places {
                self.renumber(region);
            }
            off_core.places.sort_by_key(|&(at, _)| at);
        }
    }

    fn renumber_all<T>(&self, by_region: &mut [(RegionIdx, T)]) {
        for (region, _) in by_region.iter_mut() {
            self.renumber(region);
        }
        by_region.sort_by_key(|&(region, _)| region);
    }

    fn renumber(&self, region: &mut RegionIdx) {
        *region = self.regions[*region as usize];
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

/// Sorts a table by `key`; also the new index of each old one.
pub(super) fn sorted<T, K: Ord>(table: Vec<T>, key: impl Fn(&T) -> K) -> (Vec<T>, Vec<u32>) {
    let mut order: Vec<(usize, T)> = table.into_iter().enumerate().collect();
    order.sort_by_cached_key(|(_, one)| key(one));
    let mut numbers = vec![0; order.len()];
    for (new, (old, _)) in order.iter().enumerate() {
        numbers[*old] = new as u32;
    }
    (order.into_iter().map(|(_, one)| one).collect(), numbers)
}
