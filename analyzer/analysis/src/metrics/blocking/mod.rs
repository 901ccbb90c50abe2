//! Blocking and its causes, summed up ("Causes of Blocking Overhead in Message-Passing Programs" (2003), §§3–4; docs/metrics.md §4).
//!
//! Waits lie in the selected part of a run; their causes may lie outside of it. So ranks are identified by their numbers, and regions belong to
//! the whole run, [`ReplayResults::regions`].

mod class;
mod own;
mod phases;

use std::collections::BTreeMap;

use lbprof_collector::Activity;
use lbprof_collector::record::NONE;
use serde::Serialize;

pub use self::class::{CauseClass, WaitsByClass};
use self::own::OwnTimes;
pub use self::phases::PhaseCost;
use super::spread::imbalance::ImbalanceSplit;
use crate::model::code::region_state::RegionState;
use crate::model::replayed::replay_results::ReplayResults;
use crate::model::replayed::waits::{WaitCall, WaitState};
use crate::model::{Model, RegionIdx};

/// A cause of waiting: what a rank did.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitCause {
    /// The rank.
    pub rank: u32,
    /// The region.
    #[serde(skip)]
    pub region: RegionIdx,
    /// The activity there; `None`: a message's delay, or time of which nothing is known.
    #[serde(skip)]
    pub activity: Option<Activity>,
    /// Its name, or the state of computation if that was recorded.
    #[serde(skip)]
    pub state: Option<&'static str>,
    /// The class of the cause.
    pub class: CauseClass,
    /// Waiting that it causes.
    pub caused_s: f64,
    /// Own time in the selected part, without waiting; null for a message's delay, and for anything outside of the part.
    pub own_s: Option<f64>,
    /// The call in which the rank spends most of that time in communication: index of the call site, where it is known, and number of the
    /// operation. `None`: it is no communication, or not in the selected part.
    #[serde(skip)]
    pub call: Option<(Option<u32>, u16)>,
}

/// Waits of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StateTimes {
    /// Number of waits.
    pub count: u64,
    /// Time until the awaited event.
    pub waiting_s: f64,
    /// Time from then until its message had arrived.
    pub delay_s: f64,
}

impl StateTimes {
    /// Both together.
    pub fn blocked_s(&self) -> f64 {
        self.waiting_s + self.delay_s
    }
}

/// A place where ranks wait.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitPlace {
    /// Index of the call site.
    pub site: Option<u32>,
    /// Number of the operation.
    pub operation: u16,
    /// The region.
    pub region: RegionIdx,
    /// Why.
    pub state: WaitState,
    /// Waiting time, summed over ranks.
    pub times: StateTimes,
    /// Waiting time by world rank.
    pub ranks: BTreeMap<u32, StateTimes>,
}

type WaitSite = (Option<u32>, u16, RegionIdx, WaitState);

/// Waiting of the ranks, and what it is caused by.
#[derive(Clone, Debug, Default)]
pub struct BlockingSums {
    /// Seconds of all waiting.
    pub total_s: f64,
    /// By class.
    pub by_class: WaitsByClass,
    /// The causes, the largest first.
    pub causes: Vec<WaitCause>,
    /// The phases, the most expensive first.
    pub phases: Vec<PhaseCost>,
    /// By why ranks wait.
    pub states: BTreeMap<WaitState, StateTimes>,
    /// The places where ranks wait, starting with the longest wait.
    pub places: Vec<WaitPlace>,
    /// Seconds that each rank waits, and seconds of waiting that each causes; by world rank, of those that do.
    pub waits_s: BTreeMap<u32, f64>,
    /// See above.
    pub causes_s: BTreeMap<u32, f64>,
    /// Seconds that the first rank waits because of the second, by world ranks; the longest first.
    pub pairs: Vec<(u32, u32, f64)>,
}

impl BlockingSums {
    /// Returns a part of all waiting as a share; 0 if no rank waits.
    pub fn share(&self, part_s: f64) -> f64 {
        if self.total_s > 0.0 { part_s / self.total_s } else { 0.0 }
    }

    /// The classes as shares of all waiting.
    pub fn by_class_share(&self) -> WaitsByClass {
        self.by_class.map(|part_s| self.share(part_s))
    }
}

/// Sums up what `followed` found in `model`, whose waiting from imbalance splits as `split` says.
pub fn blocking_sums(model: &Model, followed: &ReplayResults, split: &ImbalanceSplit) -> BlockingSums {
    let mut sums = BlockingSums { pairs: waiting_pairs(followed), ..BlockingSums::default() };
    sums.add_waits(followed);
    let mut caused: BTreeMap<(u32, RegionState), f64> = BTreeMap::new();
    for (&(thread, kind), ns) in &followed.blocking.causes {
        *caused.entry((followed.world_rank(thread), kind)).or_default() += ns * 1e-9;
    }
    let own = OwnTimes::new(model, followed);
    for (&(rank, kind), &caused_s) in &caused {
        let class = CauseClass::classify(&followed.regions, kind);
        sums.by_class.add(class, caused_s);
        *sums.causes_s.entry(rank).or_default() += caused_s;
        let (region, activity) = (kind.region(), kind.activity());
        let own_s = activity.and_then(|_| own.seconds(rank, kind));
        let call = own.call(rank, kind).filter(|_| class == CauseClass::Communication);
        sums.causes.push(WaitCause { rank, region, activity, state: kind.name(), class, caused_s, own_s, call });
    }
    sums.causes.sort_by(|a, b| b.caused_s.total_cmp(&a.caused_s));
    sums.by_class.split(split);
    sums.phases = phases::phase_costs(&followed.regions, &own, &caused);
    sums
}

/// Seconds that the first rank waits because of the second, by world ranks; the longest first.
pub fn waiting_pairs(followed: &ReplayResults) -> Vec<(u32, u32, f64)> {
    let mut pairs: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for (&(waits, causes), ns) in &followed.blocking.pairs {
        *pairs.entry((followed.world_rank(waits), followed.world_rank(causes))).or_default() += ns * 1e-9;
    }
    let mut pairs: Vec<_> = pairs.into_iter().map(|((waits, causes), seconds)| (waits, causes, seconds)).collect();
    pairs.sort_by(|a, b| b.2.total_cmp(&a.2));
    pairs
}

impl BlockingSums {
    fn add_waits(&mut self, followed: &ReplayResults) {
        let mut places: BTreeMap<WaitSite, BTreeMap<u32, StateTimes>> = BTreeMap::new();
        for (key, wait) in &followed.blocking.waits {
            let (waiting_s, delay_s) = (wait.waiting as f64 * 1e-9, wait.delay as f64 * 1e-9);
            let (rank, times) = (followed.world_rank(key.thread), StateTimes { count: wait.count, waiting_s, delay_s });
            let site = (key.site != NONE).then_some(key.site);
            self.states.entry(key.state).or_default().add(&times);
            let place = places.entry((site, key.operation, key.kind.region(), key.state)).or_default();
            place.entry(rank).or_default().add(&times);
            self.total_s += times.blocked_s();
            *self.waits_s.entry(rank).or_default() += times.blocked_s();
        }
        for ((site, operation, region, state), ranks) in places {
            let mut times = StateTimes::default();
            for rank_times in ranks.values() {
                times.add(rank_times);
            }
            self.places.push(WaitPlace { site, operation, region, state, times, ranks });
        }
        self.places.sort_by(|a, b| b.times.blocked_s().total_cmp(&a.times.blocked_s()));
    }
}

impl StateTimes {
    /// Adds others.
    pub fn add(&mut self, other: &StateTimes) {
        self.count += other.count;
        self.waiting_s += other.waiting_s;
        self.delay_s += other.delay_s;
    }
}

/// Returns the calls in which ranks wait because of the kinds of time that are meant, each with its fraction of that waiting. `place` gives the call
/// site that stands for all of one place. Empty if no rank waits for them.
pub fn waited_because_of(
    followed: &ReplayResults,
    is_meant: impl Fn(RegionState) -> bool,
    place: impl Fn(u32) -> u32,
) -> BTreeMap<WaitCall, f64> {
    let mut sites: BTreeMap<WaitCall, f64> = BTreeMap::new();
    for (&(call, _), ns) in followed.blocking.places.iter().filter(|((_, kind), _)| is_meant(*kind)) {
        let site = if call.site == NONE { NONE } else { place(call.site) };
        *sites.entry(WaitCall { site, ..call }).or_default() += ns;
    }
    let all: f64 = sites.values().sum();
    sites.retain(|_, part| *part > 0.0);
    for part in sites.values_mut() {
        *part /= all;
    }
    sites
}
