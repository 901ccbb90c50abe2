//! Selects one region of a model: found by its name, and as a model of its own.

use std::collections::BTreeSet;

use lbprof_collector::Activity;
use wildmatch::WildMatch;

use super::SelectionError;
use super::names::{near, some_of};
use crate::model::lifetime::ProcessLifetime;
use crate::model::loops::NoLoopReason;
use crate::model::samples::SampledAt;
use crate::model::what_if::WhatIfScenario;
use crate::model::{CallTotals, Model, RankModel, Region, RegionIdx, SiteTotalsKey};

/// The region of `model` that the value of --region names.
///
/// Errors: no region fits, or several do.
pub fn find(model: &Model, name: &str) -> Result<RegionIdx, SelectionError> {
    find_option_value(model, "--region", name)
}

/// The region of `model` that a scenario of --what-if names.
///
/// Errors: no region fits, or several do.
pub fn find_asked(model: &Model, name: &str) -> Result<RegionIdx, SelectionError> {
    find_option_value(model, "--what-if", name)
}

/// Finds the region that `name`, the value of `option`, names: by its path, by the end of its path, by a pattern of either in which `*` and `?`
/// stand for any characters and any one, or by the begin of its own name. The first of these that fits any region counts.
fn find_option_value(model: &Model, option: &'static str, name: &str) -> Result<RegionIdx, SelectionError> {
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
    // The names of regions show more than their paths, which are much alike; each stands for its paths.
    let names: BTreeSet<&str> = model.regions.iter().map(|region| region.name.as_str()).collect();
    let own_name = name.rsplit('/').find(|part| !part.is_empty()).unwrap_or(name);
    let like = near(own_name.trim_matches(['*', '?']), names.into_iter());
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

/// The model of `region` alone, as if the ranks did nothing else: it is the outermost region, and each rank's window is the time
/// that it spends in it, all invocations and inner regions together, beginning at once on all. So the elapsed time is the longest
/// that a rank spends in it, and what others spend less is their idle time.
///
/// Records, dropped ones and how ranks ended are those of the whole model; samples of usage and of who computes when are not known
/// of a region. Who waits for whom is known of the whole, and stays, as do predictions, which are of all of the run.
pub fn within(mut model: Model, region: RegionIdx) -> Model {
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

/// A region and those in it.
struct RegionSubtree {
    /// Indices in the whole model, ascending.
    old: Vec<RegionIdx>,
}

impl RegionSubtree {
    fn new(model: &Model, region: RegionIdx) -> Self {
        let all = 0..model.regions.len() as RegionIdx;
        RegionSubtree { old: all.filter(|&idx| model.chain(idx).contains(&region)).collect() }
    }

    /// The new index of a region of the whole model; `None` outside.
    fn index(&self, old: RegionIdx) -> Option<RegionIdx> {
        self.old.binary_search(&old).ok().map(|new| new as RegionIdx)
    }

    fn region(&self, model: &Model, old: RegionIdx) -> Option<Region> {
        let region = model.regions.get(old as usize)?.clone();
        Some(match self.index(region.parent) {
            Some(parent) => Region { parent, ..region },
            // Of the outermost one all of its path is its name.
            None => Region { parent: 0, name: region.path.clone(), ..region },
        })
    }

    /// A scenario with the new index of its region; `None` where that lies outside.
    fn scenario(&self, scenario: WhatIfScenario) -> Option<WhatIfScenario> {
        Some(match scenario {
            WhatIfScenario::Balanced(region) => WhatIfScenario::Balanced(self.index(region)?),
            WhatIfScenario::BalancedEach(region) => WhatIfScenario::BalancedEach(self.index(region)?),
            WhatIfScenario::Faster(region, times) => WhatIfScenario::Faster(self.index(region)?, times),
            other => other,
        })
    }

    fn kept<T>(&self, list: &mut Vec<(RegionIdx, T)>) {
        let all = std::mem::take(list).into_iter();
        list.extend(all.filter_map(|(idx, value)| Some((self.index(idx)?, value))));
    }

    fn kept_pairs<K, T>(&self, list: &mut Vec<((RegionIdx, K), T)>) {
        let all = std::mem::take(list).into_iter();
        list.extend(all.filter_map(|((idx, key), value)| Some(((self.index(idx)?, key), value))));
    }

    fn kept_sites(&self, list: &mut Vec<(SiteTotalsKey, CallTotals)>) {
        let all = std::mem::take(list).into_iter();
        list.extend(
            all.filter_map(|(key, cell)| Some((SiteTotalsKey { region: self.index(key.region)?, ..key }, cell))),
        );
    }

    fn narrow(&self, rank: &mut RankModel) {
        self.kept_pairs(&mut rank.cells);
        self.kept(&mut rank.inclusive);
        self.kept(&mut rank.in_iterations);
        self.kept(&mut rank.totals);
        self.kept(&mut rank.iterations);
        for (_, series) in &mut rank.iterations {
            self.kept(&mut series.parts);
        }
        self.kept_sites(&mut rank.sites);
        self.kept_sites(&mut rank.other_sites);
        self.kept_pairs(&mut rank.counters);
        self.kept(&mut rank.samples.recorder_by_region);
        for threads in &mut rank.samples.of {
            let all = std::mem::take(&mut threads.times).into_iter();
            threads
                .times
                .extend(all.filter_map(|(at, time)| Some((SampledAt { region: self.index(at.region)?, ..at }, time))));
            threads.threads = if threads.times.is_empty() { 0 } else { threads.threads };
        }
        for off_core in rank.samples.off_core.iter_mut() {
            let all = std::mem::take(&mut off_core.places).into_iter();
            let kept =
                all.filter_map(|((region, activity, state), s)| Some(((self.index(region)?, activity, state), s)));
            off_core.places = kept.collect();
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
