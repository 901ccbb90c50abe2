//! A survey of the long gaps between a thread's unsuccessful polls: how long they are, and how much CPU time its samples show in them.
//!
//! It goes over a thread's records and samples, in the recorder (profile mode) and in the reader alike; [`crate::gap_use`] judges its sums.

use std::collections::{BTreeMap, VecDeque};

use crate::gap_use::{GapSums, PolledSite};
use crate::operation::Operation;
use crate::poll_answer::PollAnswer;
use crate::poll_gaps::{CallPlace, GapPlace, PlacedGaps};
use crate::record::{NONE, Record};
use crate::spinning::{FoldedCalls, IN_TURN, WindowSpin};

/// A sample of a thread's CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuSample {
    /// Time of the sample.
    pub ticks: u64,
    /// The CPU time that it stands for, in nanoseconds.
    pub weight_ns: u64,
}

/// Most call sites that a program may poll in turn and still wait in one loop.
const MOST_IN_TURN: usize = 32;

/// The lengths of the gaps that a survey counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct SurveyedLengths {
    /// Ticks of the shortest ones.
    pub shortest: u64,
    /// Ticks of the shortest ones after a spin: the interrupts that take samples are shorter.
    pub shortest_after_spin: u64,
    /// Ticks from which on a gap after a spin is work.
    pub lost_core: u64,
}

/// A survey of the long gaps between a thread's unsuccessful polls.
#[derive(Clone, Debug, Default)]
pub struct GapSurvey {
    /// The lengths that decide which gaps count.
    lengths: SurveyedLengths,
    /// The thread's samples by time that come after what was seen.
    samples: VecDeque<CpuSample>,
    previous_end: u64,
    spin: WindowSpin,
    /// Call sites of unsuccessful polls with nothing else since; the last one is that of the last poll.
    polled: Vec<u64>,
    /// Calls of the spin since the last long gap.
    spun: u64,
    /// The ticks of the gaps between them.
    at_hand: BTreeMap<GapPlace, u64>,
    /// The ticks of the gaps before the last success, with nothing but polls since.
    before_success: Vec<(GapPlace, u64)>,
    sums: BTreeMap<GapPlace, PlacedGaps>,
}

impl GapSurvey {
    /// Starts a survey of gaps of such lengths.
    pub fn new(lengths: SurveyedLengths) -> Self {
        GapSurvey { lengths, ..GapSurvey::default() }
    }

    /// Adds samples of the thread that follow those before. Those up to `seen_until` are of no use any more.
    pub fn add_samples(&mut self, samples: impl IntoIterator<Item = CpuSample>, seen_until: u64) {
        self.samples.extend(samples);
        self.drop_samples(seen_until);
    }

    /// Adds the thread's next records.
    pub fn add(&mut self, records: &[Record]) {
        for record in records {
            let begin = self.previous_end;
            self.previous_end = begin.max(record.begin).max(record.end);
            let may_poll = self.is_polling() || Operation::may_spin(record.operation);
            if may_poll && record.operation != Operation::Flush as u16 {
                let place = CallPlace { region: 0, iteration: NONE, call_site: record.call_site };
                self.add_record(record, begin, place);
            }
        }
    }

    /// Returns whether the thread may be polling, so that any record may concern it.
    pub(crate) fn is_polling(&self) -> bool {
        !self.polled.is_empty() || self.spin.has_calls() || !self.before_success.is_empty()
    }

    /// Adds a record that may poll, or that follows polls, of which the last ended at `previous_end`. Returns the place of the long gap before it, if there is
    /// one.
    pub(crate) fn add_record(&mut self, record: &Record, previous_end: u64, place: CallPlace) -> Option<GapPlace> {
        // What a spin waits for is there when it ends, unless each of its calls is for other data.
        let was_spin = self.spin.is_spinning() && !self.spin.has_data();
        self.spin.add(record);
        let spins = self.spin.is_spinning();
        let answer = if spins { PollAnswer::Nothing } else { PollAnswer::from_record(record) };
        let asks = spins || Operation::polls(record.operation) || answer == PollAnswer::Neutral;
        let gap = record.begin.saturating_sub(previous_end);
        let is_long = gap >= self.lengths.shortest;
        if answer == PollAnswer::Neutral && is_long {
            self.withdraw_success(place.call_site);
        } else if answer == PollAnswer::Something && record.operation != Operation::Completed as u16 {
            self.before_success.clear();
        }
        // After a spin comes work, unless others have taken the core.
        let after_spin = self.spun > IN_TURN as u64;
        let SurveyedLengths { shortest_after_spin, lost_core, .. } = self.lengths;
        let counts = asks && is_long && (!after_spin || (shortest_after_spin..lost_core).contains(&gap));
        if is_long {
            self.spun = 0;
        }
        self.spun += if spins { 1 + FoldedCalls::new(record).map_or(0, |folded| folded.calls) } else { 0 };
        let gap = self.polled.last().filter(|_| counts).map(|&call_site| GapPlace {
            site: PolledSite { call_site, after_spin },
            next: place.next_call(record),
            iteration: place.iteration,
        });
        if let Some(gap) = gap {
            let ticks = record.begin - previous_end;
            let sampled_ns = self.take_samples(previous_end, record.begin);
            let sums = GapSums { gaps: 1, ticks, sampled_ns, succeeded: 0 };
            self.sums.entry(gap).or_default().sums.add(&sums);
            *self.at_hand.entry(gap).or_default() += ticks;
        }
        match answer {
            PollAnswer::Nothing => {
                self.polled.retain(|&site| site != place.call_site);
                if self.polled.len() == MOST_IN_TURN {
                    self.polled.remove(0);
                }
                self.polled.push(place.call_site);
            }
            PollAnswer::Neutral => {}
            PollAnswer::Something => {
                let has_succeeded = was_spin || asks && self.polled.contains(&place.call_site);
                self.end_polls(has_succeeded);
                self.spun = 0;
            }
        }
        gap
    }

    /// Notes that a gap counted as computation, and whether it may be waiting by its length.
    pub(crate) fn count_as_computation(&mut self, place: GapPlace, ticks: u64, may_wait: bool) {
        let gaps = self.sums.entry(place).or_default();
        gaps.computation = gaps.computation.saturating_add(ticks);
        gaps.maybe_waiting = gaps.maybe_waiting.saturating_add(if may_wait { ticks } else { 0 });
    }

    /// Ends the polls at hand, successfully or not.
    fn end_polls(&mut self, has_succeeded: bool) {
        self.polled.clear();
        let at_hand = std::mem::take(&mut self.at_hand);
        for (place, ticks) in at_hand.into_iter().filter(|_| has_succeeded) {
            let sums = &mut self.sums.entry(place).or_default().sums;
            sums.succeeded = sums.succeeded.saturating_add(ticks);
            self.before_success.push((place, ticks));
        }
    }

    /// Counts the gaps before the last success as if none had come, if they follow polls at a call site: these go on without a request.
    fn withdraw_success(&mut self, call_site: u64) {
        for (place, ticks) in self.before_success.extract_if(.., |(gap, _)| gap.site.call_site == call_site) {
            // Sums that were taken meanwhile keep them.
            if let Some(gaps) = self.sums.get_mut(&place) {
                gaps.sums.succeeded = gaps.sums.succeeded.saturating_sub(ticks);
            }
        }
    }

    /// Returns the CPU time of the samples after `begin`, up to `end`, and drops those and the ones before.
    fn take_samples(&mut self, begin: u64, end: u64) -> u64 {
        self.drop_samples(begin);
        let within = self.samples.partition_point(|sample| sample.ticks <= end);
        self.samples.drain(..within).fold(0, |sum: u64, sample| sum.saturating_add(sample.weight_ns))
    }

    fn drop_samples(&mut self, until: u64) {
        let before = self.samples.partition_point(|sample| sample.ticks <= until);
        self.samples.drain(..before);
    }

    /// Returns the sums since the last call. The polls at hand go on.
    pub fn take_gaps(&mut self) -> Vec<(GapPlace, PlacedGaps)> {
        std::mem::take(&mut self.sums).into_iter().collect()
    }
}

#[cfg(test)]
#[path = "gap_survey_tests.rs"]
mod tests;
