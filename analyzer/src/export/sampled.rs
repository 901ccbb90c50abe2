//! The stacks of sampled CPU time: regions from the outermost on, what the rank did if it was in a call, functions from the outermost on.

use lbprof_collector::Activity;

use crate::model::samples::{SampledAt, SampledThreads};
use crate::model::{Model, RankModel, chain};
use crate::structure::sampled_code::{SampledCode, SampledFunction};

use crate::structure::code_place::base_name;

/// CPU time of a rank's first thread by stack, in the order of places; seconds.
pub(super) fn stacks<'a>(
    model: &'a Model,
    code: &'a SampledCode,
    rank: &'a RankModel,
) -> impl Iterator<Item = (Vec<String>, f64)> + 'a {
    rank.samples.times(SampledThreads::First).iter().map(move |(at, time)| (frames(model, code, at), time.seconds))
}

fn frames(model: &Model, code: &SampledCode, at: &SampledAt) -> Vec<String> {
    let mut frames: Vec<String> =
        chain(&model.regions, at.region).iter().rev().map(|&idx| model.regions[idx as usize].name.clone()).collect();
    if at.activity != Activity::Computation {
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
