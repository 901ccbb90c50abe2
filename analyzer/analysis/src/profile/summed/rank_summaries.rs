//! A rank's summaries, in a first look in place of its events.

use bincode::{Decode, Encode};
use lbprof_collector::ProblemKind;

use crate::model::Model;
use crate::model::ranks::samples::RankSamples;

#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub(in crate::profile) struct SummarizedRanks {
    pub(in crate::profile) ranks: u32,
    pub(in crate::profile) without_iterations: u32,
}

/// Removes the data by iteration: if some ranks lack them, the longest rank in an iteration is not known.
pub(in crate::profile) fn forget_iterations(model: &mut Model) {
    for rank in &mut model.ranks {
        rank.iterations.clear();
        rank.in_iterations.clear();
    }
    model.slowest.fill(Vec::new());
    model.joined.clear();
    model.problems.retain(|problem| problem.kind != ProblemKind::IterationsJoined);
    model.outermost_iterated.clear();
}

/// Removes the data from samples: summaries have none, and the samples of the other ranks alone would seem to be all.
pub(in crate::profile) fn forget_samples(model: &mut Model) {
    for rank in model.ranks.iter_mut() {
        rank.samples = RankSamples::default();
        rank.pools.clear();
    }
    model.lines.clear();
}
