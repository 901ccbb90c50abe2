//! The iterations of a loop that was found in a rank's calls.

use lbprof_collector::record::NONE;

use super::bounds::IterationBounds;
use crate::model::code::loops::{CarriedCalls, IterationEnds};
use crate::read::span::TickSpan;
use crate::structure::iterations::numbering::carried::carried_bytes;
use crate::structure::iterations::numbering::number::{IterationNumbering, number_iterations};
use crate::structure::iterations::numbering::split::IterationInterval;

/// The iterations of a rank's detected main loop.
pub(in crate::profile) struct FoundIterations {
    /// The loop, as an index of the structure's.
    pub(in crate::profile) at: usize,
    pub(in crate::profile) numbering: IterationNumbering,
    pub(in crate::profile) carried: CarriedCalls,
    pub(in crate::profile) bounds: Vec<IterationBounds>,
    /// Numbers of the iterations with which the loop is entered, ascending.
    pub(in crate::profile) entering: Vec<u32>,
}

impl FoundIterations {
    pub(in crate::profile) fn new(
        at: usize,
        intervals: &[IterationInterval],
        ends: IterationEnds,
        span: TickSpan,
    ) -> Self {
        let numbering = number_iterations(intervals, ends);
        let numbers = (0..intervals.len()).map(|interval| numbering.iteration(interval));
        let mut bounds: Vec<IterationBounds> = Vec::with_capacity(numbering.count as usize);
        for (number, interval) in numbers.clone().zip(intervals) {
            let Some(number) = number else { continue };
            let (begin, end) = (Some(interval.begin), Some(interval.end));
            match bounds.last_mut().filter(|last| last.number == number) {
                Some(last) => last.end = end,
                None => bounds.push(IterationBounds { number, outer: NONE, begin, end }),
            }
        }
        bounds.retain(|one| {
            let is_in_span = one.begin.is_none_or(|at| at < span.end) && one.end.is_none_or(|at| at > span.begin);
            span == TickSpan::ALL || is_in_span
        });
        for one in &mut bounds {
            one.end = one.end.filter(|&end| end <= span.end);
        }
        let carried = carried_bytes(intervals, &numbering);
        let entering = entering_iterations(numbers, intervals);
        FoundIterations { at, numbering, carried, bounds, entering }
    }

    pub(in crate::profile) fn begun_in(&self, span: TickSpan) -> u64 {
        self.bounds.iter().filter(|one| one.begin.is_none_or(|begin| begin >= span.begin)).count() as u64
    }
}

/// Returns the numbers of the iterations that enter the loop: nothing before their first interval belongs to it.
fn entering_iterations(numbers: impl Iterator<Item = Option<u32>>, intervals: &[IterationInterval]) -> Vec<u32> {
    let mut entering = Vec::new();
    let mut last = None;
    let mut is_in_loop = false;
    for (number, interval) in numbers.zip(intervals) {
        if number != last && !is_in_loop {
            entering.extend(number);
        }
        // A foreign call in an iteration still belongs to it.
        is_in_loop = interval.inside || number.is_some();
        last = number.or(last);
    }
    entering
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_is_entered_with_the_first_iteration_of_each_of_its_pieces() {
        let interval = |inside| IterationInterval { inside, ended_by_anchor: inside, ..IterationInterval::default() };
        // Set up; two iterations, the second with a foreign call in it; something else; two more.
        let numbers = [None, Some(0), Some(1), Some(1), Some(1), None, Some(2), Some(3)];
        let intervals = [false, true, true, false, true, false, true, true].map(interval);
        assert_eq!(entering_iterations(numbers.into_iter(), &intervals), [0, 2]);
        // A body that is no iteration, being incomplete, ends where the first one begins.
        assert_eq!(entering_iterations([None, Some(0), Some(1)].into_iter(), &[interval(true); 3]), [0; 0]);
        assert_eq!(entering_iterations([Some(0), Some(1)].into_iter(), &[interval(true); 2]), [0]);
    }
}
