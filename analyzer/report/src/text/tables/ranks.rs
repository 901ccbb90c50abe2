//! The table of ranks.

use lbprof_collector::Activity;
use lbprof_thresholds::wording::MIN_ACTIVITY_COLUMN;

use crate::rows::words::{escape_name, format_count};
use crate::text::columns::{ColumnCell, lay_out_table};
use crate::text::{TextOptions, format_title};
use crate::{RankRow, Report};

const MOST_COLUMNS: usize = 4;

/// Ranks up to which --full has a row for each.
const MOST_RANKS: usize = 32;

/// Width of an activity's column, and of all other columns.
const COLUMN: usize = 11;
const ROOM_FOR_OTHERS: usize = 48;

pub(in crate::text) fn ranks_section(report: &Report, options: &TextOptions) -> String {
    let all = report.ranks.len();
    let mut order: Vec<&RankRow> = report.ranks.iter().collect();
    // Few ranks are shown in order; otherwise the slowest, the others as one row, and the fastest for comparison.
    let limit = if all > MOST_RANKS { options.limit_of_sums() } else { options.limit() };
    let name = if limit < all { "Ranks, the slowest and the fastest" } else { "Ranks" };
    if limit < all {
        order.sort_by(|a, b| b.computation_s.total_cmp(&a.computation_s).then(a.rank.cmp(&b.rank)));
    }
    let (first, rest) = order.split_at(limit.min(all));
    let (others, fastest) = rest.split_at(rest.len().saturating_sub(1));
    let rows = first.chunks(1).chain(others.chunks(all.max(1))).chain(fastest.chunks(1));
    // In short lines, the shortest activities join the others.
    let columns = rank_columns(report, (options.columns.saturating_sub(ROOM_FOR_OTHERS) / COLUMN).min(MOST_COLUMNS));
    let mut rare = Activity::ALL.to_vec();
    rare.retain(|activity| !columns.contains(activity) && *activity != Activity::Computation);
    let mut heads = vec!["rank", "~host", Activity::Computation.head(), "against\nmean"];
    heads.extend(columns.iter().map(|&activity| activity.head()));
    heads.extend(["other", "idle"]);
    let notable_s = MIN_ACTIVITY_COLUMN * report.data.elapsed_s;
    let has_other = report.ranks.iter().any(|row| row.sum_of(&rare) >= notable_s);
    let has_idle = report.ranks.iter().any(|row| row.idle_s >= notable_s);
    let lines = rows.map(|rows| {
        let (rank, host) = match rows {
            [row] => (ColumnCell::rank(row.rank), ColumnCell::Text(escape_name(&row.host))),
            _ => (
                ColumnCell::Text(format!("{} more", format_count(rows.len() as u64))),
                ColumnCell::Text("(mean)".to_owned()),
            ),
        };
        let against_mean = rows[0].over_mean.map(|_| mean_of_rows(rows, |row| row.over_mean.unwrap_or(0.0)));
        let mut cells = vec![
            rank,
            host,
            ColumnCell::Time(mean_of_rows(rows, |row| row.computation_s)),
            ColumnCell::or_dash(against_mean, ColumnCell::Change),
        ];
        let of_columns = columns.iter().map(|&activity| mean_of_rows(rows, |row| row.seconds[activity as usize]));
        cells.extend(of_columns.map(ColumnCell::Time));
        let other_s = has_other.then(|| mean_of_rows(rows, |row| row.sum_of(&rare)));
        let idle_s = has_idle.then(|| mean_of_rows(rows, |row| row.idle_s));
        cells.extend([other_s, idle_s].map(|time_s| ColumnCell::of_some(time_s, ColumnCell::Time)));
        cells
    });
    let lines: Vec<Vec<ColumnCell>> = lines.collect();
    let shown = first.len() + fastest.len();
    format!("{}{}\n", format_title(name, shown, all), lay_out_table(&heads, &lines, &[&["against"]], options))
}

fn mean_of_rows(rows: &[&RankRow], figure: impl Fn(&RankRow) -> f64) -> f64 {
    rows.iter().map(|row| figure(row)).sum::<f64>() / rows.len() as f64
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
