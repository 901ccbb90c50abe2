//! Ranks by cluster, and which ranks have a row of their own where there are very many.

use std::collections::{BTreeMap, BTreeSet};

use lbprof_collector::Activity;
use lbprof_collector::definition::EndReason;
use serde::Serialize;

use super::RankRow;
use super::bounds::ListBounds;

/// The ranks of a cluster, those with a row in `ranks` included. Over all objects, numbers and sums are those of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Time in MPI: that of all activities but computation and the recorder.
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Summarizes a figure of some ranks, or returns `None` if there are no ranks, or one has no such figure.
    fn over_ranks(rows: &[&RankRow], figure: impl Fn(&RankRow) -> Option<f64>) -> Option<FigureSpread> {
        let (first, others) = rows.split_first()?;
        let value = figure(first)?;
        let mut spread =
            FigureSpread { sum: value, mean: 0.0, min: value, min_rank: first.rank, max: value, max_rank: first.rank };
        for row in others {
            let value = figure(row)?;
            spread.sum += value;
            if value < spread.min {
                (spread.min, spread.min_rank) = (value, row.rank);
            }
            if value > spread.max {
                (spread.max, spread.max_rank) = (value, row.rank);
            }
        }
        spread.mean = spread.sum / rows.len() as f64;
        Some(spread)
    }
}

impl RanksOfCluster {
    /// Summarizes the ranks of a cluster, of which `listed` have rows of their own, or returns `None` if there are no ranks.
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

/// Returns a row per cluster, by number, and last one of the ranks of no cluster. `listed` are the ranks of `ranks` that have a row of their own.
pub(super) fn rows(ranks: &[RankRow], listed: &[&RankRow]) -> Vec<RanksOfCluster> {
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

/// A figure of a rank.
type Figure = dyn Fn(&RankRow) -> f64;

/// The ranks that get a row. These are all, or, of very many, the first one, those with extreme figures of each kind, those that deviate, and those that failed.
pub(super) fn listed<'a>(ranks: &'a [RankRow], bounds: &ListBounds) -> Vec<&'a RankRow> {
    if ranks.len() <= bounds.ranks {
        return ranks.iter().collect();
    }
    let mut chosen = BTreeSet::from([0]);
    let mut figures: Vec<Box<Figure>> = vec![
        Box::new(|row| row.computation_s),
        Box::new(|row| row.mpi_s),
        Box::new(|row| row.idle_s),
        Box::new(|row| row.paused_s),
        Box::new(|row| row.blocked_s.unwrap_or(0.0)),
        Box::new(|row| row.blocking_caused_s.unwrap_or(0.0)),
        Box::new(|row| row.begin_s),
        Box::new(|row| row.end_s),
        Box::new(|row| row.events as f64),
        Box::new(|row| row.imbalanced_s),
        Box::new(|row| row.other_threads_mpi_s),
        Box::new(|row| row.usage.map_or(0.0, |usage| usage.max_resident as f64)),
    ];
    figures
        .extend(Activity::ALL.map(|activity| -> Box<Figure> { Box::new(move |row| row.seconds[activity as usize]) }));
    for figure in figures {
        let mut order: Vec<(f64, usize)> = ranks.iter().map(figure).zip(0..).collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let differ = order.first().map(|first| first.0) != order.last().map(|last| last.0);
        if differ {
            chosen.extend(order.iter().take(bounds.extremes).map(|&(_, at)| at));
            chosen.extend(order.iter().rev().take(bounds.extremes.div_ceil(4)).map(|&(_, at)| at));
        }
    }
    let deviating = (0..ranks.len()).filter(|&at| ranks[at].deviates);
    chosen.extend(deviating.take(5 * bounds.extremes));
    let failed = (0..ranks.len()).filter(|&at| has_failed(&ranks[at]));
    chosen.extend(failed.take(5 * bounds.extremes));
    chosen.into_iter().map(|at| &ranks[at]).collect()
}

fn has_failed(row: &RankRow) -> bool {
    !matches!(row.end_reason, Some(EndReason::Finalize | EndReason::Exit))
        || row.exit_status.is_some_and(|status| status != 0)
}
