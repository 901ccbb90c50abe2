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
    /// Of the figures that `of` gives of some ranks; `None` where there are none, or one is not known.
    fn over_ranks(rows: &[&RankRow], of: impl Fn(&RankRow) -> Option<f64>) -> Option<FigureSpread> {
        let first = rows.first()?;
        let value = of(first)?;
        let alone =
            FigureSpread { sum: value, mean: 0.0, min: value, min_rank: first.rank, max: value, max_rank: first.rank };
        let add = |mut all: FigureSpread, row: &&RankRow| {
            let value = of(row)?;
            all.sum += value;
            if value < all.min {
                (all.min, all.min_rank) = (value, row.rank);
            }
            if value > all.max {
                (all.max, all.max_rank) = (value, row.rank);
            }
            Some(all)
        };
        let all = rows.iter().skip(1).try_fold(alone, add)?;
        Some(FigureSpread { mean: all.sum / rows.len() as f64, ..all })
    }
}

/// Returns a row per cluster, by number, that of the ranks of none last. `listed` are the ranks of `ranks` that have a row of their own.
pub(super) fn rows(ranks: &[RankRow], listed: &[&RankRow]) -> Vec<RanksOfCluster> {
    let mut clusters: BTreeMap<(bool, Option<u32>), Vec<&RankRow>> = BTreeMap::new();
    for row in ranks {
        clusters.entry((row.cluster.is_none(), row.cluster)).or_default().push(row);
    }
    let mut n_listed: BTreeMap<Option<u32>, usize> = BTreeMap::new();
    for row in listed.iter() {
        *n_listed.entry(row.cluster).or_default() += 1;
    }
    let row = |((_, cluster), rows): ((bool, Option<u32>), Vec<&RankRow>)| {
        let all = |of: fn(&RankRow) -> f64| FigureSpread::over_ranks(&rows, |row| Some(of(row)));
        let of_activity = |activity: Activity| {
            let spread = FigureSpread::over_ranks(&rows, |row| Some(row.seconds[activity as usize]))?;
            (spread.sum > 0.0).then_some((activity.name(), spread))
        };
        Some(RanksOfCluster {
            cluster,
            rank_count: rows.len(),
            listed: n_listed.get(&cluster).copied().unwrap_or(0),
            events: all(|row| row.events as f64)?,
            computation_s: all(|row| row.computation_s)?,
            activities: Activity::ALL.into_iter().filter_map(of_activity).collect(),
            mpi_s: all(|row| row.mpi_s)?,
            idle_s: all(|row| row.idle_s)?,
            paused_s: all(|row| row.paused_s)?,
            blocked_s: FigureSpread::over_ranks(&rows, |row| row.blocked_s),
            blocking_caused_s: FigureSpread::over_ranks(&rows, |row| row.blocking_caused_s),
            other_threads_mpi_s: all(|row| row.other_threads_mpi_s)?,
        })
    };
    clusters.into_iter().filter_map(row).collect()
}

/// A figure of a rank.
type Figure = dyn Fn(&RankRow) -> f64;

/// The ranks that have a row: all, or of very many the first one, those with the largest and smallest figures of each kind, those that
/// deviate, and those that failed.
pub(super) fn listed<'a>(ranks: &'a [RankRow], bounds: &ListBounds) -> Vec<&'a RankRow> {
    if ranks.len() <= bounds.ranks {
        return ranks.iter().collect();
    }
    let mut chosen = BTreeSet::from([0]);
    let mut figures: Vec<Box<Figure>> = vec![
        Box::new(|row| row.computation_s),
        Box::new(|row| row.compared_s),
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
        let figure_at = |at: &usize| figure(&ranks[*at]);
        let mut order: Vec<usize> = (0..ranks.len()).collect();
        order.sort_by(|a, b| figure_at(b).total_cmp(&figure_at(a)).then(a.cmp(b)));
        let differ = order.first().map(figure_at) != order.last().map(figure_at);
        if differ {
            chosen.extend(order.iter().take(bounds.extremes));
            chosen.extend(order.iter().rev().take(bounds.extremes.div_ceil(4)));
        }
    }
    let failed = |row: &RankRow| {
        !matches!(row.end_reason, Some(EndReason::Finalize | EndReason::Exit))
            || row.exit_status.is_some_and(|status| status != 0)
    };
    let which = |of: &dyn Fn(&RankRow) -> bool| -> Vec<usize> {
        let found = (0..).zip(ranks).filter(|(_, row)| of(row)).map(|(at, _)| at);
        found.take(5 * bounds.extremes).collect()
    };
    chosen.extend(which(&|row| row.deviates));
    chosen.extend(which(&failed));
    chosen.into_iter().map(|at| &ranks[at]).collect()
}
