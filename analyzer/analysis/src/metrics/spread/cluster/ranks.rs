//! Clusters of ranks that run the same code: DBSCAN (docs/metrics.md §1). A global load balance means nothing across clusters.
//!
//! The distance of two ranks is the larger of the shares of their calls that the other does not make ([`super::difference`]). So
//! how long a rank takes for its code does not matter: ranks that all run the same have distance 0 however much they differ in
//! time, and noise between like ranks cannot be blown up, for nothing is divided by its spread.
//!
//! A rank that runs only a part of a cluster's code, and next to none of its own, joins that cluster: it has less to do, as one
//! without particles, or ended early. It is not asked whether others could be reached through it, so that an idle rank does not
//! tie two programs together.

use std::collections::BTreeMap;

use super::RunCode;
use super::dbscan::cluster_points;
use super::difference::{ClusterProfile, code_difference, profile_differences, square_matrix};
use lbprof_thresholds::metrics::MIN_RANKS_OF_CLUSTER;

/// Most different profiles of code that are clustered; ranks with others, which are rarer, join the nearest.
pub const MOST_PROFILES: usize = 500;

const RADIUS: std::ops::RangeInclusive<f64> = 0.5..=0.75;

/// Clusters of ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct RankClusters {
    /// By rank the number of its cluster, from 0; `None` for ranks of no cluster (DBSCAN's noise): no other rank runs
    /// similar code. Cluster 0 has the first rank of all that are in any, and so on.
    pub of: Vec<Option<usize>>,
    /// Number of clusters.
    pub n: usize,
    /// The radius within which ranks are neighbours (DBSCAN's ε), in 0..=1. Ranks of a cluster may be further apart, with others between them.
    pub radius: f64,
    /// Different profiles of code that ranks have.
    pub profiles: usize,
    /// Number of profiles that were clustered: all, up to [`MOST_PROFILES`].
    pub clustered: usize,
}

impl RankClusters {
    /// Returns whether ranks run different code.
    pub fn differ(&self) -> bool {
        self.n > 1 || (self.of.len() > 1 && self.of.contains(&None))
    }

    /// The clusters, then each rank of no cluster by itself; ranks as indices.
    pub fn parts(&self) -> Vec<ClusterOrRank> {
        let mut parts: Vec<ClusterOrRank> =
            (0..self.n).map(|number| ClusterOrRank { cluster: Some(number), members: Vec::new() }).collect();
        for (at, of) in self.of.iter().enumerate() {
            match of.and_then(|number| parts.get_mut(number)) {
                Some(part) => part.members.push(at),
                None => parts.push(ClusterOrRank { cluster: None, members: vec![at] }),
            }
        }
        parts
    }
}

/// A cluster, or a rank of no cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterOrRank {
    /// The cluster's number; `None` for a rank of none.
    pub cluster: Option<usize>,
    /// Its ranks, as indices, ascending.
    pub members: Vec<usize>,
}

/// The clusters of the ranks of a run. Their radius follows from the knee of the distances to the nearest other profile of code,
/// within 0.5..=0.75.
///
/// Fewer than 3 ranks are one cluster: of two that differ neither is the odd one.
pub fn cluster_ranks(codes: &RunCode) -> RankClusters {
    const LEAST: usize = 3;
    let n_ranks = codes.ranks.len();
    let all = rank_profiles(codes);
    let clustered = all.len().min(MOST_PROFILES);
    let (profiles, rest) = all.split_at(clustered);
    let directed = profile_differences(codes, profiles);
    let distances = square_matrix(clustered, |a, b| f64::max(directed[a][b], directed[b][a]));
    let radius = radius_of(&distances);
    let mut found =
        RankClusters { of: vec![Some(0); n_ranks], n: n_ranks.min(1), radius, profiles: all.len(), clustered };
    if n_ranks < LEAST {
        return found;
    }
    let labels = join_parts(
        &directed,
        &distances,
        separate_noise(&cluster_points(&distances, radius, MIN_RANKS_OF_CLUSTER)),
        radius,
    );
    let labels_of_rest = rest.iter().zip(n_ranks..).map(|(profile, next)| {
        let nearest =
            profiles.iter().zip(&labels).map(|(other, label)| (code_difference(profile, other, false), *label));
        let nearest = nearest.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|(distance, _)| *distance < radius);
        nearest.map_or(next, |(_, label)| label)
    });
    let mut label_of: Vec<usize> = vec![usize::MAX; n_ranks];
    for (profile, label) in all.iter().zip(labels.iter().copied().chain(labels_of_rest)) {
        for &at in &profile.ranks {
            label_of[at] = label;
        }
    }
    (found.of, found.n) = number_clusters(&label_of);
    found
}

/// Ranks by profile of code, the most frequent profile first. Like ranks have the same profile, so that few
/// profiles remain: numbers of calls are the same where they lie within a fifth of the same power of √2.
fn rank_profiles(codes: &RunCode) -> Vec<ClusterProfile> {
    let mut by_key: BTreeMap<Vec<(u32, u32)>, Vec<usize>> = BTreeMap::new();
    for (at, rank) in codes.ranks.iter().enumerate() {
        let steps = rank.runs.iter().map(|run| (run.piece, (2.0 * run.times.max(1.0).log2()).round() as u32));
        by_key.entry(steps.collect()).or_default().push(at);
    }
    let mut profiles: Vec<ClusterProfile> =
        by_key.into_values().map(|ranks| ClusterProfile::new(codes, ranks)).collect();
    profiles.sort_by_key(|profile| std::cmp::Reverse(profile.ranks.len()));
    profiles
}

/// Labels of DBSCAN, with one of its own for each profile that has none.
fn separate_noise(labels: &[Option<usize>]) -> Vec<usize> {
    let n = labels.iter().flatten().max().map_or(0, |max| max + 1);
    labels.iter().zip(n..).map(|(label, own)| label.unwrap_or(own)).collect()
}

/// Labels after parts that run only what another one runs have joined it, the nearest of several.
fn join_parts(directed: &[Vec<f64>], distances: &[Vec<f64>], labels: Vec<usize>, radius: f64) -> Vec<usize> {
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, &label) in labels.iter().enumerate() {
        members.entry(label).or_default().push(at);
    }
    let mut joins: BTreeMap<usize, usize> = BTreeMap::new();
    for (&label, part) in &members {
        let mut nearest: Option<(f64, usize)> = None;
        for (&other, whole) in members.iter().filter(|(other, _)| **other != label) {
            if !part.iter().all(|&a| whole.iter().any(|&b| directed[a][b] < radius)) {
                continue;
            }
            let pairs = part.iter().flat_map(|&a| whole.iter().map(move |&b| distances[a][b]));
            let distance = pairs.fold(f64::INFINITY, f64::min);
            if nearest.is_none_or(|(least, _)| distance < least) {
                nearest = Some((distance, other));
            }
        }
        joins.extend(nearest.map(|(_, other)| (label, other)));
    }
    labels.into_iter().map(|label| last_joined(&joins, label)).collect()
}

/// Follows `joins` from a label to the last one. Two parts of each other join one another: the lower label stands for both.
fn last_joined(joins: &BTreeMap<usize, usize>, label: usize) -> usize {
    let mut seen = vec![label];
    let mut last = label;
    while let Some(&next) = joins.get(&last) {
        if let Some(at) = seen.iter().position(|&before| before == next) {
            return seen[at..].iter().copied().min().unwrap_or(label);
        }
        seen.push(next);
        last = next;
    }
    last
}

/// Clusters in the order of the first ranks that have their labels, and how many there are. A label of a single rank is none.
fn number_clusters(labels: &[usize]) -> (Vec<Option<usize>>, usize) {
    let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
    for &label in labels.iter() {
        *sizes.entry(label).or_default() += 1;
    }
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    let mut of = Vec::with_capacity(labels.len());
    for label in labels {
        let next = numbers.len();
        let is_cluster = sizes.get(label).is_some_and(|&size| size >= MIN_RANKS_OF_CLUSTER);
        of.push(is_cluster.then(|| *numbers.entry(*label).or_insert(next)));
    }
    (of, numbers.len())
}

/// The radius by the knee of the k-distances: sorted, the distances of all profiles to their nearest other one rise slowly where
/// profiles belong together, then jump. The middle of the largest jump, kept within [`RADIUS`].
fn radius_of(distances: &[Vec<f64>]) -> f64 {
    let (least, most) = RADIUS.into_inner();
    let mut nearest: Vec<f64> = Vec::with_capacity(distances.len());
    for (at, row) in distances.iter().enumerate() {
        let others = row.iter().enumerate().filter(|(other, _)| *other != at);
        nearest.extend(others.map(|(_, &distance)| distance).reduce(f64::min));
    }
    nearest.sort_by(f64::total_cmp);
    let jumps = nearest.windows(2).filter_map(|pair| <[f64; 2]>::try_from(pair).ok());
    let knee = jumps.max_by(|a, b| (a[1] - a[0]).total_cmp(&(b[1] - b[0]))).filter(|pair| pair[1] > pair[0]);
    knee.map_or(least, |[before, after]| (0.5 * (before + after)).clamp(least, most))
}

#[cfg(test)]
mod tests;
