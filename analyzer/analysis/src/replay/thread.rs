//! The position of a thread in its steps.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::model::code::region_state::Ns;
use crate::model::ranks::interval::TimeInterval;
use crate::replay::timeline::{CommEvent, ParallelPart, StepBatch, TimelineStep};
use crate::replay::what_if::RETURNS;

/// The order in which threads resume. At the same time calls begin before others end. A single number is fast to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ResumeOrder(Ns);

impl ResumeOrder {
    pub const NEVER: ResumeOrder = ResumeOrder(Ns::MAX);

    pub fn new(time: Ns, ends: bool) -> ResumeOrder {
        ResumeOrder(time.saturating_mul(2).saturating_add(Ns::from(ends)))
    }
}

/// A position in a batch, which is kept as long as the position is used.
#[derive(Clone, Debug, Default)]
pub struct BatchPosition {
    /// The batch at hand; without steps if there is none.
    batch: Rc<StepBatch>,
    step: usize,
    event: usize,
    parallel: usize,
}

impl BatchPosition {
    /// Returns the step, and its events, or `None` at the end of the thread's batches.
    #[inline]
    pub fn step(&self) -> Option<(&TimelineStep, &[CommEvent])> {
        let step = self.batch.steps.get(self.step)?;
        let events = self.batch.events.get(self.event..self.event + usize::from(step.events));
        Some((step, events.unwrap_or_default()))
    }

    #[inline]
    pub fn parallel(&self, step: &TimelineStep) -> &[ParallelPart] {
        let parts = self.batch.parallel.get(self.parallel..self.parallel + usize::from(step.parallel));
        parts.unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadPresence {
    /// In MPI at that time, or not known any more.
    There,
    Back {
        at: Ns,
        slot: u8,
    },
    Away,
}

/// Maximum nanoseconds outside of MPI that do not count as an absence: the thread goes from call to call.
const SHORT: Ns = 1000;

#[derive(Debug)]
pub struct ReplayThread {
    pub rank_idx: u32,
    pub world_rank: u32,
    /// Number in the rank's log.
    pub number: u32,
    position: BatchPosition,
    later: VecDeque<StepBatch>,
    /// Time of the thread's next event by its corrected clock, or `None` at the end of its batches.
    pub next: Option<ResumeOrder>,
    pub in_call: bool,
    /// Begin of the current or last call, by the corrected clock.
    pub begun: Ns,
    /// Intervals outside of MPI that were more than a moment: the last ones, by slot.
    absences: [TimeInterval; RETURNS],
    n_absences: u32,
    pub now: Ns,
    pub shift: Ns,
    /// True if it waits for another thread to be replayed first.
    pub parked: bool,
    /// True if it does not wait for others any more.
    pub gives_up: bool,
    pub queued: bool,
    is_whole: bool,
    pub ended: bool,
}

impl ReplayThread {
    pub fn new(rank_idx: u32, world_rank: u32, number: u32, begin: Ns) -> Self {
        ReplayThread {
            rank_idx,
            world_rank,
            number,
            position: BatchPosition::default(),
            later: VecDeque::new(),
            next: None,
            in_call: false,
            begun: begin,
            absences: [TimeInterval::new(Ns::MAX, Ns::MAX); RETURNS],
            n_absences: 0,
            now: begin,
            shift: 0,
            parked: false,
            gives_up: false,
            queued: false,
            is_whole: false,
            ended: false,
        }
    }

    pub fn add(&mut self, batch: StepBatch) {
        self.is_whole |= batch.last;
        if self.position.batch.steps.is_empty() {
            self.position.batch = Rc::new(batch);
            self.schedule(false);
        } else if !batch.steps.is_empty() {
            self.later.push_back(batch);
        }
        self.ended |= self.is_whole && self.position.batch.steps.is_empty();
    }

    #[inline]
    pub fn position(&self) -> BatchPosition {
        self.position.clone()
    }

    /// Records that the thread was outside of MPI. Returns the slot in which its clocks are to be kept, if it was more than a moment.
    #[inline]
    pub fn assign_return_slot(&mut self, away: TimeInterval) -> Option<u8> {
        if away.ns() <= SHORT {
            return None;
        }
        let slot = self.n_absences as usize % RETURNS;
        self.absences[slot] = away;
        self.n_absences = self.n_absences.wrapping_add(1);
        Some(slot as u8)
    }

    pub fn presence(&self, since: Ns) -> ThreadPresence {
        match (0..).zip(&self.absences).find(|(_, away)| away.begin <= since && since < away.end) {
            Some((slot, away)) => ThreadPresence::Back { at: away.end, slot },
            None if self.now <= since && !self.in_call && !self.ended => ThreadPresence::Away,
            None => ThreadPresence::There,
        }
    }

    /// Returns the begin and end of the thread's longest absence from MPI between two times, and the slot of its clocks at the end. The thread may
    /// have been outside for moments since, between the calls that start its next messages.
    pub fn longest_absence(&self, since: Ns, until: Ns) -> Option<(Ns, Ns, u8)> {
        let absences = self.absences.iter().zip(0..).map(|(one, slot)| (one.begin, one.end, slot));
        absences.filter(|&(left, at, _)| since < left && at <= until).max_by_key(|&(left, at, _)| at - left)
    }

    /// Returns the intervals outside of MPI that ended between two times, each with the slot of the clocks at its end.
    pub fn absences(&self, since: Ns, until: Ns) -> impl Iterator<Item = (TimeInterval, u8)> {
        self.absences.iter().copied().zip(0..).filter(move |(away, _)| since < away.end && away.end <= until)
    }

    /// Returns the time from which on all absences from MPI are known.
    pub fn absences_known_since(&self) -> Ns {
        let first = self.absences.iter().map(|away| away.begin).min();
        first.filter(|_| self.n_absences as usize > RETURNS).unwrap_or(Ns::MIN)
    }

    /// Ends the current `step` at `end`, by the corrected clock, and moves to the next one.
    #[inline]
    pub fn leave(&mut self, step: &TimelineStep, end: Ns) {
        self.now = end;
        self.shift = end - step.end;
        let position = &mut self.position;
        position.event += usize::from(step.events);
        position.parallel += usize::from(step.parallel);
        position.step += 1;
        self.gives_up = false;
        if position.step >= position.batch.steps.len() {
            let batch = self.later.pop_front().map(Rc::new).unwrap_or_default();
            *position = BatchPosition { batch, ..BatchPosition::default() };
            self.ended |= self.is_whole && self.position.batch.steps.is_empty();
        }
        self.schedule(false);
    }

    /// Schedules the end of the current step, or else its begin, as the thread's next event.
    #[inline]
    pub fn schedule(&mut self, end: bool) {
        self.in_call = end;
        self.next = self.position.batch.steps.get(self.position.step).map(|step| {
            let time = if end { step.end } else { step.begin };
            ResumeOrder::new(time.saturating_add(self.shift).max(self.now), end)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_outside_of_mpi_do_not_hide_the_absence_before_them() {
        // After 6 ms of work, 2 µs before each of four calls that start the next messages.
        let mut thread = ReplayThread::new(0, 0, 0, 0);
        let away = TimeInterval::new(10_000, 6_010_000);
        let slot = thread.assign_return_slot(away).expect("it is long");
        for call in 0..4 {
            let begin = 6_050_000 + 10_000 * call;
            thread.assign_return_slot(TimeInterval::new(begin, begin + 2_000));
        }
        assert_eq!(thread.longest_absence(0, 6_100_000), Some((away.begin, away.end, slot)));
    }
}
