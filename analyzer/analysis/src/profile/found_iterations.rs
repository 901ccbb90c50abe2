//! The iterations of a loop that was found in a rank's calls.

use lbprof_collector::record::NONE;

use super::bounds::IterationBounds;
use crate::model::loops::CarriedCalls;
use crate::model::loops::IterationEnds;
use crate::read::span::TickSpan;
use crate::structure::iterations::carried::carried;
use crate::structure::iterations::number::number;
use crate::structure::iterations::split::IterationInterval;

/// The iterations of a rank's main loop, where it was found.
pub(super) struct FoundIterations {
    /// The loop, as an index of the structure's.
    pub(super) at: usize,
    pub(super) count: u32,
    pub(super) alike: u32,
    pub(super) carried: CarriedCalls,
    /// The iteration of each interval; [`NONE`] where it belongs to none.
    pub(super) of_interval: Vec<u32>,
    pub(super) bounds: Vec<IterationBounds>,
    /// Numbers of the iterations with which the loop is entered, ascending.
    pub(super) entering: Vec<u32>,
}

impl FoundIterations {
    pub(super) fn new(at: usize, intervals: &[IterationInterval], ends: IterationEnds, span: TickSpan) -> Self {
        let numbering = number(intervals, ends);
        let of_interval: Vec<u32> =
            (0..intervals.len()).map(|interval| numbering.iteration(interval).unwrap_or(NONE)).collect();
        let mut bounds: Vec<IterationBounds> = Vec::with_capacity(numbering.count as usize);
        for (&number, interval) in of_interval.iter().zip(intervals).filter(|(number, _)| **number != NONE) {
            match bounds.last_mut().filter(|last| last.number == number) {
                Some(last) => last.end = Some(interval.end),
                None => bounds.push(IterationBounds {
                    number,
                    outer: NONE,
                    begin: Some(interval.begin),
                    end: Some(interval.end),
                }),
            }
        }
        bounds.retain(|one| {
            span == TickSpan::ALL
                || ({ one.begin.is_none_or(|at| at < span.end) && one.end.is_none_or(|at| at > span.begin) })
        });
        for one in &mut bounds {
            one.end = one.end.filter(|&end| end <= span.end);
        }
        let carried = carried(intervals, &numbering);
        let entering = entering(&of_interval, intervals);
        FoundIterations { at, count: numbering.count, alike: numbering.alike, carried, of_interval, bounds, entering }
    }

    /// Iterations that begin in `span`.
    pub(super) fn begun_in(&self, span: TickSpan) -> u64 {
        self.bounds.iter().filter(|one| one.begin.is_none_or(|begin| begin >= span.begin)).count() as u64
    }

    pub(super) fn iteration(&self, interval: u32) -> Option<u32> {
        self.of_interval.get(interval as usize).copied().filter(|&number| number != NONE)
    }
}

/// Numbers of the iterations before whose first interval nothing is of the loop.
fn entering(of_interval: &[u32], intervals: &[IterationInterval]) -> Vec<u32> {
    let mut entering = Vec::new();
    let mut last = NONE;
    let mut is_in_loop = false;
    for (&number, interval) in of_interval.iter().zip(intervals) {
        if number != NONE && number != last && !is_in_loop {
            entering.push(number);
        }
        // A foreign call in an iteration is still of it.
        is_in_loop = interval.inside || number != NONE;
        last = if number == NONE { last } else { number };
    }
    entering
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_is_entered_with_the_first_iteration_of_each_of_its_pieces() {
        let interval = |inside| IterationInterval {
            begin: 0,
            end: 0,
            signature: 0,
            calls: 1,
            bytes: 0,
            inside,
            ended_by_anchor: inside,
        };
        // Set up; two iterations, the second with a foreign call in it; something else; two more.
        let calls = [(NONE, false), (0, true), (1, true), (1, false), (1, true), (NONE, false), (2, true), (3, true)];
        let intervals = calls.map(|(_, inside)| interval(inside));
        assert_eq!(entering(&calls.map(|(number, _)| number), &intervals), [0, 2]);
        // A body that is no iteration, being incomplete, ends where the first one begins.
        assert_eq!(entering(&[NONE, 0, 1], &[interval(true); 3]), [0; 0]);
        assert_eq!(entering(&[0, 1], &[interval(true); 2]), [0]);
    }
}
