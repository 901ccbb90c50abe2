//! The table of ranks.

use lbprof_collector::Activity;
use lbprof_thresholds::wording::MIN_ACTIVITY_COLUMN;

use super::columns::{ColumnCell, lay_out_table};
use super::{TextOptions, format_title};
use crate::words::escape_name;
use crate::{RankRow, Report};

const MOST_COLUMNS: usize = 4;

/// Ranks up to which all are shown with --full.
const MOST_RANKS: usize = 32;

/// Width of an activity's column, and of all other columns.
const COLUMN: usize = 11;
const ROOM_FOR_OTHERS: usize = 48;

pub(super) fn ranks_section(report: &Report, options: &TextOptions) -> String {
    let all = report.ranks.len();
    let mut order: Vec<&RankRow> = report.ranks.iter().collect();
    // Few ranks are shown in order; otherwise the slowest, and the fastest for comparison.
    let limit = options.limit().min(if options.full { MOST_RANKS } else { usize::MAX });
    let name = if limit < all { "Ranks, the slowest and the fastest" } else { "Ranks" };
    if limit < all {
        order.sort_by(|a, b| b.computation_s.total_cmp(&a.computation_s).then(a.rank.cmp(&b.rank)));
        order.drain(limit..all - 1);
    }
    // In short lines, the shortest activities join the others.
    let columns = rank_columns(report, (options.columns.saturating_sub(ROOM_FOR_OTHERS) / COLUMN).min(MOST_COLUMNS));
    let mut others = Activity::ALL.to_vec();
    others.retain(|activity| !columns.contains(activity) && *activity != Activity::Computation);
    let mut heads = vec!["rank", "~host", Activity::Computation.head(), "against\nmean"];
    heads.extend(columns.iter().map(|&activity| activity.head()));
    heads.extend(["other", "idle"]);
    let notable_s = MIN_ACTIVITY_COLUMN * report.data.elapsed_s;
    let has_other = report.ranks.iter().any(|row| row.sum_of(&others) >= notable_s);
    let has_idle = report.ranks.iter().any(|row| row.idle_s >= notable_s);
    let lines = order.iter().map(|row| {
        let mut cells = vec![
            ColumnCell::rank(row.rank),
            ColumnCell::Text(escape_name(&row.host)),
            ColumnCell::Time(row.computation_s),
            ColumnCell::or_dash(row.over_mean, ColumnCell::Change),
        ];
        cells.extend(columns.iter().map(|&activity| ColumnCell::Time(row.seconds[activity as usize])));
        cells.push(ColumnCell::of_some(has_other.then(|| row.sum_of(&others)), ColumnCell::Time));
        cells.push(ColumnCell::of_some(has_idle.then_some(row.idle_s), ColumnCell::Time));
        cells
    });
    let lines: Vec<Vec<ColumnCell>> = lines.collect();
    format!("{}{}\n", format_title(name, lines.len(), all), lay_out_table(&heads, &lines, &[&["against"]], options))
}

/// Returns up to `most` of the longest activities besides computation, by number.
fn rank_columns(report: &Report, most: usize) -> Vec<Activity> {
    let longest = report
        .activities
        .iter()
        .filter(|row| row.activity != Activity::Computation && row.share >= MIN_ACTIVITY_COLUMN);
    let mut columns: Vec<Activity> = longest.map(|row| row.activity).take(most).collect();
    columns.sort();
    columns
}
