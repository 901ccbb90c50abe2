//! The table of activities: what all ranks together spent their time on.

use lbprof_collector::Activity;

use crate::model::{Cell, Model};

/// An activity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActivityRow {
    /// Which.
    pub activity: Activity,
    /// Time, summed over ranks.
    pub time_s: f64,
    /// Of ranks × elapsed time, 0..=1.
    pub share: f64,
    /// Mean over ranks.
    pub mean_s: f64,
    /// Longest of a rank.
    pub max_s: f64,
    /// The rank that has it; the lowest of several.
    pub max_rank: u32,
    /// Calls; of computation: intervals.
    pub calls: u64,
    /// Bytes sent, written or contributed.
    pub sent: u64,
    /// Bytes received, read or given.
    pub received: u64,
}

/// One row an activity that occurs, the longest first.
pub(super) fn rows(model: &Model) -> Vec<ActivityRow> {
    let whole = model.elapsed_s() * model.ranks.len() as f64;
    let mut rows: Vec<ActivityRow> = Vec::new();
    for activity in Activity::ALL {
        let mut sum = Cell::default();
        let (mut max_s, mut max_rank) = (0.0, 0);
        for rank in &model.ranks {
            let mut own = Cell::default();
            rank.cells.iter().filter(|((_, of), _)| *of == activity).for_each(|(_, cell)| own += *cell);
            if own.seconds > max_s {
                (max_s, max_rank) = (own.seconds, rank.rank);
            }
            sum += own;
        }
        if sum == Cell::default() {
            continue;
        }
        rows.push(ActivityRow {
            activity,
            time_s: sum.seconds,
            share: if whole > 0.0 { sum.seconds / whole } else { 0.0 },
            mean_s: sum.seconds / model.ranks.len().max(1) as f64,
            max_s,
            max_rank,
            calls: sum.calls,
            sent: sum.sent,
            received: sum.received,
        });
    }
    rows.sort_by(|a, b| b.time_s.total_cmp(&a.time_s));
    rows
}
