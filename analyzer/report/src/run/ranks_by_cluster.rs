//! Figures of ranks by cluster, and the choice of ranks that get their own rows in large runs.

use std::collections::{BTreeMap, BTreeSet};

use lbprof_collector::Activity;
use lbprof_collector::definition::EndReason;
use serde::Serialize;

use crate::RankRow;
use crate::rows::bounds::ListBounds;

/// The ranks of a cluster, including the ranks with a row in `ranks`. Over all objects, numbers and sums are figures of the run.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct RanksOfCluster {
    /// `id` of the cluster; null: the ranks of none.
    pub cluster: Option<u32>,
    /// Number of ranks in the cluster.
    pub rank_count: usize,
    /// Number of those ranks that have an object in `ranks`.
    pub listed: usize,
    /// Records.
    pub events: FigureSpread,
    /// Computation.
    pub computation_s: FigureSpread,
    /// Time by activity, of the threads that called `MPI_Init`.
    pub activities: BTreeMap<&'static str, FigureSpread>,
    /// Time in MPI: all activities but computation and the recorder.
    pub mpi_s: FigureSpread,
    /// Time outside of their windows while others are in theirs.
    pub idle_s: FigureSpread,
    /// Time for which recording was stopped.
    pub paused_s: FigureSpread,
    /// Time in which they could only wait; null if waiting was not analysed.
    pub blocked_s: Option<FigureSpread>,
    /// Waiting of all ranks that they cause.
    pub blocking_caused_s: Option<FigureSpread>,
    /// Time that threads beside the first spent in MPI.
    pub other_threads_mpi_s: FigureSpread,
}

/// A figure of several ranks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct FigureSpread {
    /// Sum over the ranks.
    pub sum: f64,
    /// Its mean.
    pub mean: f64,
    /// The smallest.
    pub min: f64,
    /// The rank with that, the lowest of several.
    pub min_rank: u32,
    /// The largest.
    pub max: f64,
    /// The rank with that, the lowest of several.
    pub max_rank: u32,
}

impl FigureSpread {
    /// Returns `None` if there are no ranks, or one lacks the figure.
    fn over_ranks(rows: &[&RankRow], figure: impl Fn(&RankRow) -> Option<f64>) -> Option<FigureSpread> {
        let values: Vec<(f64, u32)> = rows.iter().map(|row| Some((figure(row)?, row.rank))).collect::<Option<_>>()?;
        let (min, min_rank) = values.iter().copied().reduce(|min, next| if next.0 < min.0 { next } else { min })?;
        let (max, max_rank) = values.iter().copied().reduce(|max, next| if next.0 > max.0 { next } else { max })?;
        let sum: f64 = values.iter().map(|(value, _)| value).sum();
        Some(FigureSpread { sum, mean: sum / rows.len() as f64, min, min_rank, max, max_rank })
    }
}

impl RanksOfCluster {
    fn new(cluster: Option<u32>, rows: &[&RankRow], listed: usize) -> Option<RanksOfCluster> {
        let mut activities = BTreeMap::new();
        for activity in Activity::ALL {
            let spread = FigureSpread::over_ranks(rows, |row| Some(row.seconds[activity as usize]))?;
            if spread.sum > 0.0 {
                activities.insert(activity.name(), spread);
            }
        }
        Some(RanksOfCluster {
            cluster,
            rank_count: rows.len(),
            listed,
            events: FigureSpread::over_ranks(rows, |row| Some(row.events as f64))?,
            computation_s: FigureSpread::over_ranks(rows, |row| Some(row.computation_s))?,
            activities,
            mpi_s: FigureSpread::over_ranks(rows, |row| Some(row.mpi_s))?,
            idle_s: FigureSpread::over_ranks(rows, |row| Some(row.idle_s))?,
            paused_s: FigureSpread::over_ranks(rows, |row| Some(row.paused_s))?,
            blocked_s: FigureSpread::over_ranks(rows, |row| row.blocked_s),
            blocking_caused_s: FigureSpread::over_ranks(rows, |row| row.blocking_caused_s),
            other_threads_mpi_s: FigureSpread::over_ranks(rows, |row| Some(row.other_threads_mpi_s))?,
        })
    }
}

/// Returns a row per cluster, followed by one for the ranks of no cluster. `listed` are the ranks with their own rows.
pub(crate) fn cluster_rank_rows(ranks: &[RankRow], listed: &[&RankRow]) -> Vec<RanksOfCluster> {
    let mut clusters: BTreeMap<(bool, Option<u32>), Vec<&RankRow>> = BTreeMap::new();
    for row in ranks {
        clusters.entry((row.cluster.is_none(), row.cluster)).or_default().push(row);
    }
    let mut n_listed: BTreeMap<Option<u32>, usize> = BTreeMap::new();
    for row in listed.iter() {
        *n_listed.entry(row.cluster).or_default() += 1;
    }
    let rows = clusters.into_iter().filter_map(|((_, cluster), rows)| {
        let n_listed = n_listed.get(&cluster).copied().unwrap_or(0);
        RanksOfCluster::new(cluster, &rows, n_listed)
    });
    rows.collect()
}

/// Returns the ranks that get rows: all, or in large runs the first, those with extreme figures, deviating ranks and failed ranks.
pub(crate) fn listed_ranks<'a>(ranks: &'a [RankRow], bounds: &ListBounds) -> Vec<&'a RankRow> {
    if ranks.len() <= bounds.entries {
        return ranks.iter().collect();
    }
    let mut chosen = BTreeSet::from([0]);
    let figures: [fn(&RankRow) -> f64; 12] = [
        |row| row.computation_s,
        |row| row.mpi_s,
        |row| row.idle_s,
        |row| row.paused_s,
        |row| row.blocked_s.unwrap_or(0.0),
        |row| row.blocking_caused_s.unwrap_or(0.0),
        |row| row.begin_s,
        |row| row.end_s,
        |row| row.events as f64,
        |row| row.imbalanced_s,
        |row| row.other_threads_mpi_s,
        |row| row.usage.map_or(0.0, |usage| usage.max_resident as f64),
    ];
    let by_figure = figures.map(|figure| ranks.iter().map(figure).collect());
    let by_activity = Activity::ALL.map(|activity| ranks.iter().map(|row| row.seconds[activity as usize]).collect());
    let values: Vec<Vec<f64>> = by_figure.into_iter().chain(by_activity).collect();
    for values in values {
        let mut order: Vec<(f64, usize)> = values.into_iter().zip(0..).collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let differ = order.first().map(|first| first.0) != order.last().map(|last| last.0);
        if differ {
            chosen.extend(order.iter().take(bounds.extremes).map(|&(_, at)| at));
            chosen.extend(order.iter().rev().take(bounds.extremes.div_ceil(4)).map(|&(_, at)| at));
        }
    }
    let deviating = (0..ranks.len()).filter(|&at| ranks[at].deviates);
    chosen.extend(deviating.take(5 * bounds.extremes));
    let failed = ranks.iter().enumerate().filter(|(_, row)| {
        let has_ended = matches!(row.end_reason, Some(EndReason::Finalize | EndReason::Exit));
        !has_ended || row.exit_status.is_some_and(|status| status != 0)
    });
    chosen.extend(failed.map(|(at, _)| at).take(5 * bounds.extremes));
    chosen.into_iter().map(|at| &ranks[at]).collect()
}
