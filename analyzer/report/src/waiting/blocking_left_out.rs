//! Sums up causes and pairs that are not listed, by clusters of ranks.

use std::collections::{BTreeMap, BTreeSet};

use lbprof_collector::Activity;
use serde::Serialize;

use crate::fraction_of;
use crate::rows::serial;
use lbprof_analysis::metrics::blocking::{CauseClass, WaitCause};

/// Causes that are not listed, of the ranks of one cluster.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct CausesOfCluster {
    /// `id` of the cluster; null: the ranks of none, and if there are more than 500 objects, in the last ones: of all others.
    pub cluster: Option<u32>,
    /// Path of the region; null: all others.
    pub region: Option<String>,
    /// The ranks' activity there; null: messages' delays, unknown, or all others.
    #[serde(serialize_with = "serial::known_activity")]
    #[schemars(with = "Option<serial::ActivityName>")]
    pub activity: Option<Activity>,
    /// Class of the causes.
    pub class: CauseClass,
    /// Number of causes.
    pub causes: usize,
    /// Number of their ranks.
    pub rank_count: usize,
    /// Waiting that they cause.
    pub caused_s: f64,
    /// Fraction of all waiting.
    pub share: f64,
    /// The largest of them.
    pub max_s: f64,
    /// Its rank.
    pub max_rank: u32,
    /// The ranks' own time in the selected part, without waiting, as far as it is known.
    pub own_s: f64,
}

/// Pairs of ranks that are not listed, of two clusters.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct PairsOfClusters {
    /// `id` of the cluster of the ranks that wait; null: the ranks of none, and if there are more than 500 objects, in the last one: of all
    /// others.
    pub waiting_cluster: Option<u32>,
    /// `id` of the cluster of the ranks that are the cause, likewise.
    pub source_cluster: Option<u32>,
    /// Number of pairs.
    pub pairs: usize,
    /// Time that the ranks wait.
    pub time_s: f64,
    /// The longest of a pair.
    pub max_s: f64,
}

pub(crate) type ClusterOf<'a> = &'a dyn Fn(u32) -> Option<u32>;

pub(crate) type CauseIn<'a> = (&'a WaitCause, &'a str);

/// Sums up `causes` by cluster, region and activity, the most waiting first. Returns at most `most` rows, and one more for each class.
pub(crate) fn sum_up_causes(
    causes: &[CauseIn],
    total_s: f64,
    cluster_of: ClusterOf,
    most: usize,
) -> Vec<CausesOfCluster> {
    let mut groups: BTreeMap<_, Vec<&WaitCause>> = BTreeMap::new();
    for &(cause, region) in causes {
        let key = (cluster_of(cause.rank), Some(region), cause.activity, cause.class);
        groups.entry(key).or_default().push(cause);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by(|a, b| caused_s(&b.1).total_cmp(&caused_s(&a.1)));
    let mut others: BTreeMap<_, Vec<&WaitCause>> = BTreeMap::new();
    for ((.., class), causes) in groups.split_off(most.min(groups.len())) {
        others.entry((None, None, None, class)).or_default().extend(causes);
    }
    groups.extend(others);
    let rows = groups.into_iter().map(|((cluster, region, activity, class), causes)| {
        let largest = causes.iter().max_by(|a, b| a.caused_s.total_cmp(&b.caused_s));
        CausesOfCluster {
            cluster,
            region: region.map(str::to_owned),
            activity,
            class,
            causes: causes.len(),
            rank_count: causes.iter().map(|cause| cause.rank).collect::<BTreeSet<u32>>().len(),
            caused_s: caused_s(&causes),
            share: fraction_of(caused_s(&causes), total_s),
            max_s: largest.map_or(0.0, |cause| cause.caused_s),
            max_rank: largest.map_or(0, |cause| cause.rank),
            own_s: causes.iter().filter_map(|cause| cause.own_s).sum(),
        }
    });
    rows.collect()
}

fn caused_s(causes: &[&WaitCause]) -> f64 {
    causes.iter().map(|cause| cause.caused_s).sum()
}

/// Sums up `pairs` (waiting rank, causing rank, seconds) by clusters, the most waiting first. Returns at most `most` + 1 rows.
pub(crate) fn sum_up_pairs(pairs: &[(u32, u32, f64)], cluster_of: ClusterOf, most: usize) -> Vec<PairsOfClusters> {
    let mut groups: BTreeMap<(Option<u32>, Option<u32>), PairsOfClusters> = BTreeMap::new();
    for &(waits, causes, time_s) in pairs {
        let (waiting_cluster, source_cluster) = (cluster_of(waits), cluster_of(causes));
        let none = PairsOfClusters { waiting_cluster, source_cluster, pairs: 0, time_s: 0.0, max_s: 0.0 };
        let pair = PairsOfClusters { pairs: 1, time_s, max_s: time_s, ..none };
        groups.entry((waiting_cluster, source_cluster)).or_insert(none).add(&pair);
    }
    let mut groups: Vec<PairsOfClusters> = groups.into_values().collect();
    groups.sort_by(|a, b| b.time_s.total_cmp(&a.time_s));
    let others = groups.split_off(most.min(groups.len()));
    groups.extend(others.into_iter().reduce(|mut all, one| {
        (all.waiting_cluster, all.source_cluster) = (None, None);
        all.add(&one);
        all
    }));
    groups
}

impl PairsOfClusters {
    fn add(&mut self, other: &PairsOfClusters) {
        self.pairs += other.pairs;
        self.time_s += other.time_s;
        self.max_s = self.max_s.max(other.max_s);
    }
}
