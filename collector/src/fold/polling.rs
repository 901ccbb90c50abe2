//! Classifies the time between unsuccessful polls as waiting or computation.
//!
//! A program that asks again and again whether a message has come (`while (!flag) MPI_Test(…)`) waits, as it would in MPI_Wait,
//! and the time between its polls is no work. A program that computes and asks now and then, so that MPI makes progress, works
//! between its polls. The length of the gaps distinguishes them:
//!
//! ```text
//!   waits      |Test|.|Test|.|Test|.|Test ok|                  gaps of less than 20 µs: one wait, from the first poll to the success
//!   computes   |Test|=================|Test|==============     longer ones: computation
//!   waits      |Test|.|Test|.… 50 polls …|..........|Test ok|  one long gap in the midst of a wait, up to 20 ms: it lost its core
//!   waits      |Test|.… 100 polls …|..|Test|.|Test|..|Test ok| two of 20 to 100 µs, close together: interrupts, each for 50 polls before
//!   waits      |Test|.|Wait null|.|Test|.|Wait null|.|Test ok|  calls that complete nothing neither begin a wait nor end one
//!   waits      |Test|..... asleep .....|Test|..... asleep .....|Test ok|  long gaps without CPU time, ended by the poll that they lie around
//! ```
//!
//! Calls that read a window ([`crate::spinning`]) are polls where they are made again and again.
//!
//! The records do not show CPU time: [`crate::gap_use`] finds it in the samples. Without it, long gaps are computation.
//!
//! [`PollGapClassifier`] goes over a thread's records, in the recorder (profile mode) and in the reader alike. Where a gap is waiting, the
//! record after it begins where the one before ended and is marked [`CallFlags::POLLED`], so that no time lies between them.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;
use std::sync::Arc;

use bincode::{Decode, Encode};

use crate::clock::RankClock;
use crate::gap_survey::{CpuSample, GapSurvey, SurveyedLengths};
use crate::gap_use::{GapUse, GapUses, PolledSite};
use crate::operation::Operation;
use crate::poll_answer::PollAnswer;
use crate::poll_gaps::{CallPlace, GapPlace, PlacedGaps};
use crate::record::log_header::LogHeader;
use crate::record::{CallFlags, NONE, PollGaps, Record};
use crate::semantics::{EpochStep, OperationSemantics};
use crate::spinning::{FoldedCalls, IN_TURN, WindowSpin};

/// The rule for gaps between unsuccessful polls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Encode, Decode)]
pub enum PollGapRule {
    /// The lengths of the gaps decide.
    #[default]
    Auto,
    /// Waiting, however long they are.
    Waiting,
    /// Computation, however short they are.
    Computation,
}

impl PollGapRule {
    /// The rules, in the order of the help.
    pub const ALL: [PollGapRule; 3] = [PollGapRule::Auto, PollGapRule::Waiting, PollGapRule::Computation];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            PollGapRule::Auto => "auto",
            PollGapRule::Waiting => "waiting",
            PollGapRule::Computation => "computation",
        }
    }
}

impl FromStr for PollGapRule {
    type Err = String;

    fn from_str(text: &str) -> Result<PollGapRule, String> {
        let found = PollGapRule::ALL.into_iter().find(|one| one.name() == text);
        found.ok_or_else(|| "must be waiting, computation or auto".to_owned())
    }
}

impl Display for PollGapRule {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Gaps below are too short for work that is worth a poll: a call of MPI_Test costs 0.1 to 1 µs.
pub const SHORT_NS: u64 = 5_000;
/// Gaps below are waiting: who polls for progress would spend more than 1 to 5 % of its time on it. Recorders fold polls with
/// shorter gaps than about this.
pub const WAITING_NS: u64 = 20_000;
/// Gaps from here on are computation beyond doubt, but for those in which a core was lost.
pub const LONG_NS: u64 = 100_000;
/// After so many polls with short gaps the thread has nothing else to do: a longer gap is the loss of its core, or a sleep.
pub const SPINNING: u64 = 50;
/// Polls that count towards interrupts at most. Each gap of less than [`LONG_NS`] takes [`SPINNING`] of them, but these need not lie
/// directly before it: the system's timer interrupts a thread twice in 0.1 ms, every 4 ms.
pub const SPARE: u64 = 4 * SPINNING;
/// Time for which a core is lost to others at once: a few slices of the scheduler.
pub const LOST_CORE_NS: u64 = 20_000_000;

/// Time and number of polls that found nothing, and of the gaps after them up to the poll, wait or receive that follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct PollSums {
    /// Polls.
    pub polls: u64,
    /// Waits by polling: each of several polls, or of polls and the call that goes on with the wait.
    pub waits: u64,
    /// Ticks within the polls.
    pub within: u64,
    /// Ticks of gaps that count as waiting.
    pub waiting: u64,
    /// Gaps that may be computation.
    pub maybe_computation: u64,
    /// Ticks of gaps that count as computation.
    pub computation: u64,
    /// Gaps that may be waiting.
    pub maybe_waiting: u64,
}

impl PollSums {
    /// Adds the sums of other records.
    pub fn add(&mut self, other: &PollSums) {
        self.polls = self.polls.saturating_add(other.polls);
        self.waits = self.waits.saturating_add(other.waits);
        self.within = self.within.saturating_add(other.within);
        self.waiting = self.waiting.saturating_add(other.waiting);
        self.maybe_computation = self.maybe_computation.saturating_add(other.maybe_computation);
        self.computation = self.computation.saturating_add(other.computation);
        self.maybe_waiting = self.maybe_waiting.saturating_add(other.maybe_waiting);
    }
}

/// The lengths that decide, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollGapLimits {
    short: u64,
    waiting: u64,
    long: u64,
    lost_core: u64,
}

impl PollGapLimits {
    /// Returns the lengths of gaps whose use is to be found out.
    pub fn surveyed(&self) -> SurveyedLengths {
        SurveyedLengths { shortest: self.waiting, shortest_after_spin: self.long, lost_core: self.lost_core }
    }

    /// Converts the limits to the clock of the rank with `header`.
    pub fn from_header(header: &LogHeader) -> PollGapLimits {
        let per_ns = 1e-9 / RankClock::new(header, &[], &[]).tick_s();
        let [short, waiting, long, lost_core] =
            [SHORT_NS, WAITING_NS, LONG_NS, LOST_CORE_NS].map(|ns| (ns as f64 * per_ns) as u64);
        PollGapLimits { short, waiting, long, lost_core }
    }
}

/// The polls at hand: those that the records just before the next one describe.
#[derive(Clone, Copy, Debug)]
struct PollingPhase {
    /// Polls since the last long gap.
    polls: u64,
    /// Polls that no interrupt has taken yet, at most [`SPARE`].
    spare: u64,
    /// True if a gap of it was waiting.
    waits: bool,
    /// Call site of the last poll.
    call_site: u64,
}

/// Facts about a call that follows polls.
#[derive(Clone, Copy, Debug)]
struct PollCall {
    /// True if it does not wait itself.
    asks: bool,
    /// The place of the gap before it, if that is long and counted in a survey.
    surveyed: Option<GapPlace>,
}

impl PollingPhase {
    /// No polls since the last computation.
    fn computing() -> PollingPhase {
        PollingPhase { polls: 0, spare: 0, waits: false, call_site: u64::MAX }
    }
}

/// Says of one thread's records, in their order, what the time between polls is.
#[derive(Clone, Debug)]
pub struct PollGapClassifier {
    polling: PollGapRule,
    lengths: PollGapLimits,
    /// The latest time stamp seen, in ticks.
    previous_end: u64,
    phase: Option<PollingPhase>,
    spin: WindowSpin,
    sums: PollSums,
    /// Uses of the thread's long gaps.
    gap_uses: Arc<GapUses>,
    thread: u32,
    /// Counts the long gaps, where their use is to be found out later.
    survey: Option<GapSurvey>,
}

impl PollGapClassifier {
    /// Of a thread whose records follow `previous_end` ticks.
    pub fn new(polling: PollGapRule, lengths: PollGapLimits, previous_end: u64) -> PollGapClassifier {
        let (spin, sums, gap_uses) = Default::default();
        PollGapClassifier { polling, lengths, previous_end, phase: None, spin, sums, gap_uses, thread: 0, survey: None }
    }

    /// Takes what is known of the long gaps of the thread of this number into account.
    #[must_use]
    pub fn with_gap_uses(self, gap_uses: Arc<GapUses>, thread: u32) -> PollGapClassifier {
        PollGapClassifier { gap_uses, thread, ..self }
    }

    /// Counts long gaps, whose use is not known yet: [`PollGapClassifier::take_gaps`].
    #[must_use]
    pub fn surveying(self) -> PollGapClassifier {
        PollGapClassifier { survey: Some(GapSurvey::new(self.lengths.surveyed())), ..self }
    }

    /// Adds samples of the thread's CPU time that follow those before, for the survey of gaps.
    pub fn add_samples(&mut self, samples: impl IntoIterator<Item = CpuSample>) {
        if let Some(survey) = &mut self.survey {
            survey.add_samples(samples, self.previous_end);
        }
    }

    /// Returns the long gaps since the last call.
    pub fn take_gaps(&mut self) -> Vec<(GapPlace, PlacedGaps)> {
        self.survey.as_mut().map(GapSurvey::take_gaps).unwrap_or_default()
    }

    /// The sums since the last call.
    pub fn take_sums(&mut self) -> PollSums {
        std::mem::take(&mut self.sums)
    }

    /// Records are missing, or another one follows than was expected: those that follow stand after `previous_end`.
    pub fn skip_to(&mut self, previous_end: u64) {
        self.phase = None;
        self.spin = WindowSpin::default();
        self.previous_end = self.previous_end.max(previous_end);
    }

    /// The thread's next record, as it is with the time between polls decided: a record of polls describes time in them alone, or
    /// of a wait.
    #[inline(always)]
    pub fn next(&mut self, record: &mut Record) {
        self.next_at(record, CallPlace::UNKNOWN);
    }

    /// Classifies the gap before a record that is made at `place`.
    #[inline(always)]
    pub fn next_at(&mut self, record: &mut Record, place: CallPlace) {
        if self.concerns(record) {
            self.polls(record, place);
        }
        self.pass(record);
    }

    /// Returns whether [`PollGapClassifier::next`] may change the thread's next record, or counts it as a poll.
    #[inline(always)]
    pub(crate) fn concerns(&self, record: &Record) -> bool {
        self.is_polling() || Operation::may_spin(record.operation)
    }

    /// Returns whether the thread may be polling, so that any record may concern it.
    #[inline(always)]
    pub(crate) fn is_polling(&self) -> bool {
        self.phase.is_some() || self.spin.has_calls() || self.survey.as_ref().is_some_and(GapSurvey::is_polling)
    }

    /// The thread's next record, which does not concern polling.
    #[inline(always)]
    pub(crate) fn pass(&mut self, record: &Record) {
        self.pass_until(record.begin.max(record.end));
    }

    /// The thread's next records, up to this end, do not concern polling.
    #[inline(always)]
    pub(crate) fn pass_until(&mut self, end: u64) {
        self.previous_end = self.previous_end.max(end);
    }

    #[inline(never)]
    fn polls(&mut self, record: &mut Record, place: CallPlace) {
        if record.operation == Operation::Flush as u16 {
            // The ring was full, or handed over, before the record that follows: that may go on with the wait.
            return;
        }
        let before = self.phase.take();
        let begin = record.begin;
        let previous_end = self.previous_end;
        let surveyed = self.survey.as_mut().and_then(|survey| survey.add_record(record, previous_end, place));
        self.spin.add(record);
        let spins = self.spin.is_spinning();
        let answer = if spins { PollAnswer::Nothing } else { PollAnswer::from_record(record) };
        let folded = if spins { FoldedCalls::new(record) } else { None };
        let inner_wait = match folded {
            Some(folded) => self.fold_spin(folded, record),
            None => answer == PollAnswer::Nothing && !spins && self.folded(record),
        };
        let asks = spins || Operation::polls(record.operation) || answer == PollAnswer::Neutral;
        if spins && folded.is_none() {
            self.sums.within = self.sums.within.saturating_add(record.end.saturating_sub(begin));
        }
        let before = match before {
            Some(phase) if spins || is_still_waiting(record.operation) => {
                Some(self.gap(phase, begin, record, PollCall { asks, surveyed }))
            }
            _ => None,
        };
        match answer {
            PollAnswer::Something => return,
            PollAnswer::Neutral => {
                self.phase = before.filter(|_| record.flags.contains(CallFlags::POLLED));
                return;
            }
            PollAnswer::Nothing => {}
        }
        let before = before.unwrap_or(PollingPhase::computing());
        let polls = 1 + if spins { folded.map_or(0, |folded| folded.calls) } else { u64::from(record.count) };
        self.sums.polls = self.sums.polls.saturating_add(polls);
        self.sums.waits += u64::from(inner_wait && !before.waits);
        self.phase = Some(PollingPhase {
            polls: before.polls.saturating_add(polls),
            spare: before.spare.saturating_add(polls).min(SPARE),
            waits: before.waits || inner_wait,
            call_site: record.call_site,
        });
    }

    /// Decides the gap between a phase and a record that begins at `begin` and may go on with it; gives what it goes on with.
    fn gap(&mut self, phase: PollingPhase, begin: u64, record: &mut Record, asked: PollCall) -> PollingPhase {
        let PollCall { asks, surveyed } = asked;
        let gap = begin.saturating_sub(self.previous_end);
        let is_auto = self.polling == PollGapRule::Auto;
        // Data that were read may be worked on.
        let reads_data = self.spin.has_data();
        let is_brief = gap < if reads_data { self.lengths.short } else { self.lengths.waiting };
        let interrupted = phase.spare >= SPINNING && gap < self.lengths.long;
        // A spin does not show its success: after it, a long gap is work, unless such gaps lie between all of its rounds, or others had the core.
        let spins = self.spin.has_calls();
        let after_spin = spins && phase.polls > IN_TURN as u64;
        let may_wait_long = !after_spin || (self.lengths.long..self.lengths.lost_core).contains(&gap);
        let lost_core = phase.polls >= SPINNING && gap < self.lengths.lost_core && !spins;
        let depends_on_use = is_auto && !is_brief && asks && may_wait_long;
        let site = PolledSite { call_site: phase.call_site, after_spin };
        let gap_use = self.gap_uses.get(self.thread, site).filter(|_| depends_on_use);
        let is_asleep = gap_use.is_some_and(GapUse::is_waiting);
        let waits = match self.polling {
            PollGapRule::Computation => false,
            PollGapRule::Waiting => is_brief || asks && !reads_data && !after_spin,
            PollGapRule::Auto => is_brief || is_asleep || asks && (interrupted || lost_core),
        };
        if !waits {
            let may_wait = match gap_use {
                Some(GapUse::Computing) => false,
                Some(_) => !after_spin,
                None if reads_data => is_auto && gap < self.lengths.waiting,
                None => is_auto && asks && gap < self.lengths.long,
            };
            self.sums.computation = self.sums.computation.saturating_add(gap);
            self.sums.maybe_waiting = self.sums.maybe_waiting.saturating_add(if may_wait { gap } else { 0 });
            if let Some((survey, place)) = self.survey.as_mut().zip(surveyed.filter(|_| depends_on_use)) {
                survey.count_as_computation(place, gap, may_wait);
            }
            return PollingPhase::computing();
        }
        let may_compute = is_auto && !is_asleep && gap >= self.lengths.short;
        self.sums.waiting = self.sums.waiting.saturating_add(gap);
        self.sums.maybe_computation = self.sums.maybe_computation.saturating_add(if may_compute { gap } else { 0 });
        self.sums.waits += u64::from(!phase.waits);
        record.begin = self.previous_end;
        record.flags |= CallFlags::POLLED;
        match is_brief || is_asleep {
            true if spins && is_asleep => PollingPhase { polls: 0, waits: true, ..phase },
            true => PollingPhase { waits: true, ..phase },
            false => PollingPhase { polls: 0, spare: phase.spare.saturating_sub(SPINNING), waits: true, ..phase },
        }
    }

    /// Decides the gaps within a record of calls on a window that were folded, and takes out of it what describes them; whether it is a wait.
    fn fold_spin(&mut self, folded: FoldedCalls, record: &mut Record) -> bool {
        let within = record.end.saturating_sub(record.begin) - folded.gaps;
        record.request = NONE;
        self.sums.within = self.sums.within.saturating_add(within);
        if self.polling == PollGapRule::Computation {
            record.end = record.begin + within;
            self.sums.computation = self.sums.computation.saturating_add(folded.gaps);
            return false;
        }
        self.sums.waiting = self.sums.waiting.saturating_add(folded.gaps);
        folded.gaps > 0
    }

    /// Decides the gaps within a record of polls that were folded, and takes out of it what describes them; whether it is a wait.
    fn folded(&mut self, record: &mut Record) -> bool {
        let length = record.end.saturating_sub(record.begin);
        let has_gaps = record.sent > 0;
        let within = if has_gaps { record.sent.min(length) } else { length };
        let gaps = length - within;
        let medium = if has_gaps { PollGaps(record.received).medium().min(gaps) } else { 0 };
        (record.sent, record.received) = (0, 0);
        self.sums.within = self.sums.within.saturating_add(within);
        if self.polling == PollGapRule::Computation {
            record.end = record.begin + within;
            self.sums.computation = self.sums.computation.saturating_add(gaps);
            return false;
        }
        self.sums.waiting = self.sums.waiting.saturating_add(gaps);
        let medium = if self.polling == PollGapRule::Auto { medium } else { 0 };
        self.sums.maybe_computation = self.sums.maybe_computation.saturating_add(medium);
        has_gaps
    }
}

/// Returns whether a call that follows unsuccessful polls at once goes on with their wait: it polls itself, waits or receives.
fn is_still_waiting(operation: u16) -> bool {
    let waits = Operation::semantics(operation).after_polling();
    matches!(
        waits,
        OperationSemantics::Wait
            | OperationSemantics::Recv
            | OperationSemantics::Probe
            | OperationSemantics::Look
            | OperationSemantics::Epoch(EpochStep::Wait)
    )
}

#[cfg(test)]
#[path = "polling_tests.rs"]
mod tests;
