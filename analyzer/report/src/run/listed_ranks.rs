//! The ranks that get rows in large runs.

use std::collections::BTreeSet;

use lbprof_collector::Activity;
use lbprof_collector::definition::EndReason;

use crate::RankRow;
use crate::rows::bounds::ListBounds;

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
