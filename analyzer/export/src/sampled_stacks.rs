//! The stacks of sampled CPU time: regions from the outermost on, what the rank did if its first thread was in a call, functions from the outermost on. Threads other than the
//! first are apart, in the regions that the first one was in.

use lbprof_collector::Activity;

use lbprof_analysis::model::samples::{SampledAt, SampledThreads};
use lbprof_analysis::model::{Model, RankModel, RegionIdx, chain};
use lbprof_analysis::structure::sampled_code::{SampledCode, SampledFunction};

use lbprof_analysis::structure::code_place::base_name;

/// The name of the frame or profile that the samples of some threads have of their own, or `None` for the first thread.
pub(super) fn whose(threads: SampledThreads) -> Option<&'static str> {
    match threads {
        SampledThreads::First => None,
        SampledThreads::WithMpi => Some("other threads with MPI calls"),
        SampledThreads::WithoutMpi => Some("threads without MPI calls"),
        SampledThreads::Unplaced => Some("regions not known"),
    }
}

/// CPU time of some threads of a rank by stack, in the order of places; seconds.
pub(super) fn stacks<'a>(
    model: &'a Model,
    code: &'a SampledCode,
    rank: &'a RankModel,
    threads: SampledThreads,
) -> impl Iterator<Item = (Vec<String>, f64)> + 'a {
    rank.samples.times(threads).iter().map(move |(at, time)| (frames(model, code, at, threads), time.seconds))
}

/// Computation of a rank's first thread in a region and functions.
pub(super) struct ComputationStack {
    /// The region.
    pub region: RegionIdx,
    /// The frames, outermost first: regions, then functions.
    pub frames: Vec<String>,
    /// CPU time.
    pub seconds: f64,
}

/// Returns the stacks of the computation of a rank's first thread, by samples.
pub(super) fn computation_stacks(model: &Model, code: &SampledCode, rank: &RankModel) -> Vec<ComputationStack> {
    let computing =
        rank.samples.times(SampledThreads::First).iter().filter(|(at, _)| at.activity == Activity::Computation);
    let stacks = computing.map(|(at, time)| ComputationStack {
        region: at.region,
        frames: frames(model, code, at, SampledThreads::First),
        seconds: time.seconds,
    });
    stacks.collect()
}

fn frames(model: &Model, code: &SampledCode, at: &SampledAt, threads: SampledThreads) -> Vec<String> {
    let mut frames: Vec<String> = match threads {
        SampledThreads::Unplaced => Vec::new(),
        _ => {
            chain(&model.regions, at.region).iter().rev().map(|&idx| model.regions[idx as usize].name.clone()).collect()
        }
    };
    // What others do while the first thread is in a call is no part of that.
    if at.activity != Activity::Computation && threads == SampledThreads::First {
        frames.push(at.activity.name().to_owned());
    }
    let from = frames.len();
    let mut next = Some(at.node);
    while let Some(node) = next {
        frames.insert(from, code.function(node).map(name).unwrap_or_default());
        next = code.nodes.get(node as usize).and_then(|node| node.parent);
    }
    frames
}

/// A function's name, or that of its file in brackets.
fn name(function: &SampledFunction) -> String {
    match function.name.as_str() {
        "" => format!("[{}]", function.module.as_deref().map_or("generated code", base_name)),
        name => name.to_owned(),
    }
}
