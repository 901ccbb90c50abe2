//! The parts of a thread's computation that were in parallel regions, by its markers.

use lbprof_collector::parallel_marks::OpenInstance;

use super::step::ParallelPart;

/// The parts of a thread's time that were in parallel regions, in the order of time.
#[derive(Default)]
pub struct ParallelParts {
    pub open: OpenInstance,
    /// The parts of steps that are not in a batch yet, and of the step to come.
    parts: Vec<ParallelPart>,
    /// The number of parts of the step to come.
    pending: u16,
}

impl ParallelParts {
    /// Adds an instance to the step to come, together with others of the same region unless each is wanted.
    pub fn add(&mut self, part: ParallelPart, wants_each: bool) {
        let first = self.parts.len() - usize::from(self.pending);
        let known = self.parts[first..].iter_mut().find(|known| !wants_each && known.site == part.site);
        match known {
            Some(known) => {
                known.elapsed = known.elapsed.saturating_add(part.elapsed);
                known.excess = known.excess.saturating_add(part.excess);
            }
            None if self.pending < u16::MAX => {
                self.parts.push(part);
                self.pending += 1;
            }
            None => {}
        }
    }

    pub fn end_step(&mut self) -> u16 {
        std::mem::take(&mut self.pending)
    }

    pub fn take_first(&mut self, n: usize) -> Vec<ParallelPart> {
        self.parts.drain(..n.min(self.parts.len())).collect()
    }
}

#[cfg(test)]
mod tests {
    use lbprof_collector::record::NONE;

    use super::*;

    #[test]
    fn parts_of_one_region_before_a_step_are_one() {
        let mut parts = ParallelParts::default();
        let part = |site, elapsed| ParallelPart { site, begin: 7, elapsed, team: 2, excess: elapsed / 2, thread: NONE };
        for one in [part(1, 10), part(2, 20), part(1, 30)] {
            parts.add(one, false);
        }
        assert_eq!(parts.end_step(), 2);
        parts.add(part(1, 4), true);
        parts.add(part(1, 5), true);
        assert_eq!((parts.end_step(), parts.end_step()), (2, 0));
        assert_eq!(parts.take_first(2), [part(1, 40), part(2, 20)]);
        assert_eq!(parts.take_first(9), [part(1, 4), part(1, 5)]);
    }
}
