//! Classifies the time between unsuccessful polls as waiting or computation.
//!
//! A program that asks again and again whether a message has come (`while (!flag) MPI_Test(…)`) waits, as it would in MPI_Wait,
//! and the time between its polls is no work. A program that computes and asks now and then, so that MPI makes progress, works
//! between its polls. The rule:
//!
//! 1. A gap between unsuccessful polls, and before the poll, wait or receive that ends them, is waiting if it is shorter than 20 µs. So is an interruption by
//!    the system, up to 20 ms, one for each 50 such polls.
//! 2. A longer gap is waiting if the thread sleeps in it until a poll succeeds, and computation otherwise.
//! 3. In doubt are gaps of 5 to 100 µs, interruptions, and gaps in which the thread sleeps though no poll succeeds; not those that its CPU time decides.
//!
//! Repeated calls that read a window ([`crate::spinning`]) are polls, too. Their success cannot be seen, so gaps from 5 µs on are computation there.
//!
//! The records do not show CPU time: [`crate::poll_gaps`] judges the long gaps by the thread's samples.
//!
//! [`PollGapClassifier`] goes over a thread's records, in the recorder (profile mode) and in the reader alike. Where a gap is waiting, the
//! record after it begins where the one before ended and is marked [`CallFlags::POLLED`], so that no time lies between them.

use std::collections::VecDeque;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use bincode::{Decode, Encode};
use serde::Serialize;

use crate::clock::RankClock;
use crate::operation::Operation;
use crate::poll_gaps::{CpuSample, GapSums, GapUse};
use crate::record::heads::log_header::LogHeader;
use crate::record::{CallFlags, NONE, PollGaps, Record};
use crate::semantics::{EpochStep, OperationSemantics};
use crate::spinning::{FoldedCalls, WindowSpin};

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

    /// Returns the name in options.
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
/// Gaps from here on are computation beyond doubt, but for interruptions and sleep.
pub const LONG_NS: u64 = 100_000;
/// Number of polls with short gaps after which the thread has nothing else to do: a longer gap is an interrupt, or the loss of its core.
pub const SPINNING: u64 = 50;
/// Polls that count towards interruptions at most: the system's timer interrupts a thread twice in 0.1 ms, every 4 ms.
const SPARE: u64 = 2 * SPINNING;
/// Time for which a core is lost to others at once: a few slices of the scheduler.
pub const LOST_CORE_NS: u64 = 20_000_000;

/// Time and number of polls that found nothing, and of the gaps after them up to the poll, wait or receive that follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode, Serialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PollGapLimits {
    short: u64,
    waiting: u64,
    long: u64,
    lost_core: u64,
}

impl PollGapLimits {
    /// Converts the limits to the clock of the rank with `header`.
    pub fn from_header(header: &LogHeader) -> PollGapLimits {
        let per_ns = 1e-9 / RankClock::new(header, &[], &[]).tick_s();
        let [short, waiting, long, lost_core] =
            [SHORT_NS, WAITING_NS, LONG_NS, LOST_CORE_NS].map(|ns| (ns as f64 * per_ns) as u64);
        PollGapLimits { short, waiting, long, lost_core }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PollAnswer {
    /// The call polled in vain.
    Nothing,
    /// No request was active: no wait begins with it, nor ends.
    Neutral,
    /// The call found something, or is no poll.
    Something,
}

impl PollAnswer {
    fn from_record(record: &Record) -> PollAnswer {
        let is_unfinished = record.end == 0 || record.flags.contains(CallFlags::UNFINISHED);
        match record.flags {
            _ if is_unfinished => PollAnswer::Something,
            flags if flags.contains(CallFlags::INACTIVE) => PollAnswer::Neutral,
            flags if flags.contains(CallFlags::NOTHING) && Operation::polls(record.operation) => PollAnswer::Nothing,
            _ => PollAnswer::Something,
        }
    }
}

/// The polls at hand: those that the records just before the next one describe.
#[derive(Clone, Copy, Debug, Default)]
struct PollingPhase {
    /// Polls since the last long gap that no interruption has taken yet, at most [`SPARE`].
    spare: u64,
    waits: bool,
    long_gaps: u64,
}

/// Says of one thread's records, in their order, what the time between polls is.
#[derive(Clone, Debug, Default)]
pub struct PollGapClassifier {
    polling: PollGapRule,
    limits: PollGapLimits,
    previous_end: u64,
    phase: Option<PollingPhase>,
    spin: WindowSpin,
    sums: PollSums,
    gap_use: Option<GapUse>,
    long_gaps: GapSums,
    /// Ticks of the long gaps before the last poll that succeeded, with nothing but polls since.
    last_success: u64,
    success_site: u64,
    samples: VecDeque<CpuSample>,
}

impl PollGapClassifier {
    /// Creates a classifier for a thread whose records follow `previous_end` ticks.
    pub fn new(polling: PollGapRule, limits: PollGapLimits, previous_end: u64) -> PollGapClassifier {
        PollGapClassifier { polling, limits, previous_end, ..PollGapClassifier::default() }
    }

    /// Takes what is known of the thread's long gaps into account.
    #[must_use]
    pub fn with_gap_use(self, gap_use: Option<GapUse>) -> PollGapClassifier {
        PollGapClassifier { gap_use, ..self }
    }

    /// Adds samples of the thread's CPU time that follow those before.
    pub fn add_samples(&mut self, samples: impl IntoIterator<Item = CpuSample>) {
        self.samples.extend(samples);
        self.drop_samples(self.previous_end);
    }

    /// Returns the sums of the long gaps since the last call.
    pub fn take_gaps(&mut self) -> GapSums {
        std::mem::take(&mut self.long_gaps)
    }

    /// Takes the sums since the last call.
    pub fn take_sums(&mut self) -> PollSums {
        std::mem::take(&mut self.sums)
    }

    /// Skips missing records: the next ones come after `previous_end`.
    pub fn skip_to(&mut self, previous_end: u64) {
        self.phase = None;
        self.spin = WindowSpin::default();
        self.last_success = 0;
        self.previous_end = self.previous_end.max(previous_end);
    }

    /// Makes the thread's next record what it is with the time between polls decided: a record of polls describes time in them alone, or
    /// of a wait. Returns the ticks of a long gap before it that counts as computation, until the use of such gaps is known.
    #[inline(always)]
    pub fn next(&mut self, record: &mut Record) -> u64 {
        let long_gap = if self.concerns(record) { self.decide(record) } else { 0 };
        self.pass(record);
        long_gap
    }

    /// Returns whether [`PollGapClassifier::next`] may change the thread's next record, or counts it as a poll.
    #[inline(always)]
    pub(crate) fn concerns(&self, record: &Record) -> bool {
        self.is_polling() || Operation::may_spin(record.operation)
    }

    /// Returns whether the thread may be polling, so that any record may concern it.
    #[inline(always)]
    pub(crate) fn is_polling(&self) -> bool {
        self.phase.is_some() || self.spin.has_calls() || self.last_success > 0
    }

    /// Moves past the thread's next record, which does not concern polling.
    #[inline(always)]
    pub(crate) fn pass(&mut self, record: &Record) {
        self.pass_until(record.begin.max(record.end));
    }

    /// Moves past the thread's next records up to this end, which do not concern polling.
    #[inline(always)]
    pub(crate) fn pass_until(&mut self, end: u64) {
        self.previous_end = self.previous_end.max(end);
    }

    #[inline(never)]
    fn decide(&mut self, record: &mut Record) -> u64 {
        if record.operation == Operation::Flush as u16 {
            // The ring was full, or handed over, before the record that follows: that may go on with the wait.
            return 0;
        }
        let begin = record.begin;
        self.spin.add(record);
        let spins = self.spin.is_spinning();
        let answer = if spins { PollAnswer::Nothing } else { PollAnswer::from_record(record) };
        let asks = spins || answer == PollAnswer::Neutral || Operation::polls(record.operation);
        let polls = 1 + if spins && !Operation::folds_in_spin(record.operation) { 0 } else { u64::from(record.count) };
        let is_inner_wait = answer == PollAnswer::Nothing && self.decide_folded(record, spins);
        let before = self.phase.take().filter(|_| spins || is_still_waiting(record.operation));
        let mut after = before.unwrap_or_default();
        let mut long_gap = 0;
        if before.is_some() {
            long_gap = self.decide_gap(&mut after, begin, record, asks);
        }
        match answer {
            PollAnswer::Something if record.operation == Operation::Completed as u16 => {}
            PollAnswer::Something => {
                let succeeded = if asks { after.long_gaps } else { 0 };
                self.long_gaps.succeeded = self.long_gaps.succeeded.saturating_add(succeeded);
                (self.last_success, self.success_site) = (succeeded, record.call_site);
            }
            PollAnswer::Neutral => {
                let is_long = begin.saturating_sub(self.previous_end) >= self.limits.waiting;
                if is_long && record.call_site == self.success_site {
                    // The polls go on, though nothing is left to wait for. Sums that were taken meanwhile keep the success.
                    self.long_gaps.succeeded = self.long_gaps.succeeded.saturating_sub(self.last_success);
                    self.last_success = 0;
                }
                self.phase = before.map(|_| after).filter(|_| record.flags.contains(CallFlags::POLLED));
            }
            PollAnswer::Nothing => {
                self.sums.polls = self.sums.polls.saturating_add(polls);
                self.sums.waits += u64::from(is_inner_wait && !after.waits);
                let spare = after.spare.saturating_add(polls).min(SPARE);
                self.phase = Some(PollingPhase { spare, waits: after.waits || is_inner_wait, ..after });
            }
        }
        long_gap
    }

    /// Decides the gap between a phase and a record that begins at `begin` and may go on with it, `asks`: without waiting itself. Returns the ticks of a long
    /// gap that counts as computation.
    fn decide_gap(&mut self, phase: &mut PollingPhase, begin: u64, record: &mut Record, asks: bool) -> u64 {
        let PollGapLimits { short, waiting, long, lost_core } = self.limits;
        let gap = begin.saturating_sub(self.previous_end);
        let is_auto = self.polling == PollGapRule::Auto;
        // A spin does not show its success: after it, a long gap is work.
        let spins = self.spin.has_calls();
        let is_brief = gap < if spins { short } else { waiting };
        let is_interruption = asks && phase.spare >= SPINNING && gap < if spins { long } else { lost_core };
        let may_sleep = asks && !spins && !is_brief;
        let is_long = may_sleep && !is_interruption;
        if is_long {
            let sampled_ns = self.take_samples(begin);
            self.long_gaps.add(&GapSums { ticks: gap, sampled_ns, succeeded: 0 });
            phase.long_gaps = phase.long_gaps.saturating_add(gap);
        }
        let gap_use = self.gap_use.filter(|_| may_sleep && is_auto);
        let is_asleep = gap_use == Some(GapUse::Asleep);
        let waits = match self.polling {
            PollGapRule::Computation => false,
            PollGapRule::Waiting => is_brief || may_sleep,
            PollGapRule::Auto => is_brief || is_interruption || is_asleep,
        };
        let is_doubtful = is_auto
            && match gap_use {
                _ if waits => gap >= short && !is_asleep,
                Some(gap_use) => gap_use == GapUse::Unclear,
                None => asks && gap < if spins { waiting } else { long },
            };
        let doubtful = if is_doubtful { gap } else { 0 };
        if !is_brief {
            phase.spare = if waits && is_interruption && !is_asleep { phase.spare - SPINNING } else { 0 };
        }
        if !waits {
            self.sums.computation = self.sums.computation.saturating_add(gap);
            self.sums.maybe_waiting = self.sums.maybe_waiting.saturating_add(doubtful);
            phase.waits = false;
            phase.spare = 0;
            return if is_long { gap } else { 0 };
        }
        self.sums.waiting = self.sums.waiting.saturating_add(gap);
        self.sums.maybe_computation = self.sums.maybe_computation.saturating_add(doubtful);
        self.sums.waits += u64::from(!phase.waits);
        phase.waits = true;
        record.begin = self.previous_end;
        record.flags |= CallFlags::POLLED;
        0
    }

    /// Decides the gaps within a record of folded polls, or of folded calls on a window, and removes their description from it. Returns whether it is a wait.
    fn decide_folded(&mut self, record: &mut Record, spins: bool) -> bool {
        let length = record.end.saturating_sub(record.begin);
        let (mut gaps, mut medium, mut is_wait) = (0, 0, false);
        if !spins {
            is_wait = record.sent > 0;
            if is_wait {
                gaps = length.saturating_sub(record.sent);
                medium = PollGaps(record.received).medium().min(gaps);
            }
            (record.sent, record.received) = (0, 0);
        } else if let Some(folded) = FoldedCalls::new(record) {
            gaps = folded.gaps;
            is_wait = gaps > 0;
            record.request = NONE;
        }
        let within = length - gaps;
        self.sums.within = self.sums.within.saturating_add(within);
        if self.polling == PollGapRule::Computation {
            record.end = record.begin + within;
            self.sums.computation = self.sums.computation.saturating_add(gaps);
            return false;
        }
        self.sums.waiting = self.sums.waiting.saturating_add(gaps);
        let medium = if self.polling == PollGapRule::Auto { medium } else { 0 };
        self.sums.maybe_computation = self.sums.maybe_computation.saturating_add(medium);
        is_wait
    }

    /// Returns the CPU time of the samples between the last record and `begin`, and drops those and the ones before.
    fn take_samples(&mut self, begin: u64) -> u64 {
        self.drop_samples(self.previous_end);
        let within = self.samples.partition_point(|sample| sample.ticks <= begin);
        self.samples.drain(..within).fold(0, |sum: u64, sample| sum.saturating_add(sample.weight_ns))
    }

    fn drop_samples(&mut self, until: u64) {
        let before = self.samples.partition_point(|sample| sample.ticks <= until);
        self.samples.drain(..before);
    }
}

/// Returns whether a call right after unsuccessful polls continues their wait: it polls itself, waits or receives.
fn is_still_waiting(operation: u16) -> bool {
    use OperationSemantics::{Epoch, Look, Probe, Recv, Wait};
    let waits = Operation::semantics(operation).after_polling();
    matches!(waits, Wait | Recv | Probe | Look | Epoch(EpochStep::Wait))
}

#[cfg(test)]
#[path = "polling_tests.rs"]
mod tests;
