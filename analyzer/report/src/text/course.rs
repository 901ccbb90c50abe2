//! The course of the main loop's iterations, as two lines of bars and in words.

use std::fmt::Write;

use crate::course::measured_iterations;
use crate::iteration::IterationRow;
use crate::iterations::IterationTable;
use crate::words::{format_count, format_plural, seconds_like, wrap_text};
use lbprof_analysis::metrics::trend::{RecurringChange, SeriesShape};
use lbprof_thresholds::wording::MIN_CHANGE_OF_ITERATION;

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Maximum number of iterations listed for a period.
const SHOWN: usize = 3;

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

/// Describes trends and recurring changes.
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
    text.push_str(&recurring_sentences(&trends.max, &trends.imbalance, typical_s));
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

/// Describes periods of the longest computation, and of the imbalance with the same period.
fn recurring_sentences(max: &SeriesShape, imbalance: &SeriesShape, typical_s: f64) -> String {
    let mut text = String::new();
    for period in max.periods.iter().filter(|period| is_large_change(period.size, typical_s)) {
        let size = seconds_like(period.size, typical_s);
        let length = format_count(period.length as u64);
        match period.kind {
            RecurringChange::Wave => {
                write!(text, "What iterations take goes up and down by {size}, every {length} of them").ok()
            }
            RecurringChange::Peak => {
                write!(text, "Every {} iteration is longer, by {size}", ordinal_number(period.length)).ok()
            }
            RecurringChange::Trough => {
                write!(text, "Every {} iteration is shorter, by {size}", ordinal_number(period.length)).ok()
            }
        };
        if period.kind != RecurringChange::Wave {
            let numbers: Vec<String> =
                (0..SHOWN).map(|turn| format_count((period.first + turn * period.length) as u64)).collect();
            write!(text, " ({} …)", numbers.join(", ")).ok();
        }
        let same = imbalance.periods.iter().find(|other| (other.length, other.kind) == (period.length, period.kind));
        if let Some(unbalanced) = same.filter(|other| is_large_change(other.size, typical_s)) {
            write!(text, "; the imbalance likewise, by {}", seconds_like(unbalanced.size, typical_s)).ok();
        }
        text.push_str(". ");
    }
    text
}

/// Formats an ordinal number, e.g. `2nd`, `10th`, `21st`.
fn ordinal_number(n: usize) -> String {
    let ending = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{}{ending}", format_count(n as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals_have_their_endings() {
        let found: Vec<String> =
            [1, 2, 3, 4, 10, 11, 12, 13, 21, 22, 111, 1002].into_iter().map(ordinal_number).collect();
        let expected = ["1st", "2nd", "3rd", "4th", "10th", "11th", "12th", "13th", "21st", "22nd", "111th", "1,002nd"];
        assert_eq!(found, expected);
    }
}
