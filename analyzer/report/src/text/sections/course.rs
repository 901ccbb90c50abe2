//! The course of the main loop's iterations, as two lines of bars and in words.

use std::fmt::Write;

use crate::rows::words::{format_count, format_plural, seconds_like, wrap_text};
use crate::time::course::measured_iterations;
use crate::time::iteration::IterationRow;
use crate::time::iterations::IterationTable;
use lbprof_thresholds::wording::MIN_CHANGE_OF_ITERATION;

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws the longest and mean computation by iteration in at most `columns`. If iterations share a column, it shows the longest and their mean. Returns
/// nothing if the run is too short or steady.
pub(super) fn course_bars(iterations: &IterationTable, columns: usize) -> String {
    const LABEL: usize = "longest  ".len();
    let rows: Vec<&IterationRow> = measured_iterations(&iterations.rows).collect();
    let n = rows.len().min(columns.saturating_sub(LABEL));
    if n < 2 {
        return String::new();
    }
    let (mut longest, mut mean) = (Vec::with_capacity(n), Vec::with_capacity(n));
    for at in 0..n {
        let group = &rows[at * rows.len() / n..(at + 1) * rows.len() / n];
        longest.push(group.iter().map(|row| row.max_s).fold(0.0, f64::max));
        mean.push(group.iter().map(|row| row.mean_s).sum::<f64>() / group.len() as f64);
    }
    let low = smallest_value(&mean);
    let high = largest_value(&longest);
    let is_steady = [&longest, &mean]
        .into_iter()
        .all(|values| largest_value(values) - smallest_value(values) <= MIN_CHANGE_OF_ITERATION * high);
    if is_steady {
        return String::new();
    }
    let [longest, mean] = [longest, mean].map(|values| {
        let steps = values.iter().map(|&value| ((value - low) / (high - low) * 8.0) as usize);
        steps.map(|step| BARS[step.min(BARS.len() - 1)]).collect::<String>()
    });
    let each = match (rows.len() / n, rows.len() % n) {
        (1, 0) => String::new(),
        (all, 0) => format!(", each of {}", format_plural(all as u64, "iteration")),
        (least, _) => {
            format!(", each of {} or {} iterations", format_count(least as u64), format_count(least as u64 + 1))
        }
    };
    let (low, high) = (seconds_like(low, high), seconds_like(high, high));
    let legend =
        wrap_text(&format!("▁ {low} … █ {high}{each}"), columns.saturating_sub(LABEL), 0).replace('\n', "\n         ");
    format!("longest  {longest}\nmean     {mean}\n         {legend}\n")
}

fn smallest_value(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn largest_value(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// Returns whether a change is large enough to report.
fn is_large_change(change_s: f64, typical_s: f64) -> bool {
    change_s.abs() >= MIN_CHANGE_OF_ITERATION * typical_s && change_s != 0.0
}

/// Describes trends, and first iterations that are longer.
pub(super) fn course_sentences(iterations: &IterationTable) -> String {
    let course = &iterations.course;
    let Some(trends) = &course.trends else { return String::new() };
    let typical_s = course.slowest_mean_s;
    let mut text = String::new();
    if let Some(warm_up) = trends.max.warm_up.filter(|warm_up| is_large_change(warm_up.excess, typical_s)) {
        let which = match warm_up.iterations {
            1 => "The first iteration is".to_owned(),
            more => format!("The first {} are", format_plural(more as u64, "iteration")),
        };
        write!(text, "{which} longer than those that follow, by {}. ", seconds_like(warm_up.excess, typical_s)).ok();
    }
    if let Some(trend) = trends.max.trend.filter(|trend| is_large_change(trend.last - trend.first, typical_s)) {
        let how = if trend.slope > 0.0 { "longer" } else { "shorter" };
        let (first, last) = (seconds_like(trend.first, typical_s), seconds_like(trend.last, typical_s));
        write!(text, "Iterations get {how}: the slowest rank computes {first} at the start, {last} at the end. ").ok();
    }
    if let Some(trend) = trends.imbalance.trend.filter(|trend| is_large_change(trend.last - trend.first, typical_s)) {
        let how = if trend.slope > 0.0 { "grows" } else { "shrinks" };
        let (first, last) = (seconds_like(trend.first, typical_s), seconds_like(trend.last, typical_s));
        write!(text, "The imbalance {how}: from {first} an iteration at the start to {last} at the end. ").ok();
    }
    text.trim_end().to_owned()
}
