//! Clusters of ranks that run the same code: DBSCAN (METRICS §1). A global load balance means nothing across clusters.
//!
//! The distance of two ranks is the share of its time that one of them spends in code that the other never runs (regions,
//! calls of MPI at a source line), whichever of the two shares is larger:
//!
//! ```text
//!   rank 0, the master    | recv (a.c:10) 95 % | main 5 %     |     recv (a.c:10) is not rank 1's code: 0.95
//!   rank 1, a worker      | main 80 % | send (a.c:20) 20 %    |     send (a.c:20) is not rank 0's: 0.20;  distance 0.95
//!   rank 2, a slow worker | main 99 % | send (a.c:20)  1 %    |     rank 1 and rank 2 run the same: distance 0
//! ```
//!
//! A piece of code weighs what it takes of the time of the ranks that run it, on average. So how long a rank takes for its code
//! does not matter: ranks that all run the same are one cluster however much they differ, and noise between like ranks cannot
//! be blown up, for nothing is divided by its spread. All distances are shares of the time, in 0..=1, and only those of at
//! least half of it separate ranks: a rank at the border of a grid that lacks a neighbour runs a bit less code than others.
//!
//! Ranks whose records end early are asked only for the code that they did run; they join the cluster that has it.

use std::collections::{BTreeMap, BTreeSet};

use linfa::traits::Transformer;
use linfa_clustering::Dbscan;
use linfa_nn::CommonNearestNeighbour;
use linfa_nn::distance::Distance;
use ndarray::{Array1, Array2, ArrayView, ArrayView1, Axis, Dimension};

use super::RankCode;

/// Weight below which a piece of code is left out: it cannot separate ranks, but would make nearly all of them different.
const LEAST_WEIGHT: f64 = 1e-3;

/// Most different sets of code that are clustered; ranks with others, which are rarer, join the nearest within the radius.
pub const MOST_SETS: usize = 500;

/// The range in which the radius is chosen.
const RADIUS: std::ops::RangeInclusive<f64> = 0.5..=0.75;

/// Ranks within the radius of each other, itself included, from which on they are a cluster (DBSCAN's minPts).
const LEAST_RANKS: usize = 2;

/// How near ranks must be to belong together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Radius {
    /// The distance, in 0..=1.
    pub value: f64,
    /// Whether the user gave it.
    pub given: bool,
}

/// Code that a cluster's ranks run and no other rank does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnCode {
    /// Index of the piece of code.
    pub code: u32,
    /// Its share of the time of the ranks that run it, on average.
    pub share: f64,
}

/// Clusters of ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct Clusters {
    /// By rank the number of its cluster, from 0; `None` for ranks of no cluster (DBSCAN's noise): no other rank runs
    /// similar code. Cluster 0 has the first rank of all that are in any, and so on.
    pub of: Vec<Option<usize>>,
    /// How many clusters there are.
    pub n: usize,
    /// How near ranks must be.
    pub radius: Radius,
    /// Different sets of code that ranks run, pieces without weight left out.
    pub sets: usize,
    /// Those of them that were clustered: all, up to [`MOST_SETS`].
    pub clustered_sets: usize,
}

impl Clusters {
    /// Whether ranks run different code.
    pub fn differ(&self) -> bool {
        self.n > 1 || (self.of.len() > 1 && self.of.contains(&None))
    }

    /// Ranks of a cluster, as indices.
    pub fn members(&self, cluster: usize) -> Vec<usize> {
        self.of.iter().enumerate().filter(|(_, of)| **of == Some(cluster)).map(|(at, _)| at).collect()
    }

    /// Ranks of no cluster, as indices.
    pub fn noise(&self) -> Vec<usize> {
        self.of.iter().enumerate().filter(|(_, of)| of.is_none()).map(|(at, _)| at).collect()
    }

    /// The code that all of `members` run and no other rank does, the weightiest first.
    pub fn own_code(&self, ranks: &[RankCode], members: &[usize]) -> Vec<OwnCode> {
        let is_member: BTreeSet<usize> = members.iter().copied().collect();
        let mut counts: BTreeMap<u32, (usize, f64)> = BTreeMap::new();
        for &at in members {
            for &(code, share) in ranks.get(at).map_or(&[][..], |rank| &rank.shares) {
                let (count, sum) = counts.entry(code).or_default();
                (*count, *sum) = (*count + 1, *sum + share);
            }
        }
        for (_, rank) in ranks.iter().enumerate().filter(|(at, _)| !is_member.contains(at)) {
            rank.shares.iter().for_each(|(code, _)| _ = counts.remove(code));
        }
        let whole = members.iter().filter(|&&at| ranks.get(at).is_some_and(|rank| rank.whole)).count();
        let all = counts.into_iter().filter(|(_, (count, _))| *count >= whole);
        let mut own: Vec<OwnCode> =
            all.map(|(code, (count, sum))| OwnCode { code, share: sum / count.max(1) as f64 }).collect();
        own.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.code.cmp(&b.code)));
        own
    }
}

/// Distances that are known: a point is the index of its row.
#[derive(Clone, Debug)]
struct Known<'a>(&'a Array2<f64>);

impl Distance<f64> for Known<'_> {
    fn distance<D: Dimension>(&self, a: ArrayView<f64, D>, b: ArrayView<f64, D>) -> f64 {
        let index = |point: ArrayView<f64, D>| point.first().map_or(usize::MAX, |&index| index as usize);
        self.0.get([index(a), index(b)]).copied().unwrap_or(f64::INFINITY)
    }
}

/// The clusters of ranks, one entry a rank in `ranks`. `radius`: how near ranks must be, above 0; by default it follows from
/// the knee of the distances to the nearest other set of code, within 0.5..=0.75.
///
/// Fewer than 3 ranks are one cluster: of two that differ neither is the odd one.
pub fn clusters(ranks: &[RankCode], radius: Option<f64>) -> Clusters {
    const LEAST: usize = 3;
    let given = radius.filter(|radius| *radius > 0.0);
    let weights = weights(ranks);
    let sets: Vec<Vec<u32>> = ranks.iter().map(|rank| set(rank, &weights)).collect();
    let any_whole = ranks.iter().any(|rank| rank.whole);
    let is_whole = |at: usize| ranks[at].whole || !any_whole;
    // Like ranks have the same set, so that of many ranks few sets remain.
    let mut by_set: BTreeMap<&[u32], Vec<usize>> = BTreeMap::new();
    (0..ranks.len()).filter(|&at| is_whole(at)).for_each(|at| by_set.entry(&sets[at]).or_default().push(at));
    let mut different: Vec<(&[u32], Vec<usize>)> = by_set.into_iter().collect();
    different.sort_by_key(|(_, members)| std::cmp::Reverse(members.len()));
    let clustered_sets = different.len().min(MOST_SETS);
    let distances = distances(&different[..clustered_sets], &weights);
    let value = given.unwrap_or_else(|| radius_of(&distances));
    let radius = Radius { value, given: given.is_some() };
    let mut found = Clusters { of: vec![Some(0); ranks.len()], n: 1, radius, sets: different.len(), clustered_sets };
    if ranks.len() < LEAST {
        found.n = ranks.len().min(1);
        return found;
    }
    let labels = dbscan(&distances, value);
    // A set of several ranks is a cluster by itself; one of a single rank that no other is near is noise.
    let mut next = labels.iter().flatten().max().map_or(0, |max| max + 1);
    let mut label_of: Vec<Option<usize>> = vec![None; ranks.len()];
    let mut heads: Vec<(&[u32], Option<usize>)> = Vec::with_capacity(clustered_sets);
    for ((set, members), label) in different.iter().zip(labels.iter()) {
        let label = label.or_else(|| {
            (members.len() >= LEAST_RANKS).then(|| {
                next += 1;
                next - 1
            })
        });
        members.iter().for_each(|&at| label_of[at] = label);
        heads.push((set, label));
    }
    let rest = different[clustered_sets..].iter().flat_map(|(_, members)| members.iter().copied());
    let short = (0..ranks.len()).filter(|&at| !is_whole(at));
    for at in rest.chain(short) {
        let own = &sets[at];
        let far = |set: &[u32]| match is_whole(at) {
            true => only(own, set, &weights).max(only(set, own, &weights)),
            false => only(own, set, &weights),
        };
        let nearest = heads.iter().map(|(set, label)| (far(set), label)).min_by(|a, b| a.0.total_cmp(&b.0));
        label_of[at] = nearest.filter(|(distance, _)| *distance < value).and_then(|(_, label)| *label);
    }
    (found.of, found.n) = numbered(&label_of);
    found
}

/// Labels in the order of the first ranks that have them, and how many there are.
fn numbered(labels: &[Option<usize>]) -> (Vec<Option<usize>>, usize) {
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    let number = |label: &Option<usize>| {
        label.map(|label| {
            let next = numbers.len();
            *numbers.entry(label).or_insert(next)
        })
    };
    let of = labels.iter().map(number).collect();
    (of, numbers.len())
}

/// What each piece of code takes of the time of the ranks that run it, on average.
fn weights(ranks: &[RankCode]) -> Vec<f64> {
    let n = ranks.iter().flat_map(|rank| &rank.shares).map(|(code, _)| *code as usize + 1).max().unwrap_or(0);
    let mut sums = vec![(0.0, 0_u32); n];
    for (code, share) in ranks.iter().flat_map(|rank| &rank.shares) {
        if let Some((sum, count)) = sums.get_mut(*code as usize) {
            (*sum, *count) = (*sum + share, *count + 1);
        }
    }
    sums.into_iter().map(|(sum, count)| sum / f64::from(count.max(1))).collect()
}

/// The pieces of code of a rank that have weight.
fn set(rank: &RankCode, weights: &[f64]) -> Vec<u32> {
    let has_weight = |code: u32| weights.get(code as usize).is_some_and(|&weight| weight >= LEAST_WEIGHT);
    rank.shares.iter().map(|(code, _)| *code).filter(|&code| has_weight(code)).collect()
}

/// Weight of what is in `a` and not in `b`; both ascend.
fn only(a: &[u32], b: &[u32], weights: &[f64]) -> f64 {
    let missing = a.iter().filter(|code| b.binary_search(code).is_err());
    missing.map(|&code| weights.get(code as usize).copied().unwrap_or(0.0)).sum()
}

/// The distances of all pairs of sets: of what only one of both has, the larger weight.
fn distances(sets: &[(&[u32], Vec<usize>)], weights: &[f64]) -> Array2<f64> {
    let mut distances = Array2::zeros((sets.len(), sets.len()));
    for (row, (a, _)) in sets.iter().enumerate() {
        for (column, (b, _)) in sets.iter().enumerate().take(row) {
            let distance = only(a, b, weights).max(only(b, a, weights));
            distances[[row, column]] = distance;
            distances[[column, row]] = distance;
        }
    }
    distances
}

fn dbscan(distances: &Array2<f64>, radius: f64) -> Array1<Option<usize>> {
    let points = Array2::from_shape_fn((distances.nrows(), 1), |(row, _)| row as f64);
    let nearest = CommonNearestNeighbour::LinearSearch;
    let params = Dbscan::params_with(LEAST_RANKS, Known(distances), nearest).tolerance(radius);
    params.transform(&points).unwrap_or_else(|_| Array1::from_elem(points.nrows(), None))
}

/// The radius by the knee of the k-distances: sorted, the distances of all sets to their nearest other one rise slowly where
/// sets belong together, then jump. The middle of the largest jump, kept within [`RADIUS`].
fn radius_of(distances: &Array2<f64>) -> f64 {
    let (least, most) = RADIUS.into_inner();
    let nearest = |(at, row): (usize, ArrayView1<f64>)| {
        let others = row.into_iter().enumerate().filter(|(other, _)| *other != at);
        others.map(|(_, &distance)| distance).reduce(f64::min)
    };
    let mut nearest: Vec<f64> = distances.axis_iter(Axis(0)).enumerate().filter_map(nearest).collect();
    nearest.sort_by(f64::total_cmp);
    let jumps = nearest.windows(2).filter_map(|pair| <[f64; 2]>::try_from(pair).ok());
    let knee = jumps.max_by(|a, b| (a[1] - a[0]).total_cmp(&(b[1] - b[0]))).filter(|pair| pair[1] > pair[0]);
    knee.map_or(least, |[before, after]| (0.5 * (before + after)).clamp(least, most))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A rank that runs pieces of code for these shares of its time.
    fn rank(shares: &[(u32, f64)]) -> RankCode {
        RankCode { shares: shares.to_vec(), whole: true }
    }

    fn of(ranks: &[RankCode]) -> Vec<Option<usize>> {
        clusters(ranks, None).of
    }

    const MAIN: u32 = 0;
    const BARRIER: u32 = 1;

    #[test]
    fn like_ranks_are_one_cluster() {
        let ranks: Vec<RankCode> = (0..64).map(|at| rank(&[(MAIN, 0.9 + 1e-4 * at as f64), (BARRIER, 0.1)])).collect();
        let found = clusters(&ranks, None);
        assert_eq!((found.n, found.differ(), found.sets), (1, false, 1));
    }

    #[test]
    fn a_slow_rank_runs_the_same_code() {
        let fast = rank(&[(MAIN, 0.25), (BARRIER, 0.75)]);
        let slow = rank(&[(MAIN, 0.99), (BARRIER, 0.01)]);
        let found = clusters(&[fast.clone(), fast.clone(), fast, slow], None);
        assert!(!found.differ(), "{found:?}");
    }

    /// Pieces of code of master and workers.
    const RECV: u32 = 2;
    const SEND: u32 = 3;

    #[test]
    fn a_master_is_of_no_cluster_and_its_workers_of_one() {
        let worker = rank(&[(MAIN, 0.8), (SEND, 0.2)]);
        let slow = rank(&[(MAIN, 0.99), (SEND, 0.01)]);
        let master = rank(&[(MAIN, 0.05), (RECV, 0.95)]);
        let ranks = [master, worker.clone(), worker, slow];
        let found = clusters(&ranks, None);
        assert_eq!(found.of, [None, Some(0), Some(0), Some(0)]);
        assert!(found.differ());
        assert_eq!((found.noise(), found.members(0)), (vec![0], vec![1, 2, 3]));
        assert_eq!(found.own_code(&ranks, &[0]), [OwnCode { code: RECV, share: 0.95 }]);
        let own = found.own_code(&ranks, &[1, 2, 3]);
        assert!(own.len() == 1 && own[0].code == SEND && (own[0].share - 0.41 / 3.0).abs() < 1e-12, "{own:?}");
    }

    #[test]
    fn two_programs_are_two_clusters() {
        let ocean = rank(&[(10, 0.7), (11, 0.3)]);
        let air = rank(&[(20, 0.6), (21, 0.4)]);
        let ranks = [ocean.clone(), air.clone(), ocean.clone(), air.clone(), air];
        assert_eq!(of(&ranks), [Some(0), Some(1), Some(0), Some(1), Some(1)]);
    }

    #[test]
    fn a_border_of_a_grid_runs_the_same_program() {
        // Those inside receive from left and right, those at the ends from one side only.
        let (left, right) = (4, 5);
        let inner = rank(&[(MAIN, 0.6), (left, 0.2), (right, 0.2)]);
        let ranks = [
            rank(&[(MAIN, 0.6), (right, 0.4)]),
            inner.clone(),
            inner.clone(),
            inner,
            rank(&[(MAIN, 0.6), (left, 0.4)]),
        ];
        assert!(!clusters(&ranks, None).differ());
    }

    #[test]
    fn the_radius_can_be_given_and_is_told() {
        let ranks = [rank(&[(MAIN, 1.0)]), rank(&[(MAIN, 0.8), (RECV, 0.2)]), rank(&[(MAIN, 0.8), (RECV, 0.2)])];
        let found = clusters(&ranks, None);
        assert_eq!((found.n, found.radius), (1, Radius { value: 0.5, given: false }));
        let found = clusters(&ranks, Some(0.1));
        assert_eq!((found.of, found.radius), (vec![None, Some(0), Some(0)], Radius { value: 0.1, given: true }));
        assert!(!clusters(&ranks, Some(0.0)).radius.given, "a radius of nothing would separate like ranks");
    }

    #[test]
    fn the_knee_lies_in_the_largest_jump() {
        // Nearest distances 0.1, 0.1, 0.9: the middle of the jump is 0.5.
        let ranks = [rank(&[(0, 1.0)]), rank(&[(0, 0.9), (1, 0.1)]), rank(&[(2, 0.9), (3, 0.1)])];
        let found = clusters(&ranks, None);
        assert_eq!(found.of, [Some(0), Some(0), None]);
        assert!((0.5..0.75).contains(&found.radius.value), "{:?}", found.radius);
    }

    #[test]
    fn a_rank_whose_records_end_early_is_asked_for_what_it_ran() {
        let (start, solve, other) = (0, 1, 2);
        let ranks = [
            rank(&[(start, 0.1), (solve, 0.9)]),
            rank(&[(start, 0.1), (solve, 0.9)]),
            rank(&[(other, 1.0)]),
            rank(&[(other, 1.0)]),
            RankCode { shares: vec![(start, 1.0)], whole: false },
            RankCode { shares: vec![(other, 1.0)], whole: false },
            RankCode::default(),
        ];
        assert_eq!(of(&ranks), [0, 0, 1, 1, 0, 1, 0].map(Some));
    }

    #[test]
    fn hostile_runs_have_clusters_too() {
        assert_eq!((of(&[]), clusters(&[], None).n), (vec![], 0));
        assert_eq!(of(&[rank(&[(MAIN, 1.0)])]), [Some(0)]);
        assert_eq!(of(&[rank(&[(0, 1.0)]), rank(&[(1, 1.0)])]), [Some(0); 2], "of two neither is the odd one");
        assert_eq!(of(&vec![RankCode::default(); 5]), [Some(0); 5], "of nothing all run the same");
    }

    #[test]
    fn of_very_many_different_sets_the_rest_joins_the_nearest() {
        // Every rank runs a piece of code of its own for 1 % of its time, half of them another main part.
        let ranks: Vec<RankCode> =
            (0..MOST_SETS as u32 + 50).map(|at| rank(&[(at % 2, 0.99), (10 + at, 0.01)])).collect();
        let found = clusters(&ranks, None);
        assert_eq!((found.n, found.sets, found.clustered_sets), (2, MOST_SETS + 50, MOST_SETS));
        assert!(found.of.iter().enumerate().all(|(at, of)| *of == Some(at % 2)));
    }

    proptest! {
        #[test]
        fn renumbering_ranks_renames_them_and_no_more(
            kinds in prop::collection::vec((0..4u32, 0.1..0.9f64), 3..20),
            turn in 0..20usize,
        ) {
            let ranks: Vec<RankCode> =
                kinds.iter().map(|&(kind, share)| rank(&[(kind, share), (10 + kind / 2, 1.0 - share)])).collect();
            let n = ranks.len();
            let turned: Vec<RankCode> = (0..n).map(|at| ranks[(at + turn) % n].clone()).collect();
            let (before, after) = (of(&ranks), of(&turned));
            for a in 0..n {
                let (a_before, a_after) = (before[(a + turn) % n], after[a]);
                prop_assert_eq!(a_before.is_some(), a_after.is_some());
                for b in 0..n {
                    prop_assert_eq!(a_before == before[(b + turn) % n], a_after == after[b]);
                }
            }
        }
    }
}
