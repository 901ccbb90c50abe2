//! The iterations of a loop that was found in a rank's calls.

use lbprof_collector::record::NONE;

use super::bounds::Bounds;
use crate::iterations::carried::{Carried, carried};
use crate::iterations::number::{Ends, number};
use crate::iterations::split::Interval;
use crate::span::Span;

/// The iterations of a rank's main loop, where it was found.
pub(super) struct FoundIterations {
    /// The loop, as an index of the structure's.
    pub(super) at: usize,
    pub(super) count: u32,
    pub(super) alike: u32,
    pub(super) carried: Carried,
    /// The iteration of each interval; [`NONE`] where it belongs to none.
    pub(super) of_interval: Vec<u32>,
    pub(super) bounds: Vec<Bounds>,
}

impl FoundIterations {
    pub(super) fn new(at: usize, (intervals, ends): (&[Interval], Ends), span: Span) -> Self {
        let numbering = number(intervals, ends);
        let of_interval: Vec<u32> =
            (0..intervals.len()).map(|interval| numbering.iteration(interval).unwrap_or(NONE)).collect();
        let mut bounds: Vec<Bounds> = Vec::with_capacity(numbering.count as usize);
        for (&number, interval) in of_interval.iter().zip(intervals).filter(|(number, _)| **number != NONE) {
            match bounds.last_mut().filter(|last| last.number == number) {
                Some(last) => last.end = Some(interval.end),
                None => {
                    bounds.push(Bounds { number, outer: NONE, begin: Some(interval.begin), end: Some(interval.end) })
                }
            }
        }
        let is_in = |one: &Bounds| one.begin.is_none_or(|at| at < span.end) && one.end.is_none_or(|at| at > span.begin);
        bounds.retain(|one| span == Span::ALL || is_in(one));
        for one in &mut bounds {
            one.end = one.end.filter(|&end| end <= span.end);
        }
        let carried = carried(intervals, &numbering);
        FoundIterations { at, count: numbering.count, alike: numbering.alike, carried, of_interval, bounds }
    }

    /// Iterations that begin in `span`.
    pub(super) fn begun_in(&self, span: Span) -> u64 {
        self.bounds.iter().filter(|one| one.begin.is_none_or(|begin| begin >= span.begin)).count() as u64
    }

    pub(super) fn iteration(&self, interval: u32) -> Option<u32> {
        self.of_interval.get(interval as usize).copied().filter(|&number| number != NONE)
    }
}
