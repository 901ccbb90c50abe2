//! The table of ranks.

use lbprof_collector::Activity;
use lbprof_thresholds::wording::MIN_ACTIVITY_COLUMN;

use super::{DIM, TextOptions, title};
use crate::table::TextTable;
use crate::words::{TimeUnit, clean, or_dash, signed_percent};
use crate::{RankRow, Report};

/// Most activities that have a column of their own in the table of ranks.
const MOST_COLUMNS: usize = 4;

pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    let all = report.ranks.len();
    let mut order: Vec<&RankRow> = report.ranks.iter().collect();
    // Few ranks are shown in their order; of many the slowest, and the fastest one for comparison.
    let shown = if options.full || all <= options.top.max(1) { all } else { options.top };
    if shown < all {
        order.sort_by(|a, b| b.computation_s.total_cmp(&a.computation_s).then(a.rank.cmp(&b.rank)));
    }
    let mut rows: Vec<&RankRow> = order.iter().take(shown).copied().collect();
    rows.extend(order.last().filter(|_| shown < all));
    let unit = TimeUnit::for_max(report.data.elapsed_s);
    // Where lines get too long the activities that take least become part of the others.
    let table = (0..=MOST_COLUMNS)
        .rev()
        .map(|columns| rank_table(report, &rows, columns, unit))
        .find(|table| table.least_width() <= options.columns)
        .unwrap_or_else(|| rank_table(report, &rows, 0, unit));
    let name = match shown < all {
        true => format!("Ranks, the slowest and the fastest [{}]", unit.symbol),
        false => format!("Ranks [{}]", unit.symbol),
    };
    let shown = if shown < all { shown + 1 } else { shown };
    format!("{}{}\n", title(&name, shown, all), table.render(options.columns, DIM))
}

/// The table of some ranks, with columns for at most so many activities beside computation.
fn rank_table(report: &Report, rows: &[&RankRow], columns: usize, unit: TimeUnit) -> TextTable {
    let columns = rank_columns(report, columns);
    let mut others = Activity::ALL.to_vec();
    others.retain(|activity| !columns.contains(activity) && *activity != Activity::Computation);
    let notable_s = MIN_ACTIVITY_COLUMN * report.data.elapsed_s;
    let most_other_s = report.ranks.iter().map(|row| row.sum_of(&others)).fold(0.0, f64::max);
    let most_idle_s = report.ranks.iter().map(|row| row.idle_s).fold(0.0, f64::max);
    let has_other = most_other_s >= notable_s;
    let has_idle = most_idle_s >= notable_s;
    let mut heads = vec!["rank", "<host", Activity::Computation.head(), "against\nmean"];
    heads.extend(columns.iter().map(|&activity| activity.head()));
    heads.extend(has_other.then_some("other"));
    heads.extend(has_idle.then_some("idle"));
    let mut table = TextTable::new(&heads, 1);
    for row in rows {
        let mut cells = vec![
            row.rank.to_string(),
            clean(&row.host),
            unit.number(row.computation_s),
            or_dash(row.over_mean, signed_percent),
        ];
        cells.extend(columns.iter().map(|&activity| unit.number(row.seconds[activity as usize])));
        cells.extend(has_other.then(|| unit.number(row.sum_of(&others))));
        cells.extend(has_idle.then(|| unit.number(row.idle_s)));
        table.row(cells);
    }
    table
}

/// The activities that take most time beside computation, at most so many, in the order of their numbers.
fn rank_columns(report: &Report, most: usize) -> Vec<Activity> {
    let longest = report
        .activities
        .iter()
        .filter(|row| row.activity != Activity::Computation && row.share >= MIN_ACTIVITY_COLUMN);
    let mut columns: Vec<Activity> = longest.map(|row| row.activity).take(most).collect();
    columns.sort();
    columns
}
