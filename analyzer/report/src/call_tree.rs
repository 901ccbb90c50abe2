//! The table of the program's tree: its functions as it calls them, loops and marked phases in them, down to the calls of MPI.

use serde::Serialize;

use super::call_tree_functions::{ComputingFunction, functions_by_node};
use super::fraction;
use super::{RegionRow, serial};
use lbprof_analysis::metrics::core_time::CoreTime;
use lbprof_analysis::metrics::program_tree::{ProgramNodeKind, ProgramTree};
use lbprof_analysis::model::Model;
use lbprof_analysis::profile::operation_name;
use lbprof_analysis::structure::call_tree::CallTree;
use lbprof_analysis::structure::code_place::{Caller, CodePlace, short};
use lbprof_analysis::structure::sampled_code::SampledCode;

/// Most nodes that are rows; programs have hundreds. Those in which least time is spent, waited or caused are part of the ones around them.
const MOST_ROWS: usize = 2_000;

/// The kind of a node of the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CallTreeNodeKind {
    /// The whole program.
    #[default]
    Program,
    /// A function of the program, reached in one way.
    Function,
    /// A loop that was found.
    Loop,
    /// A marked region.
    Phase,
    /// A call of MPI.
    Call,
    /// A function that computes between calls of MPI in the node around it, by samples: its times are estimates, waiting and what it causes are of the node
    /// around it.
    Computation,
}

/// A node of the tree. All but what is `alone` includes the nodes in it. Sums over ranks: of their first threads, but for waiting and
/// its causes, which are of all threads.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallTreeRow {
    /// The node around it, as an index in the list, in which it comes first; null for the whole program.
    pub parent: Option<usize>,
    /// Number of nodes around it.
    pub depth: u32,
    /// Kind of the node.
    pub kind: CallTreeNodeKind,
    /// A function's name, without its class's namespaces, return type and parameters; a region's name; the MPI function. Empty if a function's
    /// name is not known.
    pub name: String,
    /// Name in full, with template arguments and parameters as the symbol has them; null if it is `name`.
    pub full_name: Option<String>,
    /// The call of the function, or of MPI, in the function around it; null if it is not known.
    pub at: Option<Caller>,
    /// Path of the region that it is; null if it is none.
    pub region: Option<String>,
    /// Time spent in it.
    pub time_s: f64,
    /// `time_s` over that of the whole program.
    pub share: f64,
    /// Of `time_s` what is not spent in nodes in it. Computation in a function that is no region (less than 0.5 % of the time) is of the
    /// one around it, unless samples show the function.
    pub alone_s: f64,
    /// Computation.
    pub computation_s: f64,
    /// Computation by state, of ranks of which it is known; null if it is known of none, and of a function by samples.
    #[serde(serialize_with = "serial::by_core_state")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<std::collections::BTreeMap<String, f64>>"))]
    pub core_states: Option<CoreTime>,
    /// Waiting, messages in transit included; null if waiting was not analysed, and of a function by samples.
    pub waiting_s: Option<f64>,
    /// Waiting of any rank that is caused in it; null likewise.
    pub caused_s: Option<f64>,
    /// Time caused, without that of the nodes in it.
    pub caused_alone_s: Option<f64>,
    /// Time lost: `caused_s`, the time in MPI besides waiting, and the recorder's time; null likewise. It adds up to the time that is no
    /// computation, as far as all waiting has its cause in it.
    pub lost_s: Option<f64>,
    /// Time lost, without that of the nodes in it.
    pub lost_alone_s: Option<f64>,
    /// LB: mean over ranks of the computation in it over the longest; null if nothing is computed in it, and of a function by samples.
    pub load_balance: Option<f64>,
    /// µLB, of a region; null where it is none, and where the computation by iteration is not known.
    pub micro_load_balance: Option<f64>,
    /// The rank that computes longest in it; null if none does, and of a function by samples.
    pub slowest_rank: Option<u32>,
    /// Computation of that rank in the node; 0 if there is none.
    pub max_computation_s: f64,
    /// Calls of MPI.
    pub calls: u64,
    /// Bytes sent and received by them.
    pub bytes: u64,
    /// Nodes in it that are not listed, because there are too many.
    pub left_out: usize,
}

/// Returns the rows in depth-first order, siblings with most time first. `regions` are the rows of `model`'s regions, and samples hit `code`.
pub(super) fn rows(model: &Model, calls: &CallTree, code: &SampledCode, regions: &[RegionRow]) -> Vec<CallTreeRow> {
    let tree = ProgramTree::new(model, calls);
    let is_followed = model.followed.is_some();
    let kept = kept(&tree);
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); tree.nodes.len()];
    let mut left_out = vec![0; tree.nodes.len()];
    let mut row_of: Vec<Option<usize>> = vec![None; tree.nodes.len()];
    // Of what is left out the sums alone are those of the node around it.
    let mut alone = tree.alone.clone();
    for (at, node) in tree.nodes.iter().enumerate().rev() {
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
        list.sort_by(|&a, &b| tree.inclusive[b].time_s.total_cmp(&tree.inclusive[a].time_s).then(a.cmp(&b)));
    }
    let whole_s = tree.inclusive.first().map_or(0.0, |sums| sums.time_s);
    let mut computing = functions_by_node(model, code, &tree, &alone, &kept);
    let mut rows: Vec<CallTreeRow> = Vec::new();
    let mut pending = vec![PendingRow::Node(0)];
    while let Some(next) = pending.pop() {
        let at = match next {
            PendingRow::Node(at) => at,
            PendingRow::Computation(around, function) => {
                let row = computation_row(&rows, row_of[around], function, whole_s);
                rows.push(row);
                continue;
            }
        };
        let parent = tree.nodes[at].parent.and_then(|parent| row_of[parent]);
        row_of[at] = Some(rows.len());
        let (own, sums, balance) = (&alone[at], &tree.inclusive[at], &tree.balance[at]);
        let region = tree.regions.get(&at).and_then(|&region| regions.get(region as usize));
        let named = named(model, calls, tree.nodes[at].step);
        rows.push(CallTreeRow {
            parent,
            depth: parent.map_or(0, |parent| rows[parent].depth + 1),
            kind: named.kind,
            name: named.name,
            full_name: named.full_name,
            at: named.at,
            region: region.map(|row| row.path.clone()),
            time_s: sums.time_s,
            share: fraction(sums.time_s, whole_s),
            alone_s: own.time_s,
            computation_s: sums.computation_s,
            core_states: sums
                .states
                .iter()
                .any(|seconds| *seconds > 0.0)
                .then(|| CoreTime { seconds: sums.states, ..CoreTime::default() }),
            waiting_s: is_followed.then_some(sums.waiting_s),
            caused_s: is_followed.then_some(sums.caused_s),
            caused_alone_s: is_followed.then_some(own.caused_s),
            lost_s: is_followed.then_some(sums.lost_s),
            lost_alone_s: is_followed.then_some(own.lost_s),
            load_balance: balance.load_balance,
            micro_load_balance: region.and_then(|row| row.efficiency.micro_load_balance),
            slowest_rank: balance.slowest_rank,
            max_computation_s: balance.max_s,
            calls: sums.calls,
            bytes: sums.bytes,
            left_out: left_out[at],
        });
        let row = rows.len() - 1;
        let mut within: Vec<PendingRow> = children[at].iter().map(|&inner| PendingRow::Node(inner)).collect();
        // What a function computes by itself is its own.
        let mut functions = computing.remove(&at).unwrap_or_default();
        functions.retain(|function| function.name != enclosing_function(&rows, row));
        for function in functions {
            rows[row].alone_s = (rows[row].alone_s - function.computation_s).max(0.0);
            within.push(PendingRow::Computation(at, function));
        }
        within.sort_by(|a, b| b.time_s(&tree).total_cmp(&a.time_s(&tree)));
        pending.extend(within.into_iter().rev());
    }
    rows
}

/// A row that follows.
enum PendingRow {
    /// A node of the tree.
    Node(usize),
    /// A function in which a node computes.
    Computation(usize, ComputingFunction),
}

impl PendingRow {
    fn time_s(&self, tree: &ProgramTree) -> f64 {
        match self {
            PendingRow::Node(at) => tree.inclusive[*at].time_s,
            PendingRow::Computation(_, function) => function.computation_s,
        }
    }
}

/// Returns the name of the function that the code of a row is of.
fn enclosing_function(rows: &[CallTreeRow], row: usize) -> &str {
    let mut row = &rows[row];
    while !matches!(row.kind, CallTreeNodeKind::Function | CallTreeNodeKind::Program)
        && let Some(around) = row.parent
    {
        row = &rows[around];
    }
    &row.name
}

/// Returns the row of a function in which the row at index `parent` computes.
fn computation_row(
    rows: &[CallTreeRow],
    parent: Option<usize>,
    function: ComputingFunction,
    whole_s: f64,
) -> CallTreeRow {
    let ComputingFunction { name, full_name, computation_s } = function;
    CallTreeRow {
        parent,
        depth: parent.map_or(0, |parent| rows[parent].depth + 1),
        kind: CallTreeNodeKind::Computation,
        full_name: Some(full_name).filter(|full| *full != name),
        name,
        time_s: computation_s,
        share: fraction(computation_s, whole_s),
        alone_s: computation_s,
        computation_s,
        ..CallTreeRow::default()
    }
}

/// Marks the nodes that get rows: the [`MOST_ROWS`] in which most time is spent, waited, or caused to be waited.
fn kept(tree: &ProgramTree) -> Vec<bool> {
    let weights = tree.inclusive.iter().map(|sums| sums.time_s.max(sums.waiting_s).max(sums.caused_s));
    let mut order: Vec<(f64, usize)> = weights.zip(0..).collect();
    // A node weighs no more than the one around it, and comes after it.
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut kept = vec![false; tree.nodes.len()];
    for (_, at) in order.into_iter().take(MOST_ROWS) {
        kept[at] = tree.nodes[at].parent.is_none_or(|parent| kept[parent]);
    }
    kept
}

/// A node in words.
struct NamedNode {
    kind: CallTreeNodeKind,
    name: String,
    full_name: Option<String>,
    at: Option<Caller>,
}

impl NamedNode {
    /// Names the function that contains `place`.
    fn for_function(place: Option<&CodePlace>, at: Option<Caller>) -> NamedNode {
        let name = place.map_or_else(String::new, |place| short(place.function_label()).to_owned());
        let full_name = place.and_then(|place| place.function.clone()).filter(|full| *full != name);
        NamedNode { kind: CallTreeNodeKind::Function, name, full_name, at }
    }
}

/// The place of a node of the call tree.
fn place_of(calls: &CallTree, node: u32) -> Option<&CodePlace> {
    calls.node(node).map(|node| &node.place)
}

fn named(model: &Model, calls: &CallTree, step: ProgramNodeKind) -> NamedNode {
    match step {
        ProgramNodeKind::Region(at) => {
            let region = model.regions.get(at as usize);
            let kind = match at {
                0 => CallTreeNodeKind::Program,
                _ if region.is_some_and(|region| region.found) => CallTreeNodeKind::Loop,
                _ => CallTreeNodeKind::Phase,
            };
            NamedNode {
                kind,
                name: region.map(|region| region.name.clone()).unwrap_or_default(),
                full_name: None,
                at: None,
            }
        }
        ProgramNodeKind::Start(start) => NamedNode::for_function(place_of(calls, start), None),
        ProgramNodeKind::Function(call) => {
            let callee = calls.callee(call).map(|node| &node.place);
            NamedNode::for_function(callee, place_of(calls, call).map(Caller::from_place))
        }
        ProgramNodeKind::Call(leaf, operation) => {
            let name = format!("MPI_{}", operation_name(operation));
            let at = leaf.and_then(|leaf| place_of(calls, leaf)).map(Caller::from_place);
            NamedNode { kind: CallTreeNodeKind::Call, name, full_name: None, at }
        }
    }
}
