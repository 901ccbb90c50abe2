//! Stacks with a weight each, one a line: what flamegraph.pl, inferno and speedscope read.
//!
//! ```text
//! main;step;exchange;pack 90000000
//! main;step;exchange;asleep 30000000
//! main;step;exchange;solve;MPI_Waitall (cg.c:120) 81500000
//! ```
//!
//! A stack is a node of the [calling-context tree](lbprof_analysis::metrics::sampled::code_tree), with all around it. Its weight is in nanoseconds, the sum over ranks:
//! of their first threads' time, of all waiting, or of CPU time by samples, other threads than the first under frames of their own. Made from the
//! sums, so that a run in profile mode has them, too.

use std::collections::BTreeMap;
use std::io::{self, Write};

use lbprof_collector::Activity;

use lbprof_analysis::metrics::sampled::code_tree::CodeTreeBuilder;
use lbprof_analysis::model::Model;
use lbprof_analysis::model::ranks::samples::{SampledAt, SampledThreads};
use lbprof_analysis::structure::code::symbols::ResolvedNames;
use lbprof_report::rows::words::escape_name;

/// The weight of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackWeight {
    /// The time spent there.
    Time,
    /// The time spent waiting there, for other ranks and for messages in transit.
    Waiting,
    /// CPU time by samples.
    Cpu,
}

impl StackWeight {
    /// The weights, in the order of the help.
    pub const ALL: [StackWeight; 3] = [StackWeight::Time, StackWeight::Waiting, StackWeight::Cpu];

    /// The name that asks for it.
    pub fn name(self) -> &'static str {
        match self {
            StackWeight::Time => "time",
            StackWeight::Waiting => "waiting",
            StackWeight::Cpu => "cpu",
        }
    }

    /// The meaning of a weight, for the head of a chart.
    pub fn meaning(self) -> &'static str {
        match self {
            StackWeight::Time => "The time spent there",
            StackWeight::Waiting => "The time spent waiting there",
            StackWeight::Cpu => "The CPU time of functions there, by samples",
        }
    }
}

/// The choice of the stacks to write.
#[derive(Clone, Copy, Debug)]
pub struct FoldedOptions {
    /// Weight of the stacks.
    pub weight: StackWeight,
    /// True if the stacks of each rank are under a frame of its own.
    pub by_rank: bool,
}

/// Writes the stacks of `model`, whose code has these names.
///
/// Waiting is known where the ranks were followed.
///
/// Errors: writing fails.
pub fn write_folded_stacks(
    model: &Model,
    names: &ResolvedNames,
    options: FoldedOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut stacks =
        FoldedStacks { model, tree: CodeTreeBuilder::new(model, names), options, weights: BTreeMap::new() };
    match options.weight {
        StackWeight::Time => stacks.add_time(),
        StackWeight::Waiting => stacks.add_waiting(),
        StackWeight::Cpu => stacks.add_cpu(),
    }
    for (stack, ns) in stacks.in_words() {
        if ns >= 0.5 {
            writeln!(out, "{stack} {ns:.0}")?;
        }
    }
    Ok(())
}

#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct StackKey {
    rank: Option<usize>,
    /// The name of the frame that the samples of some threads have of their own.
    threads: Option<&'static str>,
    node: usize,
    /// The innermost frame, if that is no node.
    state: Option<&'static str>,
}

struct FoldedStacks<'a> {
    model: &'a Model,
    tree: CodeTreeBuilder<'a>,
    options: FoldedOptions,
    weights: BTreeMap<StackKey, f64>,
}

impl FoldedStacks<'_> {
    /// Adds the time of all ranks: calls, computation by its functions, the rest by what it is.
    fn add_time(&mut self) {
        for (at, rank) in self.model.ranks.iter().enumerate() {
            self.tree.add_rank(rank);
            for (node, time_s) in self.tree.take_times() {
                self.add(at, StackKey { node, ..StackKey::default() }, time_s * 1e9);
            }
        }
    }

    fn add_cpu(&mut self) {
        for (at, rank) in self.model.ranks.iter().enumerate() {
            for threads in SampledThreads::ALL {
                for (sample, time) in rank.samples.times(threads) {
                    // Samples of other threads are computation even if the first thread is in a call.
                    let activity =
                        if threads == SampledThreads::First { sample.activity } else { Activity::Computation };
                    let region = if threads == SampledThreads::Unplaced { 0 } else { sample.region };
                    let node = self.tree.of_sample(SampledAt { region, activity, ..*sample });
                    self.add(
                        at,
                        StackKey { threads: frame_of(threads), node, ..StackKey::default() },
                        time.seconds * 1e9,
                    );
                }
            }
        }
    }

    fn add_waiting(&mut self) {
        let Some(followed) = &self.model.followed else { return };
        let regions = self.tree.find_regions(followed);
        for (key, sums) in &followed.blocking.waits {
            let thread = followed.threads.get(key.thread as usize);
            let number = thread.and_then(|thread| followed.ranks.get(thread.rank_idx as usize));
            let rank = number.and_then(|&number| self.model.ranks.iter().position(|rank| rank.rank == number));
            let (Some(rank), Some(&region)) = (rank, regions.get(key.kind.region() as usize)) else { continue };
            let node = self.tree.of_wait(region, key);
            let key = StackKey { node, state: Some(key.state.name()), ..StackKey::default() };
            self.add(rank, key, (sums.waiting + sums.delay) as f64);
        }
    }

    fn add(&mut self, rank: usize, key: StackKey, ns: f64) {
        let key = StackKey { rank: self.options.by_rank.then_some(rank), ..key };
        *self.weights.entry(key).or_default() += ns;
    }

    fn in_words(&self) -> BTreeMap<String, f64> {
        let mut stacks: BTreeMap<String, f64> = BTreeMap::new();
        for (key, ns) in &self.weights {
            let mut path: Vec<usize> =
                std::iter::successors(Some(key.node), |&at| self.tree.nodes()[at].parent).collect();
            path.reverse();
            let mut frames: Vec<String> = Vec::new();
            frames.extend(
                key.rank.map(|at| &self.model.ranks[at]).map(|rank| format!("rank {} ({})", rank.rank, rank.host)),
            );
            frames.extend(key.threads.map(str::to_owned));
            frames.extend(path.into_iter().map(|at| self.tree.name(at).label(self.tree.nodes()[at].kind)));
            frames.extend(key.state.map(str::to_owned));
            frames.retain(|frame| !frame.is_empty());
            // A semicolon separates frames.
            let frames: Vec<String> = frames.iter().map(|frame| escape_name(frame).replace(';', ":")).collect();
            *stacks.entry(frames.join(";")).or_default() += ns;
        }
        stacks
    }
}

fn frame_of(threads: SampledThreads) -> Option<&'static str> {
    match threads {
        SampledThreads::First => None,
        SampledThreads::WithMpi => Some("other threads with MPI calls"),
        SampledThreads::WithoutMpi => Some("threads without MPI calls"),
        SampledThreads::Unplaced => Some("regions not known"),
    }
}
