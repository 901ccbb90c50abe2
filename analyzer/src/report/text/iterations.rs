//! The iterations of the main loop: how long they take, which rank is the slowest, what changes over the run.

use std::fmt::Write;

use super::{BOLD, DIM, Options, course};
use crate::report::Report;
use crate::report::course::{SlowestRank, known, whole};
use crate::report::iterations::Iterations;
use crate::report::words::{clean, count, percent, plural, seconds, wrap};

/// Most ranks for which it is said how often they are the slowest.
const MOST_RANKS: usize = 3;

pub(super) fn section(report: &Report, options: &Options) -> String {
    let Some(iterations) = &report.iterations else { return String::new() };
    let n = iterations.course.known as f64;
    let longest = known(&iterations.rows).map(|row| row.max_s).fold(0.0, f64::max);
    let mean = known(&iterations.rows).map(|row| row.max_s).sum::<f64>() / n.max(1.0);
    // Where ranks differ by noise alone it means nothing which one is the slowest.
    let differ = known(&iterations.rows).map(|row| row.imbalance_s()).sum::<f64>() > 0.01 * mean * n;
    let text = format!(
        "{} of {}: the slowest rank computes {} on average, {} at most{}{}",
        plural(iterations.course.iterations as u64, "iteration"),
        clean(&iterations.region),
        seconds(mean),
        seconds(longest),
        if differ { slowest(iterations) } else { String::new() },
        unknown(iterations),
    );
    let room = options.columns - 2;
    let mut section = format!("{BOLD}Iterations{BOLD:#}\n  {}\n", wrap(&text, room, 2));
    let sentences = course::sentences(iterations);
    if !sentences.is_empty() {
        writeln!(section, "  {}", wrap(&sentences, room, 2)).ok();
    }
    for line in course::bars(iterations, room).lines() {
        writeln!(section, "  {DIM}{line}{DIM:#}").ok();
    }
    section.push('\n');
    section
}

/// Of which iterations the computation is not known.
fn unknown(iterations: &Iterations) -> String {
    let mut rows = whole(&iterations.rows).filter(|row| !row.is_known);
    let Some(first) = rows.next() else { return String::new() };
    let which = match rows.count() as u64 {
        0 => format!("iteration {}", first.iteration),
        more => plural(more + 1, "iteration"),
    };
    format!("; the computation of {which}, before which ranks enter the loop, is not known")
}

/// Which ranks are the slowest most often.
fn slowest(iterations: &Iterations) -> String {
    let mut ranks = iterations.course.slowest.iter();
    let how_often = |one: &SlowestRank| format!("in {} ({})", count(one.count), percent(one.share));
    let Some(first) = ranks.next() else { return String::new() };
    let mut text = format!("; rank {} is the slowest most often, {}", first.rank, how_often(first));
    for (at, one) in ranks.take(MOST_RANKS - 1).enumerate() {
        let then = if at == 0 { ", then" } else { "," };
        write!(text, "{then} rank {} {}", one.rank, how_often(one)).ok();
    }
    text
}
