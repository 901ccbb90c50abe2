//! Iterations of the main loop: durations, slowest ranks, changes over the run.

use std::fmt::Write;

use crate::Report;
use crate::rows::words::{escape_name, format_count, format_percent, format_plural, format_seconds, wrap_text};
use crate::text::{BOLD, TextOptions};
use crate::time::course::IterationCourse;
use crate::time::iterations::IterationTable;

const MOST_RANKS: usize = 3;

/// Describes changes over the run only.
pub(in crate::text) fn section_for_all(report: &Report, options: &TextOptions) -> String {
    let sentences = report.iterations.as_ref().map(super::course::course_sentences).filter(|text| !text.is_empty());
    sentences.map_or_else(String::new, |text| {
        format!("{BOLD}Iterations{BOLD:#}\n  {}\n\n", wrap_text(&text, options.columns - 2, 2))
    })
}

pub(in crate::text) fn iterations_section(report: &Report, options: &TextOptions) -> String {
    let Some(iterations) = &report.iterations else { return String::new() };
    let course = &iterations.course;
    // If ranks only differ by noise, the slowest one means nothing.
    let differ = course.imbalance_share.is_some_and(|share| share > 0.01);
    let text = format!(
        "{} of {}: the slowest rank computes {} on average, {} at most{}{}",
        format_plural(course.iterations as u64, "iteration"),
        escape_name(&iterations.region),
        format_seconds(course.slowest_mean_s),
        format_seconds(course.slowest_max_s),
        if differ { slowest_ranks(iterations) } else { String::new() },
        unknown_iterations(course),
    );
    let room = options.columns - 2;
    let mut section = format!("{BOLD}Iterations{BOLD:#}\n  {}\n", wrap_text(&text, room, 2));
    let sentences = super::course::course_sentences(iterations);
    if !sentences.is_empty() {
        writeln!(section, "  {}", wrap_text(&sentences, room, 2)).ok();
    }
    section.push('\n');
    section
}

fn unknown_iterations(course: &IterationCourse) -> String {
    let Some(first) = course.first_unknown else { return String::new() };
    let which = match course.unknown {
        1 => format!("iteration {first}"),
        several => format_plural(several as u64, "iteration"),
    };
    format!("; the computation of {which}, before which ranks enter the loop, is not known")
}

fn slowest_ranks(iterations: &IterationTable) -> String {
    let mut text = String::new();
    for (at, row) in iterations.course.slowest.iter().take(MOST_RANKS).enumerate() {
        let how_often = format!("in {} ({})", format_count(row.count), format_percent(row.share));
        match at {
            0 => write!(text, "; rank {} is the slowest most often, {how_often}", row.rank).ok(),
            1 => write!(text, ", then rank {} {how_often}", row.rank).ok(),
            _ => write!(text, ", rank {} {how_often}", row.rank).ok(),
        };
    }
    text
}
