//! The position of a thread in its steps.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::model::interval::TimeInterval;
use crate::model::region_state::Ns;
use crate::replay::fetch::fetch;
use crate::replay::timeline::{CommEvent, ParallelPart, StepBatch, TimelineStep};
use crate::replay::what_if::RETURNS;

/// The order in which threads resume; what begins then is before what ends. One number, for it is compared all the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ResumeOrder(Ns);

impl ResumeOrder {
    /// Behind all others.
    pub const NEVER: ResumeOrder = ResumeOrder(Ns::MAX);

    /// The begin of a call at a time, or the end of one.
    pub fn new(time: Ns, ends: bool) -> ResumeOrder {
        ResumeOrder(time.saturating_mul(2).saturating_add(Ns::from(ends)))
    }
}

/// A place in a batch, which stays while it is looked at.
pub struct BatchPosition {
    batch: Rc<StepBatch>,
    step: usize,
    event: usize,
    parallel: usize,
}

impl BatchPosition {
    /// The step, and its events; `None`: the thread's batches are at their end.
    #[inline]
    pub fn step(&self) -> Option<(&TimelineStep, &[CommEvent])> {
        let step = self.batch.steps.get(self.step)?;
        let events = self.batch.events.get(self.event..self.event + usize::from(step.events));
        Some((step, events.unwrap_or_default()))
    }

    /// Returns the parallel regions in the computation before the step.
    #[inline]
    pub fn parallel(&self, step: &TimelineStep) -> &[ParallelPart] {
        let parts = self.batch.parallel.get(self.parallel..self.parallel + usize::from(step.parallel));
        parts.unwrap_or_default()
    }
}

/// A thread's presence in MPI since some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadPresence {
    /// In MPI at that time, or it is not known any more.
    There,
    /// Outside; it came back later.
    Back {
        /// Time of the return.
        at: Ns,
        /// Slot of the clocks at that time.
        slot: u8,
    },
    /// Outside ever since.
    Away,
}

/// A thread that is outside of MPI no longer than that, in nanoseconds, was there all the time: it goes from call to call.
const SHORT: Ns = 1000;

/// A thread.
#[derive(Debug)]
pub struct ReplayThread {
    /// Index of its rank in the model.
    pub rank_idx: u32,
    /// Its rank in MPI_COMM_WORLD.
    pub world_rank: u32,
    /// Number in the rank's log.
    pub number: u32,
    /// The batch at hand; without steps where there is none.
    batch: Rc<StepBatch>,
    /// The batches after it.
    later: VecDeque<StepBatch>,
    step: usize,
    event: usize,
    parallel: usize,
    /// Time of the thread's next event, by its corrected clock; `None`: its batches are at their end.
    pub next: Option<ResumeOrder>,
    /// True if it is within the call of its step.
    pub in_call: bool,
    /// Begin of the current or last call, by the corrected clock.
    pub begun: Ns,
    /// Intervals outside of MPI that were more than a moment: the last ones, by slot.
    absences: [TimeInterval; RETURNS],
    n_absences: u32,
    /// Until when it is done.
    pub now: Ns,
    /// Correction of the thread's clock.
    pub shift: Ns,
    /// True if it waits for another to be followed first.
    pub parked: bool,
    /// True if what it waits for was given up.
    pub gives_up: bool,
    /// True if it stands in the order of time.
    pub queued: bool,
    /// True if its batches are all that it does.
    is_whole: bool,
    /// True if it has done all that it does.
    pub ended: bool,
}

impl ReplayThread {
    /// A thread that begins at `begin`.
    pub fn new(rank_idx: u32, world_rank: u32, number: u32, begin: Ns) -> Self {
        ReplayThread {
            rank_idx,
            world_rank,
            number,
            batch: Rc::default(),
            later: VecDeque::new(),
            step: 0,
            event: 0,
            parallel: 0,
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

    /// Has the processor fetch what is needed first when the thread goes on.
    #[inline]
    pub fn fetch_early(&self) {
        fetch(&self.batch);
        fetch(&self.begun);
        fetch(&self.absences[0]);
        fetch(&self.absences[RETURNS / 2]);
        fetch(&self.absences[RETURNS - 1]);
        fetch(&self.parked);
    }

    /// Has the processor fetch the step of a thread that was fetched before. Returns the slot of its next return to MPI.
    #[inline]
    pub fn fetch_step_early(&self) -> u8 {
        if let Some(step) = self.batch.steps.get(self.step) {
            fetch(step);
        }
        if let Some(event) = self.batch.events.get(self.event) {
            fetch(event);
        }
        self.next_slot() as u8
    }

    fn next_slot(&self) -> usize {
        self.n_absences as usize % RETURNS
    }

    /// Adds a batch after the others.
    pub fn add(&mut self, batch: StepBatch) {
        self.is_whole |= batch.last;
        if self.batch.steps.is_empty() {
            self.batch = Rc::new(batch);
            self.is_next(false);
        } else if !batch.steps.is_empty() {
            self.later.push_back(batch);
        }
        self.ended |= self.is_whole && self.batch.steps.is_empty();
    }

    /// Returns the position: its step and what belongs to it.
    #[inline]
    pub fn position(&self) -> BatchPosition {
        BatchPosition { batch: Rc::clone(&self.batch), step: self.step, event: self.event, parallel: self.parallel }
    }

    /// Records that the thread was outside of MPI: the slot in which its clocks are to be kept, where that was more than a moment.
    #[inline]
    pub fn assign_return_slot(&mut self, away: TimeInterval) -> Option<u8> {
        if away.ns() <= SHORT {
            return None;
        }
        let slot = self.next_slot();
        self.absences[slot] = away;
        self.n_absences = self.n_absences.wrapping_add(1);
        Some(slot as u8)
    }

    /// Returns the thread's presence since a time.
    pub fn presence(&self, since: Ns) -> ThreadPresence {
        match (0..).zip(&self.absences).find(|(_, away)| away.begin <= since && since < away.end) {
            Some((slot, away)) => ThreadPresence::Back { at: away.end, slot },
            None if self.now <= since && !self.in_call && !self.ended => ThreadPresence::Away,
            None => ThreadPresence::There,
        }
    }

    /// Returns the time at which the thread left MPI for longest between two times, the time of its return, and the slot of its clocks at the return. It may
    /// have been outside for moments since, between the calls that start its next messages.
    pub fn longest_absence(&self, since: Ns, until: Ns) -> Option<(Ns, Ns, u8)> {
        let absences = self.absences.iter().zip(0..).map(|(one, slot)| (one.begin, one.end, slot));
        absences.filter(|&(left, at, _)| since < left && at <= until).max_by_key(|&(left, at, _)| at - left)
    }

    /// Returns the intervals outside of MPI that ended between two times, each with the slot of the clocks at its end.
    pub fn absences(&self, since: Ns, until: Ns) -> impl Iterator<Item = (TimeInterval, u8)> {
        self.absences.iter().copied().zip(0..).filter(move |(away, _)| since < away.end && away.end <= until)
    }

    /// Returns the time from which on all intervals outside of MPI are known that were more than a moment.
    pub fn absences_known_since(&self) -> Ns {
        match self.n_absences as usize > RETURNS {
            true => self.absences.iter().map(|away| away.begin).min().unwrap_or(Ns::MIN),
            false => Ns::MIN,
        }
    }

    /// Enters the call of the current step, whose end is next.
    #[inline]
    pub fn enter(&mut self) {
        self.is_next(true);
    }

    /// Its `step` is over at `end`, by its clock as corrected: goes on to the next one.
    #[inline]
    pub fn leave(&mut self, step: &TimelineStep, end: Ns) {
        self.now = end;
        self.shift = end - step.end;
        self.event += usize::from(step.events);
        self.parallel += usize::from(step.parallel);
        self.step += 1;
        self.gives_up = false;
        if self.step >= self.batch.steps.len() {
            self.batch = self.later.pop_front().map(Rc::new).unwrap_or_default();
            (self.step, self.event, self.parallel) = (0, 0, 0);
            self.ended |= self.is_whole && self.batch.steps.is_empty();
        }
        self.is_next(false);
    }

    /// The end of its step, or else the begin, is next.
    #[inline]
    fn is_next(&mut self, end: bool) {
        self.in_call = end;
        self.next = self.batch.steps.get(self.step).map(|step| {
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
