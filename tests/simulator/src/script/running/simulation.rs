//! What happened when a script ran.

use lbprof_collector::Operation;

use crate::script::record;

/// What happened when a script ran. All times are nanoseconds of the common clock, windows beginning at
/// [`crate::scenario::START`] unless they are late.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// By rank.
    pub ranks: Vec<SimulatedRank>,
}

/// What a rank did.
#[derive(Clone, Debug, Default)]
pub struct SimulatedRank {
    /// When its window begins.
    pub begin_ns: u64,
    /// When its window ends.
    pub end_ns: u64,
    /// How long it computes.
    pub computation_ns: u64,
    /// Its calls in order.
    pub calls: Vec<SimulatedCall>,
    pub(in crate::script) events: Vec<record::Event>,
    pub(in crate::script) choices: Choices,
}

/// A call.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedCall {
    /// What it is.
    pub operation: Operation,
    /// Its line in the script, from 1.
    pub line: u32,
    /// When it begins.
    pub begin_ns: u64,
    /// When it ends.
    pub end_ns: u64,
    /// What it waited for, in the order of its requests; a call that did not wait has none.
    pub waits: Vec<Wait>,
}

/// What a call waited for: something that another rank did, or the transfer alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The world rank of the sender, of the receiver that a send waited for, of the last rank that entered a collective or the
    /// root; the rank itself where it was the last, and waits for the latency alone.
    pub by: u32,
    /// When that rank began to send, posted its receive, or entered. Where this is not after the begin of the call, the call
    /// waited for the transfer alone.
    pub did_ns: u64,
    /// When that took effect: the wait's end.
    pub came_ns: u64,
}

impl Simulation {
    /// From the first begin of a window to the last end, in nanoseconds.
    pub fn elapsed_ns(&self) -> u64 {
        let begin = self.ranks.iter().map(|rank| rank.begin_ns).min().unwrap_or(0);
        self.ranks.iter().map(|rank| rank.end_ns).max().unwrap_or(0) - begin
    }

    /// The same in milliseconds.
    pub fn elapsed_ms(&self) -> f64 {
        self.elapsed_ns() as f64 / 1e6
    }
}

#[derive(Clone, Debug)]
pub(in crate::script) enum Outcome {
    Nothing,
    Requests(Vec<usize>),
    Message(u32, i32),
}

/// What a run was decided by besides its script: which messages wildcards took, and what completions and probes found.
#[derive(Clone, Debug, Default)]
pub(in crate::script) struct Choices {
    /// Source and tag of what each receive took, in the order of posting.
    pub received: Vec<Option<(u32, i32)>>,
    pub found: Vec<Outcome>,
}
