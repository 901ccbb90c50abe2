//! A node of the calling-context tree, and the sums in it.

use lbprof_collector::{Activity, CoreState};

use crate::metrics::sampled::functions::CpuTimeComparison;
use crate::model::RegionIdx;
use crate::structure::code::code_place::Caller;

/// The program element of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CodeNodeKind {
    /// A loop that was found, or a marked phase; the first is the whole program.
    Region(RegionIdx),
    /// A function that no known call calls: the one with this call, a node of the call paths.
    Start(u32),
    /// The function that this call calls, a node of the call paths.
    Function(u32),
    /// A function that only samples show, an index of the sampled code's functions.
    Sampled(u32),
    /// A call of MPI: its node of the call paths, `None` where it is not known, and the number of the operation.
    Call(Option<u32>, u16),
    /// Computation in a state other than in the program's own code.
    State(CoreState),
    /// The recorder's own time, or time in MPI where samples do not show which call it is.
    Activity(Activity),
}

/// A node of the tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CodeNode {
    /// The program element.
    pub kind: CodeNodeKind,
    /// The node around it, as an index; `None`: it is the whole program.
    pub parent: Option<usize>,
    /// Exclusive sums.
    pub alone: NodeSums,
    /// Inclusive sums.
    pub all: NodeSums,
    /// Balance of computation in it and in the nodes within.
    pub balance: NodeBalance,
    /// Computation that samples alone place in it.
    pub(super) estimated_s: f64,
}

impl CodeNode {
    pub(super) fn new(kind: CodeNodeKind, parent: Option<usize>) -> CodeNode {
        let (alone, all, balance) = Default::default();
        CodeNode { kind, parent, alone, all, balance, estimated_s: 0.0 }
    }
}

/// A node in words.
#[derive(Clone, Debug, Default)]
pub struct NodeName {
    /// A function's name without return type and parameters, the name of a region, a state or an MPI function; empty if it is not known.
    pub name: String,
    /// The function's name as its symbol has it.
    pub symbol: Option<String>,
    /// The call of the function, or of MPI.
    pub at: Option<Caller>,
}

impl NodeName {
    /// Returns the label of the node: `step`, `MPI_Waitall (halo.c:20)`, `function called at +0x1234`.
    pub fn label(&self, kind: CodeNodeKind) -> String {
        let place = self.at.as_ref().map(Caller::short_place);
        match (kind, place) {
            (CodeNodeKind::Call(..), Some(place)) => format!("{} ({place})", self.name),
            (_, Some(place)) if self.name.is_empty() => format!("function called at {place}"),
            _ => self.name.clone(),
        }
    }
}

/// Sums of a node. Seconds summed over ranks; of the ranks' first threads, but for waiting and what causes it, which are of all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NodeSums {
    /// Time.
    pub time_s: f64,
    /// Computation.
    pub computation_s: f64,
    /// Time in calls of MPI.
    pub mpi_s: f64,
    /// Computation by state, of ranks of which it is known; at the index of the state's number.
    pub states: [f64; CoreState::COUNT],
    /// CPU time of computation by samples.
    pub cpu: CpuTimeComparison,
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

impl NodeSums {
    /// Creates the sums of computation in one state, or in one that is not known.
    pub(super) fn computing(time_s: f64, state: Option<CoreState>) -> NodeSums {
        let mut sums = NodeSums { time_s, computation_s: time_s, ..NodeSums::default() };
        if let Some(state) = state {
            sums.states[state as usize] = time_s;
        }
        sums
    }
}

impl std::ops::AddAssign for NodeSums {
    fn add_assign(&mut self, more: NodeSums) {
        self.time_s += more.time_s;
        self.computation_s += more.computation_s;
        self.mpi_s += more.mpi_s;
        for (sum, more) in self.states.iter_mut().zip(more.states) {
            *sum += more;
        }
        self.cpu.add(&more.cpu);
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
    /// Load balance (docs/metrics.md §1): mean / longest; `None` if nothing is computed, or samples alone show where.
    pub load_balance: Option<f64>,
}
