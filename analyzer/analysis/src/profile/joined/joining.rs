//! Joins the iterations of single ranks in blocks if their times would take too much memory.
//!
//! ```text
//!                    iteration 0 1 2 3 4 5 6 7                    0-3   4-7
//!   rank 0             0.1 s each               ─→    rank 0     0.4 s  0.4 s       for each activity and part
//!   rank 1             0.2 s each                     rank 1     0.8 s  0.8 s
//!   sum, longest       0.3, 0.2 s each                sum, longest of each iteration as before
//! ```
//!
//! Each rank may have an equal share of [`MAX_ITERATIONS`]. The excess decides the length of its blocks, and all ranks take the longest blocks of any
//! rank: so the order, and the number of processes, in which ranks are joined do not matter.

use std::collections::{BTreeMap, BTreeSet};

use lbprof_collector::{Problem, ProblemKind};

use crate::model::ranks::joined_iterations::JoinedIterations;
use crate::model::{IterationSeries, Model, RankModel, RegionIdx, first_of_block};

/// Maximum number of iterations of all ranks and iterated regions together that are kept one by one: at 44 bytes with three activities, 116 with all
/// and eight parts, 0.7 to 1.9 GB.
pub const MAX_ITERATIONS: usize = 1 << 24;

/// More ranks than this have half as many iterations, because the rest of each rank's data takes more memory then.
const MANY_RANKS: usize = 1 << 15;

/// Returns the maximum number of iterations of one of `ranks` ranks, if there may be `all` together.
pub fn most_of_rank(all: usize, ranks: usize) -> usize {
    let all = if ranks > MANY_RANKS { all / 2 } else { all };
    // Fewer blocks would not show the course of the run.
    const LEAST: usize = 16;
    (all / ranks.max(1)).max(LEAST)
}

/// Returns the binary logarithm of the shortest blocks with which a rank has at most `most` entries, for each region that needs them.
///
/// Regions with few iterations leave the rest of their shares to the others.
pub(in crate::profile) fn needed_powers(
    iterations: &[(RegionIdx, IterationSeries)],
    most: usize,
) -> BTreeMap<RegionIdx, u8> {
    let mut by_length: Vec<&(RegionIdx, IterationSeries)> = iterations.iter().collect();
    by_length.sort_by_key(|(idx, series)| (series.numbers.len(), *idx));
    let mut powers = BTreeMap::new();
    let (mut left, mut regions) = (most, by_length.len());
    for (idx, series) in by_length {
        let share = (left / regions.max(1)).max(1);
        let power = (0..u32::BITS as u8).find(|&power| n_blocks(&series.numbers, power) <= share);
        let power = power.unwrap_or(u32::BITS as u8 - 1);
        left = left.saturating_sub(n_blocks(&series.numbers, power));
        regions -= 1;
        if power > 0 {
            powers.insert(*idx, power);
        }
    }
    powers
}

/// Returns the number of blocks of 2^`power` iterations that contain these numbers, which ascend.
fn n_blocks(numbers: &[u32], power: u8) -> usize {
    numbers.chunk_by(|one, next| first_of_block(*one, power) == first_of_block(*next, power)).count()
}

/// Joins the iterations of two groups of ranks in the longer blocks of either. `joined` are the regions of `ranks` with blocks, and then the regions of
/// both; `more` are the regions of `higher`.
pub(in crate::profile) fn join_groups(
    joined: &mut BTreeMap<RegionIdx, JoinedIterations>,
    ranks: &mut [RankModel],
    mut more: BTreeMap<RegionIdx, JoinedIterations>,
    higher: &mut [RankModel],
) {
    let regions: BTreeSet<RegionIdx> = joined.keys().chain(more.keys()).copied().collect();
    for region in regions {
        let all = joined.entry(region).or_default();
        let JoinedIterations { power, sums } = more.remove(&region).unwrap_or_default();
        let powers = [all.power, power];
        all.power = all.power.max(power);
        all.add(&sums);
        for (ranks, power) in [&mut *ranks, &mut *higher].into_iter().zip(powers) {
            if power < all.power {
                join_ranks(ranks, region, all);
            }
        }
    }
}

pub(in crate::profile) fn join_ranks(ranks: &mut [RankModel], region: RegionIdx, joined: &mut JoinedIterations) {
    for (_, series) in ranks.iter_mut().flat_map(|rank| &mut rank.iterations).filter(|(idx, _)| *idx == region) {
        joined.join(series);
    }
}

pub(in crate::profile) fn report_joined(model: &mut Model) {
    for (&region, joined) in &model.joined {
        let path = model.regions.get(region as usize).map_or("", |region| region.path.as_str());
        let detail = format!("blocks of {} iterations of {path}", joined.per_block());
        model.problems.push(Problem { kind: ProblemKind::IterationsJoined, rank: None, count: 1, detail });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn iterations(lengths: &[u32]) -> Vec<(RegionIdx, IterationSeries)> {
        let series =
            lengths.iter().map(|&n| IterationSeries { numbers: (0..n).collect(), ..IterationSeries::default() });
        (1..).zip(series).collect()
    }

    fn powers(lengths: &[u32], most: usize) -> Vec<(RegionIdx, u8)> {
        needed_powers(&iterations(lengths), most).into_iter().collect()
    }

    #[test]
    fn iterations_are_joined_only_where_they_are_too_many() {
        assert_eq!(powers(&[100], 100), []);
        assert_eq!(powers(&[101], 100), [(1, 1)]);
        assert_eq!(powers(&[10_000], 100), [(1, 7)]);
        // 10 of the first leave 90 to the second.
        assert_eq!(powers(&[10, 1000], 100), [(2, 4)]);
        // 32 of the first leave 68 to the second.
        assert_eq!(powers(&[1000, 1000], 100), [(1, 5), (2, 4)]);
        assert_eq!(powers(&[1000], 0), [(1, 10)]);
    }

    #[test]
    fn each_rank_has_an_equal_share() {
        assert_eq!(most_of_rank(MAX_ITERATIONS, 1 << 14), 1 << 10);
        assert_eq!(most_of_rank(MAX_ITERATIONS, 0), MAX_ITERATIONS);
        assert_eq!(most_of_rank(MAX_ITERATIONS, MANY_RANKS), 1 << 9);
        assert_eq!(most_of_rank(MAX_ITERATIONS, 1 << 17), 1 << 6);
        assert_eq!(most_of_rank(MAX_ITERATIONS, 10_000_000), 16);
    }
}
