//! Finds a region of a model by its name, and makes a model of this region alone.

use std::collections::BTreeSet;

use lbprof_collector::Activity;
use wildmatch::WildMatch;

use super::SelectionError;
use super::names::{similar_names, some_of};
use crate::model::code::loops::NoLoopReason;
use crate::model::ranks::lifetime::ProcessLifetime;
use crate::model::replayed::what_if::WhatIfScenario;
use crate::model::{Model, RankModel, Region, RegionIdx};
use crate::profile::tables::map_regions;

/// Finds the region that `name`, the value of `option`, names: by its path, by the end of its path, by a pattern of either in which `*` and `?`
/// stand for any characters and any one, or by the start of its own name. The first of these that fits any region counts.
///
/// Errors: no region fits, or several do.
pub fn find_region(model: &Model, option: &'static str, name: &str) -> Result<RegionIdx, SelectionError> {
    let is_pattern = name.contains(['*', '?']);
    let (whole, end) = (WildMatch::new(name), WildMatch::new(&format!("*/{name}")));
    let fits: [&dyn Fn(&Region) -> bool; 4] = [
        &|region| region.path == name,
        &|region| region.path.strip_suffix(name).is_some_and(|head| head.ends_with('/')),
        &|region| is_pattern && (whole.matches(&region.path) || end.matches(&region.path)),
        &|region| !name.is_empty() && region.name.starts_with(name),
    ];
    for fits in fits {
        let found: Vec<(RegionIdx, &Region)> = (0..).zip(&model.regions).filter(|(_, region)| fits(region)).collect();
        match found.as_slice() {
            [] => {}
            [(one, _)] => return Ok(*one),
            several => {
                let regions = some_of(several.iter().map(|(_, region)| region.path.as_str()));
                return Err(SelectionError::Ambiguous { option, name: name.to_owned(), regions });
            }
        }
    }
    // Names of regions are easier to tell apart than their paths; each stands for its paths.
    let names: BTreeSet<&str> = model.regions.iter().map(|region| region.name.as_str()).collect();
    let own_name = name.rsplit('/').find(|part| !part.is_empty()).unwrap_or(name);
    let like = similar_names(own_name.trim_matches(['*', '?']), names.into_iter());
    let like = some_of(like.iter().flat_map(|name| {
        let name = (*name).to_owned();
        model.regions.iter().filter(move |region| region.name == name).map(|region| region.path.as_str())
    }));
    let regions = match like.is_empty() {
        true => format!("there are {}", some_of(model.regions.iter().map(|region| region.path.as_str()))),
        false => format!("did you mean {like}?"),
    };
    Err(SelectionError::NoRegion { option, name: name.to_owned(), regions })
}

/// Returns the model of `region` alone, as if the ranks did nothing else. It is the outermost region. Each rank's window is the time that it
/// spends in the region, all invocations and inner regions together, and all windows begin together. So the elapsed time is the longest
/// time of a rank in the region, and the difference to it is the idle time of the others.
///
/// Records, dropped records and the ends of ranks are taken over from the whole model. Usage and concurrency are not known for a region. Wait
/// states and predictions of the whole run stay.
pub fn model_of_region(mut model: Model, region: RegionIdx) -> Model {
    if region == 0 {
        return model;
    }
    let inside = RegionSubtree::new(&model, region);
    let kept: Vec<Vec<_>> = inside.old.iter().filter_map(|&old| model.slowest.get(old as usize)).cloned().collect();
    let regions: Vec<Region> = inside.old.iter().filter_map(|&old| inside.region(&model, old)).collect();
    model.facts.selected.region = regions.first().map(|region| region.path.clone());
    (model.regions, model.slowest) = (regions, kept);
    model.joined = std::mem::take(&mut model.joined)
        .into_iter()
        .filter_map(|(idx, joined)| Some((inside.index(idx)?, joined)))
        .collect();
    for rank in model.ranks.iter_mut() {
        inside.narrow(rank);
    }
    let lines = std::mem::take(&mut model.lines).into_iter();
    model.lines =
        lines.filter_map(|((whose, idx, leaf), times)| Some(((whose, inside.index(idx)?, leaf), times))).collect();
    model.outermost_iterated = (0..model.regions.len() as RegionIdx)
        .filter(|&idx| {
            let Region { iterated, parent, .. } = model.regions[idx as usize];
            iterated && (idx == 0 || !model.chain(parent).iter().any(|&around| model.regions[around as usize].iterated))
        })
        .collect();
    model.alone = None;
    if let Some(followed) = &mut model.followed {
        let replays = std::mem::take(&mut followed.scenario_times).into_iter();
        followed
            .scenario_times
            .extend(replays.filter_map(|(scenario, time_s)| Some((inside.scenario(scenario)?, time_s))));
    }
    model.asked = model.asked.iter().filter_map(|&scenario| inside.scenario(scenario)).collect();
    (model.loops, model.without_loop) = (Vec::new(), NoLoopReason::Nothing);
    model
}

struct RegionSubtree {
    /// Indices in the whole model, ascending.
    old: Vec<RegionIdx>,
}

impl RegionSubtree {
    fn new(model: &Model, region: RegionIdx) -> Self {
        let all = 0..model.regions.len() as RegionIdx;
        RegionSubtree { old: all.filter(|&idx| model.chain(idx).contains(&region)).collect() }
    }

    /// Returns the new index of a region of the whole model, or `None` outside.
    fn index(&self, old: RegionIdx) -> Option<RegionIdx> {
        self.old.binary_search(&old).ok().map(|new| new as RegionIdx)
    }

    fn region(&self, model: &Model, old: RegionIdx) -> Option<Region> {
        let region = model.regions.get(old as usize)?.clone();
        Some(match self.index(region.parent) {
            Some(parent) => Region { parent, ..region },
            // The name of the outermost one is its whole path.
            None => Region { parent: 0, name: region.path.clone(), ..region },
        })
    }

    /// Returns a scenario with the new index of its region, or `None` if the region lies outside.
    fn scenario(&self, scenario: WhatIfScenario) -> Option<WhatIfScenario> {
        Some(match scenario {
            WhatIfScenario::Balanced(region) => WhatIfScenario::Balanced(self.index(region)?),
            WhatIfScenario::BalancedEach(region) => WhatIfScenario::BalancedEach(self.index(region)?),
            WhatIfScenario::Faster(region, times) => WhatIfScenario::Faster(self.index(region)?, times),
            other => other,
        })
    }

    fn narrow(&self, rank: &mut RankModel) {
        map_regions(rank, |idx| self.index(idx));
        for threads in rank.samples.of.iter_mut().filter(|threads| threads.times.is_empty()) {
            threads.threads = 0;
        }
        if rank.inclusive.first().is_none_or(|&(idx, _)| idx != 0) {
            rank.inclusive.insert(0, (0, Default::default()));
        }
        (rank.begin_s, rank.end_s) = (0.0, rank.inclusive(0).iter().sum());
        rank.paused_s = 0.0;
        let calls = rank.sites.iter().chain(&rank.other_sites).map(|(_, cell)| cell.calls);
        rank.calls = calls.fold(0, u64::saturating_add);
        let of_others = rank.other_sites.iter().filter(|(key, _)| key.activity != Activity::Recorder);
        rank.other_threads_mpi_s = of_others.map(|(_, cell)| cell.seconds).sum();
        rank.other_threads = if rank.other_sites.is_empty() { 0 } else { rank.other_threads };
        rank.usage = None;
        rank.lifetime = ProcessLifetime::default();
    }
}
