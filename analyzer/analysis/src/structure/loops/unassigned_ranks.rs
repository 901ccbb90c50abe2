//! Groups ranks that run the same code, judged by the numbers of their calls.

use std::collections::BTreeMap;

use crate::structure::iterations::patterns::found_loop::LoopAnchor;
use crate::structure::survey::{CallSurvey, RankSurvey};
use lbprof_thresholds::regions::{MAX_DIFFERENCE_OF_LOOP_ENDS, MIN_REPETITIONS};

#[derive(Clone, Copy)]
pub struct UnassignedRank<'a> {
    pub rank: &'a RankSurvey,
    /// The index of its set of repeated kinds of calls, in the order of all ranks' sets.
    pub kinds: usize,
}

pub fn calling_ranks(survey: &CallSurvey) -> Vec<UnassignedRank<'_>> {
    let mut sets: BTreeMap<Vec<u32>, Vec<&RankSurvey>> = BTreeMap::new();
    for rank in survey.ranks.iter().filter(|rank| rank.calls > 0) {
        sets.entry(kinds_of(rank).collect()).or_default().push(rank);
    }
    let mut all: Vec<UnassignedRank> = sets
        .into_values()
        .enumerate()
        .flat_map(|(kinds, ranks)| ranks.into_iter().map(move |rank| UnassignedRank { rank, kinds }))
        .collect();
    all.sort_by_key(|one| one.rank.rank);
    all
}

fn kinds_of(rank: &RankSurvey) -> impl Iterator<Item = u32> {
    rank.counts.iter().filter(|&&(_, count)| count >= MIN_REPETITIONS).map(|&(kind, _)| kind)
}

/// Returns the rank that represents most others: the one with the median number of calls in the largest set of ranks that repeat the same kinds of
/// calls, and the lowest if there are several.
pub fn representative_rank<'a>(ranks: &[UnassignedRank<'a>]) -> Option<UnassignedRank<'a>> {
    let mut sets: BTreeMap<usize, Vec<UnassignedRank>> = BTreeMap::new();
    for one in ranks {
        sets.entry(one.kinds).or_default().push(*one);
    }
    let (_, mut largest) = sets.into_iter().rev().max_by_key(|(_, ranks)| ranks.len())?;
    largest.sort_by_key(|one| (one.rank.calls, one.rank.rank));
    let middle = largest.get((largest.len() - 1) / 2)?.rank.calls;
    largest.iter().find(|one| one.rank.calls == middle).copied()
}

/// Returns whether `one` ends iterations like `chosen`, equally often.
pub fn has_loop(one: UnassignedRank, chosen: UnassignedRank, anchor: &LoopAnchor) -> bool {
    let [own, expected] = [one, chosen].map(|rank| rank.rank.count_all(&anchor.tokens) as f64);
    match anchor.run {
        // The length of runs may differ between ranks, e.g. with the number of their neighbours, but not the calls around them.
        true => own > 0.0 && one.kinds == chosen.kinds,
        false => (own - expected).abs() <= (MAX_DIFFERENCE_OF_LOOP_ENDS * expected).max(1.0),
    }
}

pub fn has_repeated_calls_of(one: UnassignedRank, chosen: UnassignedRank) -> bool {
    one.kinds == chosen.kinds || kinds_of(one.rank).all(|kind| chosen.rank.count(kind) > 0)
}
