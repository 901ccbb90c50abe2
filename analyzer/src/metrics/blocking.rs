//! Blocking and its causes, summed up ("Causes of Blocking Overhead in Message-Passing Programs" (2003), §§3–4; METRICS §4).

use std::collections::BTreeMap;

use lbprof_collector::Activity;
use lbprof_collector::definition::RegionKind;

use super::imbalance::ImbalanceSplit;
use crate::blocking::WaitState;
use crate::follow::Followed;
use crate::model::{Model, RegionIdx};
use crate::timeline::Kind;

/// What waiting is caused by (§3.2 of the paper).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Time in communication that is no waiting itself.
    Communication,
    /// Messages on their way.
    MessageDelay,
    /// Computation that only parallel work needs.
    Control,
    /// Useful or serial work.
    Imbalance,
    /// The recorder's own work, and time of which no record tells: not the program's.
    Recorder,
}

impl Class {
    /// That of a kind of time in `model`.
    pub fn of(model: &Model, kind: Kind) -> Class {
        let region = model.regions.get(kind.region() as usize).map(|region| region.kind);
        match kind.activity() {
            _ if kind.is_delay() => Class::MessageDelay,
            None | Some(Activity::Recorder) => Class::Recorder,
            Some(Activity::Computation) if region == Some(RegionKind::Control) => Class::Control,
            Some(Activity::Computation) => Class::Imbalance,
            Some(_) => Class::Communication,
        }
    }

    /// The name in reports and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Class::Communication => "communication",
            Class::MessageDelay => "message delay",
            Class::Control => "control of parallelism",
            Class::Imbalance => "workload imbalance",
            Class::Recorder => "recorder",
        }
    }
}

/// Seconds of waiting by what they are caused by. They sum to all waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ByClass {
    /// Communication.
    pub communication_s: f64,
    /// Message delay.
    pub message_delay_s: f64,
    /// Control of parallelism.
    pub control_s: f64,
    /// Workload imbalance, in three parts: while one rank works alone,
    pub amdahl_s: f64,
    /// because some ranks have more to do than others in all,
    pub global_s: f64,
    /// and because now one, now another has more to do.
    pub temporal_s: f64,
    /// The recorder.
    pub recorder_s: f64,
}

/// A cause of waiting: what a rank did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cause {
    /// Place of the rank in the model.
    pub rank: u32,
    /// The region.
    pub region: RegionIdx,
    /// What it did there; `None`: a message's delay, or time of which nothing is known.
    pub activity: Option<Activity>,
    /// Its class.
    pub class: Class,
    /// Seconds of waiting that it caused, on all ranks together.
    pub caused_s: f64,
    /// Seconds that it took itself, without waiting; `None` for a message's delay.
    pub own_s: Option<f64>,
}

/// A phase of the program, all ranks together, and the waiting that it causes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseCost {
    /// The region.
    pub region: RegionIdx,
    /// The class of what is done in it.
    pub class: Class,
    /// Seconds that it takes itself, without waiting; of message delays the communication in the region.
    pub own_s: f64,
    /// Seconds of waiting that it causes.
    pub caused_s: f64,
}

impl PhaseCost {
    /// β: waiting caused for each second of the phase (eq. 7); `None` where it takes no time.
    pub fn beta(&self) -> Option<f64> {
        (self.own_s > 0.0).then(|| self.caused_s / self.own_s)
    }

    /// What it costs in all: own time and waiting that it causes.
    pub fn total_s(&self) -> f64 {
        let own = if self.class == Class::MessageDelay { 0.0 } else { self.own_s };
        own + self.caused_s
    }
}

/// Waits of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StateTimes {
    /// How often.
    pub count: u64,
    /// Seconds until what was waited for was done.
    pub waiting_s: f64,
    /// Seconds from then until its message had arrived.
    pub delay_s: f64,
}

impl StateTimes {
    /// Both together.
    pub fn blocked_s(&self) -> f64 {
        self.waiting_s + self.delay_s
    }
}

/// A place where ranks wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaitPlace {
    /// Index of the call site.
    pub site: Option<u32>,
    /// Number of the operation.
    pub operation: u16,
    /// The region.
    pub region: RegionIdx,
    /// Why.
    pub state: WaitState,
    /// How long, all ranks together.
    pub times: StateTimes,
}

/// Waiting of the ranks' first threads, and what it is caused by.
#[derive(Clone, Debug, Default)]
pub struct BlockingSums {
    /// Seconds of all waiting.
    pub total_s: f64,
    /// By class.
    pub by_class: ByClass,
    /// The causes, the largest first.
    pub causes: Vec<Cause>,
    /// The phases, the most expensive first.
    pub phases: Vec<PhaseCost>,
    /// By why ranks wait.
    pub states: BTreeMap<WaitState, StateTimes>,
    /// Where ranks wait, the longest first.
    pub places: Vec<WaitPlace>,
    /// Seconds that each rank waits, and seconds of waiting that each causes; by place in the model.
    pub waits_s: Vec<f64>,
    /// See above.
    pub causes_s: Vec<f64>,
    /// Seconds that the first rank waits because of the second, both by place in the model; the longest first.
    pub pairs: Vec<(u32, u32, f64)>,
}

/// Sums up what `followed` found in `model`, whose waiting from imbalance splits as `split` says.
pub fn sums(model: &Model, followed: &Followed, split: &ImbalanceSplit) -> BlockingSums {
    let mut sums = BlockingSums {
        waits_s: vec![0.0; model.ranks.len()],
        causes_s: vec![0.0; model.ranks.len()],
        ..BlockingSums::default()
    };
    let rank_of = |thread: u32| followed.threads.get(thread as usize).map_or(0, |thread| thread.rank);
    let mut blocked: BTreeMap<(u32, Kind), f64> = BTreeMap::new();
    let mut places: BTreeMap<(Option<u32>, u16, RegionIdx, WaitState), StateTimes> = BTreeMap::new();
    for (key, wait) in &followed.blocking.waits {
        let times =
            StateTimes { count: wait.count, waiting_s: wait.waiting as f64 * 1e-9, delay_s: wait.delay as f64 * 1e-9 };
        let site = (key.site != lbprof_collector::record::NONE).then_some(key.site);
        sums.states.entry(key.state).or_default().add(&times);
        places.entry((site, key.operation, key.kind.region(), key.state)).or_default().add(&times);
        sums.total_s += times.blocked_s();
        if let Some(rank) = sums.waits_s.get_mut(rank_of(key.thread) as usize) {
            *rank += times.blocked_s();
        }
        *blocked.entry((rank_of(key.thread), key.kind)).or_default() += times.blocked_s();
    }
    sums.places = places
        .into_iter()
        .map(|((site, operation, region, state), times)| WaitPlace { site, operation, region, state, times })
        .collect();
    sums.places.sort_by(|a, b| b.times.blocked_s().total_cmp(&a.times.blocked_s()));
    let mut pairs: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for (&(waits, causes), ns) in &followed.blocking.pairs {
        *pairs.entry((rank_of(waits), rank_of(causes))).or_default() += ns * 1e-9;
    }
    sums.pairs = pairs.into_iter().map(|((waits, causes), seconds)| (waits, causes, seconds)).collect();
    sums.pairs.sort_by(|a, b| b.2.total_cmp(&a.2));
    let mut caused: BTreeMap<(u32, Kind), f64> = BTreeMap::new();
    for (&(thread, kind), ns) in &followed.blocking.causes {
        *caused.entry((rank_of(thread), kind)).or_default() += ns * 1e-9;
    }
    let own = |rank: u32, kind: Kind| {
        let activity = kind.activity()?;
        let time_s = model.ranks.get(rank as usize).map_or(0.0, |one| one.exclusive(kind.region())[activity as usize]);
        Some((time_s - blocked.get(&(rank, kind)).copied().unwrap_or(0.0)).max(0.0))
    };
    for (&(rank, kind), &caused_s) in &caused {
        let class = Class::of(model, kind);
        sums.by_class.add(class, caused_s);
        if let Some(all) = sums.causes_s.get_mut(rank as usize) {
            *all += caused_s;
        }
        let (region, activity) = (kind.region(), kind.activity());
        sums.causes.push(Cause { rank, region, activity, class, caused_s, own_s: own(rank, kind) });
    }
    sums.causes.sort_by(|a, b| b.caused_s.total_cmp(&a.caused_s));
    sums.by_class.split(split);
    sums.phases = phases(model, &blocked, &caused);
    sums
}

impl StateTimes {
    /// Adds others.
    pub(crate) fn add(&mut self, other: &StateTimes) {
        self.count += other.count;
        self.waiting_s += other.waiting_s;
        self.delay_s += other.delay_s;
    }
}

impl ByClass {
    fn add(&mut self, class: Class, seconds: f64) {
        *match class {
            Class::Communication => &mut self.communication_s,
            Class::MessageDelay => &mut self.message_delay_s,
            Class::Control => &mut self.control_s,
            Class::Imbalance => &mut self.temporal_s,
            Class::Recorder => &mut self.recorder_s,
        } += seconds;
    }

    /// Splits what is caused by workload imbalance, which is all in `temporal_s`, in the three parts of METRICS §3: as much as one rank
    /// works alone, then as much as follows from the ranks' sums, then the rest.
    fn split(&mut self, split: &ImbalanceSplit) {
        let all = self.temporal_s;
        self.amdahl_s = split.amdahl_s.unwrap_or(0.0).min(all);
        self.global_s = split.global_s.min(all - self.amdahl_s);
        self.temporal_s = all - self.amdahl_s - self.global_s;
    }

    /// All classes together.
    pub fn total_s(&self) -> f64 {
        let imbalance = self.amdahl_s + self.global_s + self.temporal_s;
        self.communication_s + self.message_delay_s + self.control_s + imbalance + self.recorder_s
    }
}

/// The phases: region and class, all ranks together.
fn phases(model: &Model, blocked: &BTreeMap<(u32, Kind), f64>, caused: &BTreeMap<(u32, Kind), f64>) -> Vec<PhaseCost> {
    let mut phases: BTreeMap<(RegionIdx, Class), (f64, f64)> = BTreeMap::new();
    for (rank, one) in (0..).zip(&model.ranks) {
        for &((region, activity), cell) in &one.cells {
            let kind = Kind::new(region, activity);
            let own_s = (cell.seconds - blocked.get(&(rank, kind)).copied().unwrap_or(0.0)).max(0.0);
            phases.entry((region, Class::of(model, kind))).or_default().0 += own_s;
        }
    }
    for (&(_, kind), &caused_s) in caused {
        phases.entry((kind.region(), Class::of(model, kind))).or_default().1 += caused_s;
    }
    let communication = |region| phases.get(&(region, Class::Communication)).map_or(0.0, |phase| phase.0);
    let mut costs: Vec<PhaseCost> = phases
        .iter()
        .map(|(&(region, class), &(own_s, caused_s))| {
            let own_s = if class == Class::MessageDelay { communication(region) } else { own_s };
            PhaseCost { region, class, own_s, caused_s }
        })
        .collect();
    costs.sort_by(|a, b| b.total_s().total_cmp(&a.total_s()).then((a.region, a.class).cmp(&(b.region, b.class))));
    costs
}

/// The call site and operation at which ranks wait longest because of the rank at a place in the model; `None` where nobody does.
///
/// Who waits for whom is known, and who waits where: a rank's waits because of another are taken to lie where it waits in all.
pub fn waited_because_of(followed: &Followed, rank: u32) -> Option<(u32, u16)> {
    let rank_of = |thread: u32| followed.threads.get(thread as usize).map(|thread| thread.rank);
    let mut all_ns: BTreeMap<u32, f64> = BTreeMap::new();
    for (key, wait) in &followed.blocking.waits {
        *all_ns.entry(key.thread).or_default() += (wait.waiting + wait.delay) as f64;
    }
    let mut because_ns: BTreeMap<u32, f64> = BTreeMap::new();
    for (&(waits, causes), ns) in &followed.blocking.pairs {
        if rank_of(causes) == Some(rank) {
            *because_ns.entry(waits).or_default() += ns;
        }
    }
    let mut sites: BTreeMap<(u32, u16), f64> = BTreeMap::new();
    for (key, wait) in followed.blocking.waits.iter().filter(|(key, _)| key.site != lbprof_collector::record::NONE) {
        let all = all_ns.get(&key.thread).copied().filter(|ns| *ns > 0.0);
        let share = all.map_or(0.0, |all| because_ns.get(&key.thread).copied().unwrap_or(0.0) / all);
        *sites.entry((key.site, key.operation)).or_default() += share * (wait.waiting + wait.delay) as f64;
    }
    let longest = sites.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))?;
    (longest.1 > 0.0).then_some(longest.0)
}
