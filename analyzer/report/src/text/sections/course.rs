//! The course of the main loop's iterations, in words.

use std::fmt::Write;

use crate::rows::words::{format_plural, seconds_like};
use crate::time::iterations::IterationTable;
use lbprof_thresholds::wording::MIN_CHANGE_OF_ITERATION;

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
