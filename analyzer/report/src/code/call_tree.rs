//! The rows of the calling-context tree: functions, loops and marked phases, down to MPI calls.

use serde::Serialize;

use crate::RegionRow;
use crate::fraction_of;
use crate::rows::serial;
use lbprof_analysis::metrics::sampled::code_tree::{CodeNode, CodeNodeKind, CodeTree, NodeName};
use lbprof_analysis::metrics::sampled::core_time::CoreTime;
use lbprof_analysis::metrics::sampled::functions::FunctionTimes;
use lbprof_analysis::model::Model;
use lbprof_analysis::model::ranks::samples::SampledThreads;
use lbprof_analysis::structure::code::code_place::{Caller, short_name};
use lbprof_analysis::structure::code::symbols::ResolvedNames;
use lbprof_thresholds::verdict::MIN_FUNCTION_IN_CALL_TREE;

/// Maximum number of rows. Nodes with less time, waiting or caused waiting are folded into their parents.
const MOST_ROWS: usize = 2_000;

/// The kind of a node of the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, crate::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CallTreeNodeKind {
    /// The whole program.
    #[default]
    Program,
    /// A function of the program, reached in one way. How long it computes is an estimate, by samples, unless a region is in it.
    Function,
    /// A loop that was found.
    Loop,
    /// A marked region.
    Phase,
    /// A call of MPI.
    Call,
    /// Computation in a state other than in the program's own code, such as `asleep`, or the recorder's own time.
    State,
}

/// A node of the tree. All but what is `alone` includes the nodes in it. Sums over ranks: of their first threads, but for waiting and
/// its causes, which are of all threads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, crate::JsonSchema)]
pub struct CallTreeRow {
    /// The node around it, as an index in the list, in which it comes first; null for the whole program.
    pub parent: Option<usize>,
    /// Number of nodes around it.
    pub depth: u32,
    /// Kind of the node.
    pub kind: CallTreeNodeKind,
    /// A function's name, without its class's namespaces, return type and parameters; a region's name; the state; the MPI function. Empty if a
    /// function's name is not known.
    pub name: String,
    /// Name in full, with template arguments and parameters as the symbol has them; null if it is `name`.
    pub full_name: Option<String>,
    /// The call of the function, or of MPI, in the function around it; null if it is not known.
    pub at: Option<Caller>,
    /// Path of the region that it is; null if it is none.
    pub region: Option<String>,
    /// Time spent in it.
    pub time_s: f64,
    /// Fraction of the time of the whole program.
    pub share: f64,
    /// Of `time_s` what is not spent in nodes in it. Computation in a function that is no region (less than 0.5 % of the time) is of the
    /// one around it, unless samples show the function.
    pub alone_s: f64,
    /// Computation.
    pub computation_s: f64,
    /// Time in calls of MPI.
    pub mpi_s: f64,
    /// Computation by state, of ranks of which it is known; null if it is known of none.
    #[serde(serialize_with = "serial::by_core_state")]
    #[schemars(with = "Option<std::collections::BTreeMap<String, f64>>")]
    pub core_states: Option<CoreTime>,
    /// Waiting, messages in transit included; null if waiting was not analysed.
    pub waiting_s: Option<f64>,
    /// Waiting of any rank that is caused in it; null likewise.
    pub caused_s: Option<f64>,
    /// Waiting caused in the node itself, without the nodes in it.
    pub caused_alone_s: Option<f64>,
    /// Time lost: `caused_s`, the time in MPI besides waiting, and the recorder's time; null likewise. It adds up to the time that is no
    /// computation, as far as all waiting has its cause in it.
    pub lost_s: Option<f64>,
    /// Time lost in the node itself, without the nodes in it.
    pub lost_alone_s: Option<f64>,
    /// LB: mean over ranks of the computation in it over the longest; null if nothing is computed in it, or samples alone show
    /// where.
    pub load_balance: Option<f64>,
    /// µLB, of a region; null where it is none, and where the computation by iteration is not known.
    pub micro_load_balance: Option<f64>,
    /// The rank that computes longest in it; null likewise.
    pub slowest_rank: Option<u32>,
    /// Computation of that rank in the node; 0 if there is none.
    pub max_computation_s: f64,
    /// Calls of MPI.
    pub calls: u64,
    /// Bytes sent and received by them.
    pub bytes: u64,
    /// CPU time of computation by samples, the mean over ranks; null if they were not sampled.
    pub cpu_s: Option<f64>,
    /// CPU time of the rank that computes longest in the whole program; null likewise.
    pub slowest_cpu_s: Option<f64>,
    /// `slowest_cpu_s` − `cpu_s`, if it is at least two standard errors; else null.
    pub excess_s: Option<f64>,
    /// Standard error of that; null likewise.
    pub excess_error_s: Option<f64>,
    /// Nodes in it that are not listed, because there are too many, or little time goes by in them.
    pub left_out: usize,
}

/// Returns the rows in depth-first order, siblings by descending time.
pub(crate) fn call_tree_rows(model: &Model, names: &ResolvedNames, regions: &[RegionRow]) -> Vec<CallTreeRow> {
    let tree = CodeTree::new(model, names);
    let nodes = tree.nodes();
    let context = RowContext {
        whole_s: nodes[0].all.time_s,
        is_followed: model.followed.is_some(),
        times: FunctionTimes::new(model, &names.sampled, SampledThreads::First),
        tree: &tree,
        regions,
    };
    let kept = mark_kept(nodes);
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut left_out = vec![0; nodes.len()];
    // The exclusive sums of omitted nodes go to their parents.
    let mut alone: Vec<_> = nodes.iter().map(|node| node.alone).collect();
    for (at, node) in nodes.iter().enumerate().rev() {
        let Some(parent) = node.parent else { continue };
        if kept[at] {
            children[parent].push(at);
        } else {
            let own = alone[at];
            alone[parent] += own;
            left_out[parent] += left_out[at] + 1;
        }
    }
    for list in &mut children {
        // Nodes are popped from the end, so the longest comes last.
        list.sort_by(|&a, &b| nodes[a].all.time_s.total_cmp(&nodes[b].all.time_s).then(b.cmp(&a)));
    }
    let mut row_of = vec![0; nodes.len()];
    let mut rows: Vec<CallTreeRow> = Vec::new();
    let mut pending = vec![0];
    while let Some(at) = pending.pop() {
        row_of[at] = rows.len();
        let parent = nodes[at].parent.map(|parent| row_of[parent]);
        let depth = parent.map_or(0, |parent| rows[parent].depth + 1);
        let mut node = nodes[at];
        node.alone = alone[at];
        rows.push(CallTreeRow { parent, depth, left_out: left_out[at], ..context.row(at, &node) });
        pending.append(&mut children[at]);
    }
    rows
}

struct RowContext<'a> {
    tree: &'a CodeTree<'a>,
    regions: &'a [RegionRow],
    /// Time of the whole program.
    whole_s: f64,
    is_followed: bool,
    times: Option<FunctionTimes<'a>>,
}

impl RowContext<'_> {
    fn row(&self, at: usize, node: &CodeNode) -> CallTreeRow {
        let CodeNode { alone, all, balance, .. } = node;
        let region = self.tree.regions.get(&at).and_then(|&region| self.regions.get(region as usize));
        let NodeName { name: label, symbol, at: call } = self.tree.name(at);
        let kind = self.kind(node.kind);
        let has_states = all.states.iter().any(|seconds| *seconds > 0.0);
        let name = if kind == CallTreeNodeKind::Function { short_name(&label).to_owned() } else { label.clone() };
        let sampled = self.times.as_ref().map(|times| (times, all.cpu.excess(times.ranks, times.period_s)));
        let excess = sampled.as_ref().map(|(_, excess)| excess).filter(|excess| excess.is_significant());
        CallTreeRow {
            kind,
            full_name: symbol.or(Some(label)).filter(|full| *full != name),
            name,
            at: call,
            region: region.map(|row| row.path.clone()),
            time_s: all.time_s,
            share: fraction_of(all.time_s, self.whole_s),
            alone_s: alone.time_s,
            computation_s: all.computation_s,
            mpi_s: all.mpi_s,
            core_states: has_states.then(|| CoreTime { seconds: all.states, ..CoreTime::default() }),
            waiting_s: self.is_followed.then_some(all.waiting_s),
            caused_s: self.is_followed.then_some(all.caused_s),
            caused_alone_s: self.is_followed.then_some(alone.caused_s),
            lost_s: self.is_followed.then_some(all.lost_s),
            lost_alone_s: self.is_followed.then_some(alone.lost_s),
            load_balance: balance.load_balance,
            micro_load_balance: region.and_then(|row| row.efficiency.micro_load_balance),
            slowest_rank: balance.slowest_rank,
            max_computation_s: balance.max_s,
            calls: all.calls,
            bytes: all.bytes,
            cpu_s: sampled.as_ref().map(|(times, _)| all.cpu.all.seconds / times.ranks as f64),
            slowest_cpu_s: sampled.as_ref().map(|_| all.cpu.own.seconds),
            excess_s: excess.map(|excess| excess.seconds),
            excess_error_s: excess.map(|excess| excess.error_s),
            ..CallTreeRow::default()
        }
    }

    fn kind(&self, kind: CodeNodeKind) -> CallTreeNodeKind {
        match kind {
            CodeNodeKind::Region(0) => CallTreeNodeKind::Program,
            CodeNodeKind::Region(region) => match self.regions.get(region as usize) {
                Some(row) if row.found => CallTreeNodeKind::Loop,
                _ => CallTreeNodeKind::Phase,
            },
            CodeNodeKind::Start(_) | CodeNodeKind::Function(_) | CodeNodeKind::Sampled(_) => CallTreeNodeKind::Function,
            CodeNodeKind::Call(..) => CallTreeNodeKind::Call,
            CodeNodeKind::State(_) | CodeNodeKind::Activity(_) => CallTreeNodeKind::State,
        }
    }
}

/// Marks the nodes that get rows: the [`MOST_ROWS`] with most time, waiting or caused waiting. Nodes from samples and kernel states also need a minimum
/// of time.
fn mark_kept(nodes: &[CodeNode]) -> Vec<bool> {
    let weights = nodes.iter().map(|node| node.all.time_s.max(node.all.waiting_s).max(node.all.caused_s));
    let mut order: Vec<(f64, usize)> = weights.zip(0..).collect();
    // A node weighs no more than its parent, and sorts after it.
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let least_s = MIN_FUNCTION_IN_CALL_TREE * nodes[0].all.time_s;
    order.retain(|&(weight, at)| match nodes[at].kind {
        CodeNodeKind::Sampled(_) | CodeNodeKind::State(_) | CodeNodeKind::Activity(_) => weight >= least_s,
        _ => true,
    });
    let mut kept = vec![false; nodes.len()];
    for (_, at) in order.into_iter().take(MOST_ROWS) {
        kept[at] = nodes[at].parent.is_none_or(|parent| kept[parent]);
    }
    kept
}
