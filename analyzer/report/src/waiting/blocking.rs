//! Why ranks wait: where, for whom, caused by what.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use crate::fraction_of;
use crate::rows::bounds::{ListBounds, RowsLeftOut, first_entries};
use crate::rows::serial;
use lbprof_analysis::metrics::blocking::{BlockingSums, PhaseCost, StateTimes, WaitCause, WaitsByClass, blocking_sums};
use lbprof_analysis::metrics::spread::imbalance::ImbalanceSplit;
use lbprof_analysis::model::Model;
use lbprof_analysis::model::replayed::replay_results::{ReplayCounts, ReplayResults};
use lbprof_analysis::model::replayed::waits::WaitState;
use lbprof_analysis::profile::operation_name;
use lbprof_analysis::structure::code::symbols::{CodePlace, first_on_line};
use lbprof_collector::{Activity, Operation};
use lbprof_thresholds::verdict::MIN_WAITING_FOR_LOCKED_CODE;
use serde::{Serialize, Serializer};

const MOST_RANKS: usize = 16;

/// Waiting and its causes, with names.
#[derive(Clone, Debug, Serialize, crate::JsonSchema)]
pub struct BlockingTable {
    /// The ranks' time: ranks × elapsed time.
    pub ranks_time_s: f64,
    /// Waiting over that.
    pub share: f64,
    /// Waiting because of ranks that are not selected.
    pub not_selected_s: f64,
    /// The rank that causes most waiting; null if no rank waits.
    pub most_by: Option<CausingRank>,
    /// Waiting that is caused by code which runs while a rank holds a lock of a window that others wait for.
    #[serde(skip)]
    pub by_locked_code_s: f64,
    /// If a region is selected, the waiting in any region that is caused in it; else null.
    pub by_region: Option<CausedByRegion>,
    /// Sums over the ranks.
    #[serde(flatten, serialize_with = "serial::written_as::<_, BlockingFigures, _>")]
    #[schemars(with = "BlockingFigures")]
    pub sums: BlockingSums,
    /// The pairs of ranks that are not listed.
    pub pairs_left_out: RowsLeftOut,
    /// The activities of ranks that others wait for, the largest first; at most 1,000 unless `--full` is given.
    pub causes: Vec<CauseRow>,
    /// The causes that are not listed; `phases` has all of them by region and class.
    pub causes_left_out: RowsLeftOut,
    /// Waiting by region and class, summed over ranks, the most expensive first.
    pub phases: Vec<PhaseRow>,
    /// Waiting by call site, operation and region, the longest first.
    #[serde(rename = "waits")]
    pub places: Vec<WaitRow>,
    /// Numbers of calls that could be matched, and that could not.
    #[serde(rename = "matching")]
    pub counts: ReplayCounts,
}

/// The waiting, in any region, that a selected region causes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct CausedByRegion {
    /// Waiting of all ranks that is caused in the region, in all regions.
    pub caused_s: f64,
    /// Fraction of all waiting of the selected ranks and time.
    pub share: f64,
    /// The rank that causes most of it, and that over all of it; null if no rank waits.
    pub most_by: Option<CausingRank>,
}

impl CausedByRegion {
    /// Returns `None` if `model` is not restricted to a region.
    fn new(model: &Model, followed: &ReplayResults) -> Option<CausedByRegion> {
        model.facts.selected.region.as_ref()?;
        let (mut all_s, mut caused_s, mut by_rank) = (0.0, 0.0, BTreeMap::<u32, f64>::new());
        for (&(thread, state), &ns) in &followed.blocking.causes_in_any_region {
            all_s += ns * 1e-9;
            let Some(cause) = followed.regions.get(state.region() as usize) else { continue };
            if model.regions.iter().any(|region| region.path == cause.path) {
                caused_s += ns * 1e-9;
                *by_rank.entry(followed.world_rank(thread)).or_default() += ns * 1e-9;
            }
        }
        let most = by_rank.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|one| one.1 > 0.0);
        let most_by =
            most.map(|(rank, time_s)| CausingRank { rank, caused_s: time_s, share: fraction_of(time_s, caused_s) });
        Some(CausedByRegion { caused_s, share: fraction_of(caused_s, all_s), most_by })
    }
}

/// The waiting that a rank causes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct CausingRank {
    /// The rank.
    pub rank: u32,
    /// Waiting of all ranks that it causes.
    pub caused_s: f64,
    /// Fraction of all waiting.
    pub share: f64,
}

/// A cause of waiting.
#[derive(Clone, Debug, Serialize, crate::JsonSchema)]
pub struct CauseRow {
    /// Path of the region.
    pub region: String,
    /// For communication, `id` of the call site in which the rank spends most of that time, without waiting; null: not known, or no such call in the
    /// selected part.
    pub callsite: Option<u32>,
    /// The operation called there.
    pub operation: Option<String>,
    /// The rank's activity there, or `None`: a message's delay, or unknown.
    #[serde(skip)]
    pub activity: Option<Activity>,
    /// The rank's state there: an activity, or a state of computation that was recorded; null: a message's delay, or unknown.
    #[serde(rename = "activity")]
    pub state: Option<&'static str>,
    /// The cause and its cost.
    #[serde(flatten)]
    pub cause: WaitCause,
    /// `caused_s` over all waiting.
    pub share: f64,
    /// `caused_s` / `own_s`.
    pub beta: Option<f64>,
}

/// A phase.
#[derive(Clone, Debug, Serialize, crate::JsonSchema)]
pub struct PhaseRow {
    /// Path of the region.
    pub region: String,
    /// Its cost.
    #[serde(flatten)]
    pub cost: PhaseCost,
    /// β = `caused_s` / `own_s`.
    pub beta: Option<f64>,
    /// Cost in all: own time (not of message delays) and waiting caused.
    pub total_s: f64,
}

/// A place where ranks wait.
#[derive(Clone, Debug, Serialize, crate::JsonSchema)]
pub struct WaitRow {
    /// The place.
    #[serde(skip)]
    pub place: CodePlace,
    /// `id` of the call site.
    #[serde(rename = "callsite")]
    pub id: Option<u32>,
    /// The operation; empty outside of calls.
    pub operation: String,
    /// Path of the region.
    pub region: String,
    /// Why a rank waits.
    pub state: WaitState,
    /// Times by state.
    #[serde(flatten)]
    pub times: StateTimes,
    /// Blocked time: `waiting_s` + `delay_s`.
    pub blocked_s: f64,
    /// Fraction of all waiting.
    pub share: f64,
    /// Times by rank, of the ranks that wait longest there, 16 at most.
    #[serde(serialize_with = "longest_waiting")]
    #[schemars(with = "Vec<RankTimes>")]
    pub ranks: BTreeMap<u32, StateTimes>,
}

/// The figures of the sums, as they are written.
#[derive(Serialize, crate::JsonSchema)]
struct BlockingFigures<'a> {
    /// Time in which ranks could only wait.
    total_s: f64,
    /// Waiting by the class of its cause.
    by_class: &'a WaitsByClass,
    /// Fractions of all waiting, by the class of its cause.
    by_class_share: WaitsByClass,
    /// Waiting caused by imbalance: the five classes `imbalance_…` together.
    imbalance_s: f64,
    /// Fraction of all waiting.
    imbalance_share: f64,
    /// Waiting by why a rank waits.
    states: Vec<StateRow>,
    /// Pairs of a waiting rank and the rank that causes it, the longest first; at most 1,000 unless `--full` is given.
    pairs: Vec<PairRow>,
}

impl<'a> From<&'a BlockingSums> for BlockingFigures<'a> {
    fn from(sums: &'a BlockingSums) -> BlockingFigures<'a> {
        let pairs = sums.pairs.iter();
        BlockingFigures {
            total_s: sums.total_s,
            by_class: &sums.by_class,
            by_class_share: sums.by_class_share(),
            imbalance_s: sums.by_class.imbalance_s(),
            imbalance_share: sums.share(sums.by_class.imbalance_s()),
            states: sums
                .states
                .iter()
                .map(|(&state, &times)| {
                    let blocked_s = times.blocked_s();
                    StateRow { state, times, blocked_s, share: sums.share(blocked_s) }
                })
                .collect(),
            pairs: pairs
                .map(|&(waiting_rank, delay_source, time_s)| PairRow { waiting_rank, delay_source, time_s })
                .collect(),
        }
    }
}

/// Waiting for one reason.
#[derive(Serialize, crate::JsonSchema)]
struct StateRow {
    /// Why a rank waits.
    state: WaitState,
    /// Times by state.
    #[serde(flatten)]
    times: StateTimes,
    /// Blocked time: `waiting_s` + `delay_s`.
    blocked_s: f64,
    /// Fraction of all waiting.
    share: f64,
}

/// The time that one rank waits because of another.
#[derive(Serialize, crate::JsonSchema)]
struct PairRow {
    /// The rank that waits.
    waiting_rank: u32,
    /// The rank whose work, communication or message is the cause.
    delay_source: u32,
    /// Time that it waits because of that rank.
    time_s: f64,
}

/// Waiting of a rank.
#[derive(Serialize, crate::JsonSchema)]
struct RankTimes {
    /// The rank.
    rank: u32,
    /// Times by state.
    #[serde(flatten)]
    times: StateTimes,
}

fn longest_waiting<S: Serializer>(ranks: &BTreeMap<u32, StateTimes>, serializer: S) -> Result<S::Ok, S::Error> {
    let mut ranks: Vec<RankTimes> = ranks.iter().map(|(&rank, &times)| RankTimes { rank, times }).collect();
    ranks.sort_by(|a, b| b.times.blocked_s().total_cmp(&a.times.blocked_s()));
    ranks.truncate(MOST_RANKS);
    ranks.serialize(serializer)
}

impl BlockingTable {
    /// Finds the causes of waiting, or returns `None` if the ranks were not replayed.
    pub(crate) fn new(model: &Model, places: &[CodePlace], split: &ImbalanceSplit) -> Option<BlockingTable> {
        let followed = model.followed.as_ref()?;
        let sums = blocking_sums(model, followed, split);
        let first = first_on_line(places);
        let causes = sums.causes.iter();
        let causes = causes.map(|&cause| CauseRow {
            region: region_path(followed, cause.region),
            callsite: cause.call.and_then(|(site, _)| Some(site_of_line(&first, site?))),
            operation: cause.call.map(|(_, operation)| operation_name(operation)),
            activity: cause.activity,
            state: cause.state,
            cause,
            share: sums.share(cause.caused_s),
            beta: cause.own_s.filter(|&own_s| own_s > 0.0).map(|own_s| cause.caused_s / own_s),
        });
        let phases = sums.phases.iter().map(|&cost| PhaseRow {
            region: region_path(followed, cost.region),
            cost,
            beta: cost.beta(),
            total_s: cost.total_s(),
        });
        let ranks_time_s = model.elapsed_s() * model.ranks.len() as f64;
        let most = sums.causes_s.iter().max_by(|a, b| a.1.total_cmp(b.1)).filter(|one| *one.1 > 0.0);
        let selected: BTreeSet<u32> = model.ranks.iter().map(|one| one.rank).collect();
        let by_others = sums.pairs.iter().filter(|pair| !selected.contains(&pair.0) || !selected.contains(&pair.1));
        Some(BlockingTable {
            ranks_time_s,
            share: if ranks_time_s > 0.0 { sums.total_s / ranks_time_s } else { 0.0 },
            not_selected_s: by_others.map(|pair| pair.2).sum(),
            most_by: most.map(|(&rank, &caused_s)| CausingRank { rank, caused_s, share: sums.share(caused_s) }),
            by_locked_code_s: caused_by_locked_code(&sums, followed),
            by_region: CausedByRegion::new(model, followed),
            pairs_left_out: RowsLeftOut::default(),
            causes: causes.collect(),
            causes_left_out: RowsLeftOut::default(),
            phases: phases.collect(),
            places: wait_rows(&sums, places, followed),
            counts: followed.counts,
            sums,
        })
    }
}

impl BlockingTable {
    /// Limits causes and pairs to `bounds`, and sums up the others.
    pub(crate) fn bounded(&self, bounds: &ListBounds) -> BlockingTable {
        let (causes, pairs) =
            (first_entries(&self.causes, bounds.entries), first_entries(&self.sums.pairs, bounds.entries));
        BlockingTable {
            most_by: self.most_by,
            sums: BlockingSums {
                states: self.sums.states.clone(),
                pairs: pairs.to_vec(),
                total_s: self.sums.total_s,
                by_class: self.sums.by_class,
                ..BlockingSums::default()
            },
            pairs_left_out: RowsLeftOut::new(self.sums.pairs[pairs.len()..].iter().map(|pair| pair.2)),
            causes: causes.to_vec(),
            causes_left_out: RowsLeftOut::new(self.causes[causes.len()..].iter().map(|row| row.cause.caused_s)),
            phases: self.phases.clone(),
            places: self.places.clone(),
            ..*self
        }
    }

    /// Returns the waiting in an operation at a call site, over all regions and causes.
    pub fn waits_at(&self, id: Option<u32>, operation: &str) -> StateTimes {
        let mut times = StateTimes::default();
        let there = self.places.iter().filter(|row| row.id == id && row.operation == operation);
        for row in there {
            times.add(&row.times);
        }
        times
    }
}

impl BlockingTable {
    /// Merges the rows of [`BlockingTable::places`] by call and reason, over all regions.
    pub fn waiting_calls(&self) -> Vec<WaitRow> {
        let mut rows: BTreeMap<_, WaitRow> = BTreeMap::new();
        for (number, row) in self.places.iter().enumerate() {
            // Rows without a known call stay apart.
            let other = if row.id.is_some() { 0 } else { number };
            match rows.entry((row.id, &row.operation, row.state, other)) {
                Entry::Vacant(entry) => _ = entry.insert(row.clone()),
                Entry::Occupied(mut entry) => entry.get_mut().add(row),
            }
        }
        let mut rows: Vec<WaitRow> = rows.into_values().collect();
        rows.sort_by(|a, b| b.times.blocked_s().total_cmp(&a.times.blocked_s()));
        rows
    }
}

impl WaitRow {
    fn add(&mut self, other: &WaitRow) {
        self.times.add(&other.times);
        self.blocked_s = self.times.blocked_s();
        self.share += other.share;
        for (&rank, times) in &other.ranks {
            self.ranks.entry(rank).or_default().add(times);
        }
    }
}

/// Returns the waiting in calls that ask for a lock of a window, as far as code causes it that runs under such a lock.
fn caused_by_locked_code(sums: &BlockingSums, followed: &ReplayResults) -> f64 {
    const LOCKS: [u16; 2] = [Operation::Win_lock as u16, Operation::Win_lock_all as u16];
    let mut locked: BTreeMap<u32, f64> = BTreeMap::new();
    for (&(call, state), &ns) in &followed.blocking.places {
        if LOCKS.contains(&call.operation) && state.is_computation() {
            *locked.entry(state.region()).or_default() += ns;
        }
    }
    let all_ns: f64 = locked.values().sum();
    locked.retain(|_, ns| *ns >= MIN_WAITING_FOR_LOCKED_CODE * all_ns);
    let computed = sums.causes.iter().filter(|cause| cause.activity == Some(Activity::Computation));
    computed.filter(|cause| locked.contains_key(&cause.region)).map(|cause| cause.caused_s).sum()
}

fn region_path(followed: &ReplayResults, region: u32) -> String {
    followed.regions.get(region as usize).map_or_else(String::new, |region| region.path.clone())
}

/// Returns the first call site on the source line of `site`. `first` comes from `first_on_line`.
pub(crate) fn site_of_line(first: &[u32], site: u32) -> u32 {
    first.get(site as usize).copied().unwrap_or(site)
}

fn wait_rows(sums: &BlockingSums, places: &[CodePlace], followed: &ReplayResults) -> Vec<WaitRow> {
    let first = first_on_line(places);
    let mut rows: Vec<WaitRow> = Vec::new();
    for wait in &sums.places {
        let id = wait.site.map(|site| site_of_line(&first, site));
        let operation = if wait.operation == 0 { String::new() } else { operation_name(wait.operation) };
        let region = region_path(followed, wait.region);
        let same = rows
            .iter_mut()
            .find(|row| (row.id, &row.operation, &row.region, row.state) == (id, &operation, &region, wait.state));
        match same {
            Some(row) => {
                row.times.add(&wait.times);
                for (&rank, times) in &wait.ranks {
                    row.ranks.entry(rank).or_default().add(times);
                }
            }
            None => {
                let place = id.and_then(|id| places.get(id as usize)).cloned().unwrap_or_default();
                rows.push(WaitRow {
                    place,
                    id,
                    operation,
                    region,
                    state: wait.state,
                    times: wait.times,
                    blocked_s: 0.0,
                    share: 0.0,
                    ranks: wait.ranks.clone(),
                });
            }
        }
    }
    for row in &mut rows {
        row.blocked_s = row.times.blocked_s();
        row.share = sums.share(row.blocked_s);
    }
    rows.sort_by(|a, b| b.times.blocked_s().total_cmp(&a.times.blocked_s()));
    rows
}
