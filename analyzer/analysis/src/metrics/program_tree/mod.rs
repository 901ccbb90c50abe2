//! The program as a tree: its functions as it calls them, with the loops and marked phases in them, down to the calls of MPI, and what time is
//! spent, waited and lost in each.
//!
//! Where a call of MPI lies is known from its call path. Computation, the recorder's time and what others wait for are known by region: they are
//! of the function that the region is, or whose code it is. So computation in a function that is no region, because less than 0.5 % of the
//! time goes by in it, is of the function around it.

mod builder;
mod node;

use std::collections::{BTreeMap, HashMap};

use lbprof_collector::record::NONE;
use lbprof_collector::{Activity, CoreState};

use crate::metrics::core_time::RankCoreTimes;
use crate::model::{Model, RankModel, RegionIdx};
use crate::structure::call_tree::CallTree;
use builder::ProgramTreeBuilder;
pub use node::{ProgramNodeKind, ProgramTreeNode};

/// Sums of a node. Seconds summed over ranks; of the ranks' first threads, but for waiting and what causes it, which are of all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NodeSums {
    /// Time.
    pub time_s: f64,
    /// Of it computation.
    pub computation_s: f64,
    /// Computation by state, of ranks of which it is known; at the index of the state's number.
    pub states: [f64; CoreState::COUNT],
    /// Waiting, messages in transit included.
    pub waiting_s: f64,
    /// Waiting of any rank that is caused here.
    pub caused_s: f64,
    /// Time lost: `caused_s`, the time in MPI besides waiting, and the recorder's time. All over the program: its time less computation, as far
    /// as all waiting has a cause in it.
    pub lost_s: f64,
    /// Calls of MPI.
    pub calls: u64,
    /// Bytes sent and received by them.
    pub bytes: u64,
}

impl std::ops::AddAssign for NodeSums {
    fn add_assign(&mut self, more: NodeSums) {
        self.time_s += more.time_s;
        self.computation_s += more.computation_s;
        for (sum, more) in self.states.iter_mut().zip(more.states) {
            *sum += more;
        }
        self.waiting_s += more.waiting_s;
        self.caused_s += more.caused_s;
        self.lost_s += more.lost_s;
        self.calls = self.calls.saturating_add(more.calls);
        self.bytes = self.bytes.saturating_add(more.bytes);
    }
}

/// Balance of computation in a node and those in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NodeBalance {
    /// Longest computation of a rank.
    pub max_s: f64,
    /// The slowest rank, the lowest of several.
    pub slowest_rank: Option<u32>,
    /// Load balance (docs/metrics.md §1): mean / longest; `None` if nothing is computed.
    pub load_balance: Option<f64>,
}

/// The tree, each node after the one around it.
#[derive(Clone, Debug, Default)]
pub struct ProgramTree {
    /// Its nodes; the first is the whole program.
    pub nodes: Vec<ProgramTreeNode>,
    /// Exclusive sums of each node, at the same indices.
    pub alone: Vec<NodeSums>,
    /// Inclusive sums of each node.
    pub inclusive: Vec<NodeSums>,
    /// Balance of computation in each node and those in it.
    pub balance: Vec<NodeBalance>,
    /// The region that a node is, where it is one: then its computation by iteration is known.
    pub regions: HashMap<usize, RegionIdx>,
    /// The node in which each region computes.
    pub of_region: Vec<usize>,
}

impl ProgramTree {
    /// The tree of `model`, whose call sites are in `calls`.
    pub fn new(model: &Model, calls: &CallTree) -> ProgramTree {
        let mut places = ProgramTreeBuilder::new(model, calls);
        let of_region: Vec<usize> = (0..model.regions.len() as u32).map(|region| places.of_region(region)).collect();
        let mut alone: BTreeMap<usize, NodeSums> = BTreeMap::new();
        for rank in &model.ranks {
            add_time(rank, calls, &of_region, &mut places, &mut alone);
        }
        add_waiting(model, calls, &of_region, &mut places, &mut alone);
        let nodes = places.nodes;
        let alone: Vec<NodeSums> = (0..nodes.len()).map(|at| alone.remove(&at).unwrap_or_default()).collect();
        let mut inclusive = alone.clone();
        for (at, node) in nodes.iter().enumerate().rev() {
            if let Some(parent) = node.parent {
                let own = inclusive[at];
                inclusive[parent] += own;
            }
        }
        let balance = balance(model, &nodes, &of_region);
        // Code between calls has no node of its own.
        let regions = of_region.iter().copied().zip(0..).filter(|(_, at): &(usize, RegionIdx)| {
            let region = &model.regions[*at as usize];
            region.is_function || !region.is_code
        });
        ProgramTree { regions: regions.collect(), of_region, nodes, alone, inclusive, balance }
    }
}

/// Adds the time of a rank's first thread.
fn add_time(
    rank: &RankModel,
    calls: &CallTree,
    of_region: &[usize],
    places: &mut ProgramTreeBuilder,
    alone: &mut BTreeMap<usize, NodeSums>,
) {
    let by_state = RankCoreTimes::new(rank);
    for &((region, activity), cell) in &rank.cells {
        let Some(&at) = of_region.get(region as usize) else { continue };
        let time_s = cell.seconds;
        match activity {
            Activity::Computation => {
                let states = by_state.as_ref().map(|times| times.in_region(Some(region)).seconds).unwrap_or_default();
                *alone.entry(at).or_default() +=
                    NodeSums { time_s, computation_s: time_s, states, ..NodeSums::default() };
            }
            Activity::Recorder => {
                *alone.entry(at).or_default() += NodeSums { time_s, lost_s: time_s, ..NodeSums::default() }
            }
            _ => {}
        }
    }
    for &(key, cell) in &rank.sites {
        // The recorder's own time is above.
        if key.activity == Activity::Recorder {
            continue;
        }
        let leaf = key.site.and_then(|site| calls.node_of(site));
        let at = places.of_call(key.region, leaf, key.operation);
        let bytes = cell.sent.saturating_add(cell.received);
        let sums =
            NodeSums { time_s: cell.seconds, lost_s: cell.seconds, calls: cell.calls, bytes, ..NodeSums::default() };
        *alone.entry(at).or_default() += sums;
    }
}

/// Adds waiting and its causes.
fn add_waiting(
    model: &Model,
    calls: &CallTree,
    of_region: &[usize],
    places: &mut ProgramTreeBuilder,
    alone: &mut BTreeMap<usize, NodeSums>,
) {
    let Some(followed) = &model.followed else { return };
    // Regions as those of the model: of a part of the run it has others.
    let by_path: HashMap<&str, RegionIdx> = model.regions.iter().map(|one| one.path.as_str()).zip(0..).collect();
    let in_model: Vec<RegionIdx> =
        followed.regions.iter().map(|one| by_path.get(one.path.as_str()).copied().unwrap_or(0)).collect();
    for (key, sums) in &followed.blocking.waits {
        let waiting_s = (sums.waiting + sums.delay) as f64 * 1e-9;
        let region = in_model.get(key.kind.region() as usize).copied().unwrap_or(0);
        // Before a rank's window begins, and after its end, it is in no call.
        let at = match key.operation {
            0 => of_region.get(region as usize).copied().unwrap_or(0),
            operation => places.of_call(
                region,
                Some(key.site).filter(|&site| site != NONE).and_then(|site| calls.node_of(site)),
                operation,
            ),
        };
        let is_first = followed.threads.get(key.thread as usize).is_some_and(|thread| thread.number == 0);
        // What is waited in a call is lost where it is caused.
        let in_call_s = if is_first && key.operation != 0 { waiting_s } else { 0.0 };
        *alone.entry(at).or_default() += NodeSums { waiting_s, lost_s: -in_call_s, ..NodeSums::default() };
    }
    for (&(_, kind), &ns) in &followed.blocking.causes {
        let caused_s = ns * 1e-9;
        let region = in_model.get(kind.region() as usize).copied().unwrap_or(0);
        let at = of_region.get(region as usize).copied().unwrap_or(0);
        *alone.entry(at).or_default() += NodeSums { caused_s, lost_s: caused_s, ..NodeSums::default() };
    }
}

/// Computes the balance of computation in each node.
fn balance(model: &Model, nodes: &[ProgramTreeNode], of_region: &[usize]) -> Vec<NodeBalance> {
    // The nodes in which is computed, each after the one around it.
    let mut computing: Vec<usize> = Vec::new();
    let mut is_computing = vec![false; nodes.len()];
    for &at in of_region {
        let mut next = Some(at);
        while let Some(at) = next.filter(|&at| !std::mem::replace(&mut is_computing[at], true)) {
            computing.push(at);
            next = nodes[at].parent;
        }
    }
    computing.sort_unstable();
    let mut balance = vec![NodeBalance::default(); nodes.len()];
    let mut sums = vec![0.0; nodes.len()];
    let mut own = vec![0.0; nodes.len()];
    for rank in &model.ranks {
        for &((region, _), cell) in rank.cells.iter().filter(|((_, activity), _)| *activity == Activity::Computation) {
            if let Some(&at) = of_region.get(region as usize) {
                own[at] += cell.seconds;
            }
        }
        for &at in computing.iter().rev() {
            let time_s = std::mem::take(&mut own[at]);
            if let Some(parent) = nodes[at].parent {
                own[parent] += time_s;
            }
            sums[at] += time_s;
            if time_s > balance[at].max_s {
                balance[at] = NodeBalance { max_s: time_s, slowest_rank: Some(rank.rank), load_balance: None };
            }
        }
    }
    let n = model.ranks.len().max(1) as f64;
    for (one, sum) in balance.iter_mut().zip(sums) {
        one.load_balance = (one.max_s > 0.0).then(|| sum / n / one.max_s);
    }
    balance
}
