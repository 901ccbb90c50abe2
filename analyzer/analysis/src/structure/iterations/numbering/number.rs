//! Assigns the intervals of a rank to iterations, if they belong to any.
//!
//! ```text
//!   calls       S | X B R | S | F R | F R | X B R | T | F R | F R | E | X B R | E       R the anchor, S, T, E foreign
//!   visits          1          2----------------2        2------2         1
//!   iteration   –     –     –    0     1      2     3    3     4    –     –     –
//! ```
//!
//! A *visit* is a section inside the loop without foreign calls. Programs often run the body of their loop once before it, to
//! set up, and once after it: such a visit has one anchor and is no iteration, unless what separates it from the loop also
//! separates visits within the loop. Foreign calls within the loop belong to the iteration in progress.

use std::collections::HashSet;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::model::code::loops::IterationEnds;
use crate::structure::iterations::counts::count_each;
use crate::structure::iterations::numbering::split::IterationInterval;
use lbprof_thresholds::loops::MAX_SECTIONS_AFTER_ANCHOR;

const NONE: u32 = u32::MAX;

/// The iterations of a rank's intervals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IterationNumbering {
    iterations: Vec<u32>,
    /// Number of iterations.
    pub count: u32,
    /// Number of iterations with the calls of the most common kind of iteration.
    pub alike: u32,
}

impl IterationNumbering {
    /// Returns the iteration of an interval, counted from 0, or `None` if it belongs to none.
    pub fn iteration(&self, interval: usize) -> Option<u32> {
        self.iterations.get(interval).copied().filter(|&iteration| iteration != NONE)
    }
}

/// Numbers the iterations of a rank's `intervals`, which cover the run, in their order.
pub fn number_iterations(intervals: &[IterationInterval], ends: IterationEnds) -> IterationNumbering {
    let mut numbering = IterationNumbering { iterations: vec![NONE; intervals.len()], count: 0, alike: 0 };
    let visits = interval_visits(intervals);
    let span = match ends {
        IterationEnds::Found => loop_span(&visits),
        IterationEnds::Each => range_of(&visits, |visit| visit.anchors > 0),
    };
    let Some((first, last)) = span else { return numbering };
    let setups = match ends {
        IterationEnds::Found => setup_ranges(&visits, first, last),
        IterationEnds::Each => Vec::new(),
    };
    let of_loop = visits[first].intervals.start..visits[last].intervals.end;
    let after = visits[last + 1..].iter().take(MAX_SECTIONS_AFTER_ANCHOR).take_while(|visit| visit.anchors == 0);
    let tails: Vec<usize> = [of_loop.end].into_iter().chain(after.map(|visit| visit.intervals.end)).collect();
    let Some(body) = LoopSpan::find(intervals, of_loop, &tails, &setups, ends) else { return numbering };
    let mut count = 0;
    for idx in (body.begin..body.end).filter(|idx| !is_in_ranges(&setups, *idx)) {
        numbering.iterations[idx] = count;
        count += u32::from(intervals[idx].ended_by_anchor);
    }
    numbering.iterations[body.end..body.tail_end].fill(count.saturating_sub(1));
    numbering.count = count;
    numbering.alike = body.alike;
    numbering
}

/// A section of intervals inside the loop, and the signature of the foreign calls after it.
#[derive(Debug)]
struct IntervalVisit {
    intervals: Range<usize>,
    anchors: usize,
    link: u64,
}

fn interval_visits(intervals: &[IterationInterval]) -> Vec<IntervalVisit> {
    let mut visits: Vec<IntervalVisit> = Vec::new();
    let mut at = 0;
    for section in intervals.chunk_by(|a, b| a.inside == b.inside) {
        let anchors = section.iter().filter(|interval| interval.ended_by_anchor).count();
        let signature = section.iter().fold(0, |all, interval| all | interval.signature);
        if section.iter().any(|interval| interval.inside) {
            visits.push(IntervalVisit { intervals: at..at + section.len(), anchors, link: 0 });
        } else if let Some(visit) = visits.last_mut() {
            visit.link = signature;
        }
        at += section.len();
    }
    visits
}

fn loop_span(visits: &[IntervalVisit]) -> Option<(usize, usize)> {
    let (mut first, mut last, kinds) = match range_of(visits, |visit| visit.anchors >= 2) {
        Some((first, last)) => (first, last, inner_links(visits)),
        None => {
            let (first, last) = most_alike_links(visits)?;
            (first, last, visits[first..last].iter().map(|visit| visit.link).collect())
        }
    };
    while 0 < first && kinds.contains(&visits[first - 1].link) {
        first -= 1;
    }
    while last + 1 < visits.len() && kinds.contains(&visits[last].link) {
        last += 1;
    }
    Some((first, last))
}

fn range_of(visits: &[IntervalVisit], is_wanted: fn(&IntervalVisit) -> bool) -> Option<(usize, usize)> {
    visits.iter().position(is_wanted).zip(visits.iter().rposition(is_wanted))
}

/// Returns the kinds of foreign calls that come between iterations of a loop: with several iterations before them and after.
fn inner_links(visits: &[IntervalVisit]) -> HashSet<u64> {
    let within = visits.windows(2).filter(|pair| pair[0].anchors >= 2 && pair[1].anchors >= 2);
    within.map(|pair| pair[0].link).collect()
}

/// Returns the visits that begin and end a loop with foreign calls in each iteration: between the first and the last of the most common kind of
/// foreign calls.
fn most_alike_links(visits: &[IntervalVisit]) -> Option<(usize, usize)> {
    let links = &visits[..visits.len().checked_sub(1)?];
    let counts = count_each(links.iter().map(|visit| visit.link));
    let (&kind, _) = counts.iter().filter(|&(_, &n)| n >= 2).max_by_key(|&(&kind, &n)| (n, kind))?;
    let first = links.iter().position(|visit| visit.link == kind)?;
    let last = links.iter().rposition(|visit| visit.link == kind)?;
    Some((first, last + 1))
}

/// Returns the intervals between the pieces of a loop that is run several times, in which the body is run once to set up: the same foreign calls
/// follow as after the setting up before the loop. They include the foreign calls around them.
fn setup_ranges(visits: &[IntervalVisit], first: usize, last: usize) -> Vec<Range<usize>> {
    let within = inner_links(&visits[first..=last]);
    let before: HashSet<u64> =
        visits[..first].iter().map(|visit| visit.link).filter(|link| !within.contains(link)).collect();
    (first + 1..last)
        .filter(|idx| visits[*idx].anchors == 1 && before.contains(&visits[*idx].link))
        .map(|idx| visits[idx - 1].intervals.end..visits[idx + 1].intervals.start)
        .collect()
}

fn is_in_ranges(ranges: &[Range<usize>], idx: usize) -> bool {
    let before = ranges.partition_point(|range| range.end <= idx);
    ranges.get(before).is_some_and(|range| range.contains(&idx))
}

/// The intervals of a loop without the intervals in which its body is run to set up.
struct LoopBody<'a> {
    intervals: &'a [IterationInterval],
    setups: &'a [Range<usize>],
}

impl LoopBody<'_> {
    fn contains(&self, idx: usize) -> bool {
        self.intervals[idx].inside && !is_in_ranges(self.setups, idx)
    }

    /// Returns the calls of the loop in these intervals together.
    fn signature(&self, range: Range<usize>) -> u64 {
        range.filter(|&idx| self.contains(idx)).fold(0, |all, idx| all | self.intervals[idx].signature)
    }
}

/// Returns whether some calls include all calls of a kind of iteration, or no kind is known.
fn has_whole_kind(kinds: &FxHashMap<u64, u32>, signature: u64) -> bool {
    kinds.is_empty() || kinds.keys().any(|kind| signature & kind == *kind)
}

/// The begin and end of the iterations within the loop's span.
#[derive(Debug)]
struct LoopSpan {
    begin: usize,
    /// After the last anchor.
    end: usize,
    /// After the intervals that follow the last anchor and still belong to its iteration.
    tail_end: usize,
    alike: u32,
}

impl LoopSpan {
    /// Finds the iterations in a span. `tails` are the possible ends of the rest of the last iteration, which foreign calls may separate from it.
    fn find(
        intervals: &[IterationInterval],
        span: Range<usize>,
        tails: &[usize],
        setups: &[Range<usize>],
        ends: IterationEnds,
    ) -> Option<LoopSpan> {
        let body = LoopBody { intervals, setups };
        let mut ends_in_body = span.clone().filter(|&idx| intervals[idx].ended_by_anchor && body.contains(idx));
        let first = ends_in_body.next()?;
        let last = ends_in_body.next_back().unwrap_or(first);
        let mut kinds: FxHashMap<u64, u32> = FxHashMap::default();
        let mut signature = 0;
        for interval in (first + 1..last + 1).filter(|&idx| body.contains(idx)).map(|idx| &intervals[idx]) {
            signature |= interval.signature;
            if interval.ended_by_anchor {
                *kinds.entry(signature).or_default() += 1;
                signature = 0;
            }
        }
        let head = body.signature(span.start..first + 1);
        let is_head_whole = has_whole_kind(&kinds, head);
        // If the anchor is in the middle of the body, the rest of the last iteration follows the last anchor.
        let turned = (tails.iter().copied())
            .filter(|_| !is_head_whole)
            .find(|&end| has_whole_kind(&kinds, head | body.signature(last + 1..end)));
        let counted = turned.is_some() || is_head_whole || ends == IterationEnds::Each;
        if counted {
            *kinds.entry(head | turned.map_or(0, |end| body.signature(last + 1..end))).or_default() += 1;
        }
        Some(LoopSpan {
            begin: if counted { span.start } else { first + 1 },
            end: last + 1,
            tail_end: turned.unwrap_or(last + 1),
            alike: kinds.values().copied().max().unwrap_or(0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::code::loops::{IterationAnchors, TokenClass};
    use crate::structure::iterations::numbering::split::CallSplitter;

    /// Each interval's calls after the number of its iteration, or after a dash. The loop has A to D, F and R; R ends an iteration.
    fn numbered(calls: &str) -> String {
        numbered_by(calls, IterationEnds::Found)
    }

    fn numbered_by(calls: &str, ends: IterationEnds) -> String {
        let mut splitter = CallSplitter::new(
            (0..128)
                .map(|token| match token {
                    b'R' => TokenClass::Anchor,
                    b'A'..=b'D' | b'F' => TokenClass::Inside,
                    _ => TokenClass::Foreign,
                })
                .collect(),
            IterationAnchors::default(),
        );
        let of: Vec<u32> = calls.bytes().map(|call| splitter.next(call.into(), 0, 0)).collect();
        let numbering = number_iterations(&splitter.finish(), ends);
        let mut words = String::new();
        let mut last = None;
        for (&interval, call) in of.iter().zip(calls.chars()) {
            if last != Some(interval) {
                words.push_str(if last.is_some() { " " } else { "" });
                words += &numbering.iteration(interval as usize).map_or("-".into(), |iteration| iteration.to_string());
                last = Some(interval);
            }
            words.push(call);
        }
        words
    }

    #[test]
    fn iterations_are_counted_from_the_first_anchor_to_the_last() {
        assert_eq!(numbered("SFRFRFRE"), "-S 0FR 1FR 2FR -E");
        assert_eq!(numbered("FRFR"), "0FR 1FR");
    }

    #[test]
    fn the_body_run_once_to_set_up_or_at_the_end_is_no_iteration() {
        assert_eq!(numbered("SDBRSFRFRXFRFREDBRE"), "-S -DBR -S 0FR 1FR 2X 2FR 3FR -E -DBR -E");
        assert_eq!(numbered("SFRSFRSXFRFR"), "-S -FR -S -FR -SX 0FR 1FR");
    }

    #[test]
    fn foreign_calls_within_the_loop_are_of_the_iteration_in_progress() {
        assert_eq!(numbered("FRFRFXRFRXFRFRE"), "0FR 1FR 2F 2X 2R 3FR 4X 4FR 5FR -E");
    }

    #[test]
    fn a_single_iteration_counts_when_what_parts_it_from_the_loop_is_within_the_loop_too() {
        assert_eq!(numbered("SFRXFRFRXFRFRXFRE"), "-S 0FR 1X 1FR 2FR 3X 3FR 4FR 5X 5FR -E");
    }

    #[test]
    fn a_loop_with_foreign_calls_in_each_iteration_is_still_one() {
        assert_eq!(numbered("SFRYFRXFRXFRXFRYFRE"), "-S -FR -Y 0FR 1X 1FR 2X 2FR 3X 3FR -Y -FR -E");
    }

    #[test]
    fn an_incomplete_body_at_either_end_is_no_iteration() {
        assert_eq!(numbered("RFRFRE"), "-R 0FR 1FR -E");
        assert_eq!(numbered("FRFRFE"), "0FR 1FR -F -E");
        assert_eq!(numbered("FRFRFR"), "0FR 1FR 2FR");
    }

    #[test]
    fn an_anchor_within_the_body_leaves_the_rest_of_the_last_iteration_behind_it() {
        assert_eq!(numbered("SARDARDARDE"), "-S 0AR 1DAR 2DAR 2D -E");
        // Calls made once before the end of the last iteration separate it from its anchor.
        assert_eq!(numbered("SARBDARBDARBDARXBDE"), "-S 0AR 1BDAR 2BDAR 3BDAR 3X 3BD -E");
    }

    #[test]
    fn a_first_iteration_with_more_calls_than_the_others_counts() {
        assert_eq!(numbered("DBFRFRFR"), "0DBFR 1FR 2FR");
    }

    #[test]
    fn the_body_run_to_set_up_the_second_piece_of_a_loop_is_no_iteration() {
        assert_eq!(numbered("FRYFRFRXFRFREZFRYFRFRE"), "-FR -Y 0FR 1FR 2X 2FR 3FR -EZ -FR -Y 4FR 5FR -E");
    }

    #[test]
    fn what_also_comes_between_iterations_marks_no_setting_up() {
        assert_eq!(numbered("FRXDSFRFRXFRFRXFRXFRFR"), "-FR -X -D -S 0FR 1FR 2X 2FR 3FR 4X 4FR 5X 5FR 6FR",);
    }

    #[test]
    fn every_end_counts_where_only_the_loop_makes_that_call() {
        // The first iteration lacks a call, X follows it only once; with R in other functions, both might be set-ups.
        assert_eq!(numbered("SRXFRFRE"), "-S -R -X 0FR 1FR -E");
        assert_eq!(numbered_by("SRXFRFRE", IterationEnds::Each), "-S 0R 1X 1FR 2FR -E");
        assert_eq!(numbered_by("SFRFRFE", IterationEnds::Each), "-S 0FR 1FR -F -E");
        assert_eq!(numbered_by("SFE", IterationEnds::Each), "-S -F -E");
    }

    #[test]
    fn how_many_iterations_are_alike() {
        let classes = vec![TokenClass::Anchor, TokenClass::Inside];
        let mut splitter = CallSplitter::new(classes, IterationAnchors::default());
        for token in [1, 0, 0, 1, 0, 1, 0] {
            splitter.next(token, 0, 0);
        }
        let numbering = number_iterations(&splitter.finish(), IterationEnds::Found);
        assert_eq!((numbering.count, numbering.alike), (4, 3));
        assert_eq!(number_iterations(&[], IterationEnds::Found), IterationNumbering::default());
        assert_eq!(number_iterations(&[], IterationEnds::Each), IterationNumbering::default());
    }
}
