//! Iterations of the main loop: durations, slowest ranks, changes over the run.

use std::fmt::Write;

use super::{BOLD, DIM, TextOptions};
use crate::Report;
use crate::course::IterationCourse;
use crate::iterations::IterationTable;
use crate::words::{clean, count, percent, plural, seconds, wrap};

const MOST_RANKS: usize = 3;

/// Describes trends and recurring changes only.
pub(super) fn section_for_all(report: &Report, options: &TextOptions) -> String {
    let sentences = report.iterations.as_ref().map(super::course::sentences).filter(|text| !text.is_empty());
    sentences.map_or_else(String::new, |text| {
        format!("{BOLD}Iterations{BOLD:#}\n  {}\n\n", wrap(&text, options.columns - 2, 2))
    })
}

pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    let Some(iterations) = &report.iterations else { return String::new() };
    let course = &iterations.course;
    // If ranks only differ by noise, the slowest one means nothing.
    let differ = course.imbalance_share.is_some_and(|share| share > 0.01);
    let text = format!(
        "{} of {}: the slowest rank computes {} on average, {} at most{}{}",
        plural(course.iterations as u64, "iteration"),
        clean(&iterations.region),
        seconds(course.slowest_mean_s),
        seconds(course.slowest_max_s),
        if differ { slowest(iterations) } else { String::new() },
        unknown(course),
    );
    let room = options.columns - 2;
    let mut section = format!("{BOLD}Iterations{BOLD:#}\n  {}\n", wrap(&text, room, 2));
    let sentences = super::course::sentences(iterations);
    if !sentences.is_empty() {
        writeln!(section, "  {}", wrap(&sentences, room, 2)).ok();
    }
    for line in super::course::bars(iterations, room).lines() {
        writeln!(section, "  {DIM}{line}{DIM:#}").ok();
    }
    section.push('\n');
    section
}

fn unknown(course: &IterationCourse) -> String {
    let Some(first) = course.first_unknown else { return String::new() };
    let which = match course.unknown {
        1 => format!("iteration {first}"),
        several => plural(several as u64, "iteration"),
    };
    format!("; the computation of {which}, before which ranks enter the loop, is not known")
}

fn slowest(iterations: &IterationTable) -> String {
    let mut text = String::new();
    for (at, row) in iterations.course.slowest.iter().take(MOST_RANKS).enumerate() {
        let how_often = format!("in {} ({})", count(row.count), percent(row.share));
        match at {
            0 => write!(text, "; rank {} is the slowest most often, {how_often}", row.rank).ok(),
            1 => write!(text, ", then rank {} {how_often}", row.rank).ok(),
            _ => write!(text, ", rank {} {how_often}", row.rank).ok(),
        };
    }
    text
}
