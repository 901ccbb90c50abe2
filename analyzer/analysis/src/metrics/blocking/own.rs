//! The activities of the ranks in the selected part, without waiting, in the regions of the whole run.

use std::collections::BTreeMap;

use lbprof_collector::record::NONE;

use crate::model::code::region_state::RegionState;
use crate::model::replayed::replay_results::ReplayResults;
use crate::model::{Model, SiteTotalsKey, find_by_path};

pub(super) struct OwnTimes {
    /// By (world rank, kind).
    by_kind: BTreeMap<(u32, RegionState), f64>,
    /// By world rank, kind, call site and operation.
    by_call: BTreeMap<(u32, RegionState), Vec<(f64, CallSiteKey)>>,
}

/// A call site of MPI: index of the call site, number of the operation.
pub(super) type CallSiteKey = (Option<u32>, u16);

impl OwnTimes {
    /// Sums up the activities of `model`'s ranks, with the replay results of its run.
    pub(super) fn new(model: &Model, followed: &ReplayResults) -> OwnTimes {
        let mut blocked: BTreeMap<(u32, RegionState), f64> = BTreeMap::new();
        let mut blocked_there: BTreeMap<(u32, RegionState, CallSiteKey), f64> = BTreeMap::new();
        for (key, wait) in &followed.blocking.waits {
            let (rank, seconds) = (followed.world_rank(key.thread), (wait.waiting + wait.delay) as f64 * 1e-9);
            let call = ((key.site != NONE).then_some(key.site), key.operation);
            *blocked.entry((rank, key.kind)).or_default() += seconds;
            *blocked_there.entry((rank, key.kind, call)).or_default() += seconds;
        }
        let regions = find_by_path(&model.regions, &followed.regions);
        let mut own = OwnTimes { by_kind: BTreeMap::new(), by_call: BTreeMap::new() };
        for rank in &model.ranks {
            for &((region, activity), cell) in &rank.cells {
                let Some(region) = regions[region as usize] else { continue };
                let key = (rank.rank, RegionState::new(region, activity));
                own.by_kind.insert(key, (cell.seconds - blocked.get(&key).copied().unwrap_or(0.0)).max(0.0));
            }
            for &(SiteTotalsKey { site, operation, activity, region }, cell) in &rank.sites {
                let Some(region) = regions[region as usize] else { continue };
                let (kind, call) = (RegionState::new(region, activity), (site, operation));
                let waited = blocked_there.get(&(rank.rank, kind, call)).copied().unwrap_or(0.0);
                own.by_call.entry((rank.rank, kind)).or_default().push((cell.seconds - waited, call));
            }
        }
        own
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (RegionState, f64)> {
        self.by_kind.iter().map(|(&(_, kind), &seconds)| (kind, seconds))
    }

    /// Seconds of a rank in a kind; `None`: the part has none.
    pub(super) fn seconds(&self, rank: u32, kind: RegionState) -> Option<f64> {
        self.by_kind.get(&(rank, kind)).copied()
    }

    /// The call in which a rank spends most of its time of a kind; `None`: the part has no such call.
    pub(super) fn call(&self, rank: u32, kind: RegionState) -> Option<CallSiteKey> {
        let calls = self.by_call.get(&(rank, kind))?;
        calls.iter().max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).map(|&(_, call)| call)
    }
}
