//! Stacks with a weight each, one a line: what flamegraph.pl, inferno and speedscope read.
//!
//! ```text
//! main;step;exchange;exchange;pack 90000000
//! main;step;exchange;computation 30000000
//! main;step;exchange;solve (cg.c:120);MPI_Waitall 81500000
//! ```
//!
//! A stack is the regions from the outermost on, then the call site and the call, or what else the time is: of computation the functions that
//! samples show, and `computation` for the remainder. Its weight is in nanoseconds, the sum over ranks: of their first threads' time, of all waiting, or of CPU time by samples, with functions in place of calls, other threads than the first under frames of
//! their own. Made from the sums, so that a run in profile mode has them, too.

use std::collections::BTreeMap;
use std::io::{self, Write};

use lbprof_collector::Activity;

use super::sampled_stacks;
use lbprof_analysis::model::samples::SampledThreads;
use lbprof_analysis::model::{Model, RankModel, Region, RegionIdx, chain};
use lbprof_analysis::profile::operation_name;
use lbprof_analysis::structure::sampled_code::SampledCode;
use lbprof_analysis::structure::symbols::CodePlace;
use lbprof_report::words::clean;

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

/// Writes the stacks of `model`; `places` are those of its call sites, and samples hit `code`.
///
/// Waiting is known where the ranks were followed.
///
/// Errors: those of writing.
pub fn write(
    model: &Model,
    places: &[CodePlace],
    code: &SampledCode,
    options: FoldedOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let FoldedOptions { weight, by_rank } = options;
    let mut stacks = FoldedStacks { places, by_rank, weights: BTreeMap::new() };
    match weight {
        StackWeight::Time => {
            for rank in &model.ranks {
                stacks.time(model, code, rank);
            }
        }
        StackWeight::Waiting => stacks.waiting(model),
        StackWeight::Cpu => {
            for rank in &model.ranks {
                stacks.cpu(model, code, rank);
            }
        }
    }
    for (stack, ns) in stacks.weights {
        if ns >= 0.5 {
            writeln!(out, "{stack} {ns:.0}")?;
        }
    }
    Ok(())
}

/// Returns the names of a region and those around it, outermost first.
fn names_down_to(regions: &[Region], region: RegionIdx) -> Vec<&str> {
    chain(regions, region).iter().rev().map(|&around| regions[around as usize].name.as_str()).collect()
}

struct FoldedStacks<'a> {
    places: &'a [CodePlace],
    by_rank: bool,
    /// Nanoseconds by stack.
    weights: BTreeMap<String, f64>,
}

impl FoldedStacks<'_> {
    /// The time of a rank: its calls by where they are called, computation by its functions, the rest by what it is.
    fn time(&mut self, model: &Model, code: &SampledCode, rank: &RankModel) {
        let regions = model.regions.as_slice();
        let computing = sampled_stacks::computation_stacks(model, code, rank);
        let mut sampled_s: BTreeMap<RegionIdx, f64> = BTreeMap::new();
        for stack in &computing {
            *sampled_s.entry(stack.region).or_default() += stack.seconds;
        }
        // Samples may have more than the calls leave for computation: their number is a matter of chance.
        let mut reductions: BTreeMap<RegionIdx, f64> = BTreeMap::new();
        for &((region, activity), cell) in &rank.cells {
            if activity.is_mpi() {
                continue;
            }
            let mut seconds = cell.seconds;
            if let Some(&in_functions_s) = sampled_s.get(&region).filter(|_| activity == Activity::Computation) {
                reductions.insert(region, (seconds / in_functions_s).min(1.0));
                seconds = (seconds - in_functions_s).max(0.0);
            }
            self.add(rank, &names_down_to(regions, region), &[activity.name()], seconds * 1e9);
        }
        for stack in &computing {
            let reduction = reductions.get(&stack.region).copied().unwrap_or(0.0);
            self.add_frames(rank, stack.frames.iter().map(String::as_str), reduction * stack.seconds * 1e9);
        }
        for &(key, cell) in &rank.sites {
            // The recorder's own time has no call site that anyone knows.
            if key.activity != Activity::Recorder {
                let frames = [self.site(key.site), call(key.operation)];
                self.add(rank, &names_down_to(regions, key.region), &frames, cell.seconds * 1e9);
            }
        }
    }

    /// The CPU time of a rank by samples.
    fn cpu(&mut self, model: &Model, code: &SampledCode, rank: &RankModel) {
        for threads in SampledThreads::ALL {
            let whose = sampled_stacks::whose(threads);
            for (frames, seconds) in sampled_stacks::stacks(model, code, rank, threads) {
                self.add_frames(rank, whose.into_iter().chain(frames.iter().map(String::as_str)), seconds * 1e9);
            }
        }
    }

    /// The waiting of all threads.
    fn waiting(&mut self, model: &Model) {
        let Some(followed) = &model.followed else { return };
        for (key, sums) in &followed.blocking.waits {
            let thread = followed.threads.get(key.thread as usize);
            let number = thread.and_then(|thread| followed.ranks.get(thread.rank_idx as usize));
            let rank = number.and_then(|&number| model.ranks.iter().find(|rank| rank.rank == number));
            let (Some(rank), Some(_)) = (rank, followed.regions.get(key.kind.region() as usize)) else { continue };
            let frames = [self.site(Some(key.site)), call(key.operation), key.state.name().to_owned()];
            let ns = (sums.waiting + sums.delay) as f64;
            self.add(rank, &names_down_to(&followed.regions, key.kind.region()), &frames, ns);
        }
    }

    /// The label of a call site; empty where it is not known.
    fn site(&self, site: Option<u32>) -> String {
        site.and_then(|site| self.places.get(site as usize)).map(CodePlace::label).unwrap_or_default()
    }

    /// Adds time of a rank in a region; empty frames are left out.
    fn add(&mut self, rank: &RankModel, region_names: &[&str], frames: &[impl AsRef<str>], ns: f64) {
        self.add_frames(rank, region_names.iter().copied().chain(frames.iter().map(AsRef::as_ref)), ns);
    }

    fn add_frames<'f>(&mut self, rank: &RankModel, frames: impl Iterator<Item = &'f str>, ns: f64) {
        let mut stack = String::new();
        if self.by_rank {
            push_frame(&mut stack, &format!("rank {} ({})", rank.rank, rank.host));
        }
        for frame in frames {
            push_frame(&mut stack, frame);
        }
        *self.weights.entry(stack).or_default() += ns;
    }
}

/// Adds a frame to a stack, unless it has no name.
fn push_frame(stack: &mut String, frame: &str) {
    if !frame.is_empty() {
        stack.push_str(if stack.is_empty() { "" } else { ";" });
        // What separates frames, and stacks from their weights.
        stack.push_str(&clean(frame).replace(';', ":"));
    }
}

/// The name of a call; empty outside of calls.
fn call(operation: u16) -> String {
    if operation == 0 { String::new() } else { format!("MPI_{}", operation_name(operation)) }
}
