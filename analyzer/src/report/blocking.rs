//! Why ranks wait: where, for whom, caused by what.

use std::collections::BTreeMap;

use crate::metrics::blocking::{BlockingSums, Cause, PhaseCost, StateTimes, WaitPlace, sums};
use crate::metrics::imbalance::ImbalanceSplit;
use crate::model::Model;
use crate::model::followed::Counts;
use crate::model::waits::WaitState;
use crate::profile::operation_name;
use crate::structure::symbols::{Place, first_on_line};

/// Waiting and its causes, with names.
#[derive(Clone, Debug)]
pub struct BlockingTable {
    /// All sums.
    pub sums: BlockingSums,
    /// A row a cause, the largest first.
    pub causes: Vec<CauseRow>,
    /// A row a phase, the most expensive first.
    pub phases: Vec<PhaseRow>,
    /// A row a place where ranks wait and a reason, the longest first.
    pub places: Vec<WaitRow>,
    /// What could not be matched, and what was corrected.
    pub counts: Counts,
}

/// A cause of waiting.
#[derive(Clone, Debug)]
pub struct CauseRow {
    /// Path of the region.
    pub region: String,
    /// Of communication: id of the call site where most of it is, where it is known, and the operation's name.
    pub call: Option<(Option<u32>, String)>,
    /// What it does there.
    pub cause: Cause,
}

/// A phase.
#[derive(Clone, Debug)]
pub struct PhaseRow {
    /// Path of the region.
    pub region: String,
    /// Its cost.
    pub cost: PhaseCost,
}

/// A place where ranks wait.
#[derive(Clone, Debug)]
pub struct WaitRow {
    /// The place.
    pub place: Place,
    /// Index of the call site.
    pub id: Option<u32>,
    /// The operation's name; empty outside of calls.
    pub operation: String,
    /// Path of the region.
    pub region: String,
    /// Why.
    pub state: WaitState,
    /// How long.
    pub times: StateTimes,
    /// The same by world rank.
    pub ranks: BTreeMap<u32, StateTimes>,
}

impl BlockingTable {
    /// Why the ranks of `model` wait, whose call sites are at `places`; `None` where they were not followed.
    pub(super) fn new(model: &Model, places: &[Place], split: &ImbalanceSplit) -> Option<BlockingTable> {
        let followed = model.followed.as_ref()?;
        let sums = sums(model, followed, split);
        let path = |region: u32| followed.regions.get(region as usize).map_or_else(String::new, |one| one.path.clone());
        let first = first_on_line(places);
        let call = |(site, operation): (Option<u32>, u16)| {
            let id = site.map(|site| first.get(site as usize).copied().unwrap_or(site));
            (id, operation_name(operation))
        };
        let causes = sums.causes.iter();
        let causes = causes.map(|&cause| CauseRow { region: path(cause.region), call: cause.call.map(call), cause });
        let phases = sums.phases.iter().map(|&cost| PhaseRow { region: path(cost.region), cost });
        Some(BlockingTable {
            causes: causes.collect(),
            phases: phases.collect(),
            places: wait_rows(&sums.places, places, path),
            counts: followed.counts,
            sums,
        })
    }
}

impl BlockingTable {
    /// How long ranks wait in an operation at a call site, in all regions and for all reasons.
    pub fn waits_at(&self, id: Option<u32>, operation: &str) -> StateTimes {
        let mut times = StateTimes::default();
        let there = self.places.iter().filter(|row| row.id == id && row.operation == operation);
        there.for_each(|row| times.add(&row.times));
        times
    }
}

/// Calls on one source line are one place.
fn wait_rows(waits: &[WaitPlace], places: &[Place], path: impl Fn(u32) -> String) -> Vec<WaitRow> {
    let first = first_on_line(places);
    let mut rows: Vec<WaitRow> = Vec::new();
    for wait in waits {
        let id = wait.site.map(|site| first.get(site as usize).copied().unwrap_or(site));
        let operation = if wait.operation == 0 { String::new() } else { operation_name(wait.operation) };
        let region = path(wait.region);
        let same = |row: &&mut WaitRow| {
            (row.id, &row.operation, &row.region, row.state) == (id, &operation, &region, wait.state)
        };
        match rows.iter_mut().find(same) {
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
                    ranks: wait.ranks.clone(),
                });
            }
        }
    }
    rows.sort_by(|a, b| b.times.blocked_s().total_cmp(&a.times.blocked_s()));
    rows
}
