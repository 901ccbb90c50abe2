//! How a thread spends the long gaps between its unsuccessful polls: asleep or computing.
//!
//! ```text
//!   waits      |Test|... usleep ...|Test|... usleep ...|Test ok|    no samples; the poll that failed succeeds in the end
//!   computes   |Test|x====x====x===|Test|==x====x====x=|Test ok|    samples of its CPU time
//!   unclear    |Test|... usleep ...|Test|... usleep ...|Wait|       it sleeps, but the polls are for something else
//!   has no core  |sync|sync|sync|........|sync|sync|sync|........|  no samples in a spin on a window, and the thread does not give up its core
//!   computes     |sync|sync|sync|x====x==|sync|sync|sync|x====x==|  samples: what the spin waited for has come
//! ```
//!
//! A single gap is often shorter than the time between two samples, so gaps are judged together that follow a poll from the same call site, or all of
//! a thread.
//! [`GapSurvey`] goes over a thread's records and samples, [`GapSums::judge`] gives the verdict, which [`crate::polling`] uses.

use std::collections::{BTreeMap, HashMap, VecDeque};

use bincode::{Decode, Encode};

use crate::operation::Operation;
use crate::poll_answer::Answer;
use crate::poll_gaps::{CallPlace, GapPlace, PlacedGaps};
use crate::record::{NONE, Record};
use crate::spinning::{FoldedCalls, IN_TURN, WindowSpin};

/// How a thread spends the long gaps after unsuccessful polls from a call site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapUse {
    /// It sleeps until a poll from there succeeds, so it waits.
    Asleep,
    /// Others have its core in the midst of a spin, so it waits.
    Preempted,
    /// It uses its core, or would if it had one.
    Computing,
    /// Neither is certain.
    Unclear,
}

/// The uses of the gaps of a rank's threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GapUses(HashMap<(u32, PolledSite), GapUse>);

/// A call site, and whether the gaps after polls from there follow a spin, in which the calls came one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct PolledSite {
    /// Id of the call site.
    pub call_site: u64,
    /// Whether so many calls of a spin lie before the gap that not each of its rounds has one.
    pub after_spin: bool,
}

impl GapUse {
    /// Returns whether the gaps are waiting.
    pub fn is_waiting(self) -> bool {
        matches!(self, GapUse::Asleep | GapUse::Preempted)
    }
}

impl GapUses {
    /// Returns the use of long gaps after polls of `thread` from a site; `None` where nothing is known.
    pub fn get(&self, thread: u32, site: PolledSite) -> Option<GapUse> {
        if self.0.is_empty() { None } else { self.0.get(&(thread, site)).copied() }
    }

    /// Sets the use of long gaps after polls of `thread` from a site.
    pub fn insert(&mut self, thread: u32, site: PolledSite, gap_use: GapUse) {
        self.0.insert((thread, site), gap_use);
    }

    /// Adds the uses of the gaps of `thread`, of which these are the sums by site, as far as they are known.
    pub fn judge(&mut self, thread: u32, by_site: &BTreeMap<PolledSite, GapSums>, evidence: &CpuEvidence) {
        for after_spin in [false, true] {
            let alike = || by_site.iter().filter(|(site, _)| site.after_spin == after_spin);
            let mut all = GapSums::default();
            for (_, sums) in alike() {
                all.add(sums);
            }
            for (site, sums) in alike() {
                let gap_use = match after_spin {
                    true => sums.judge_after_spin(&all, evidence),
                    false => sums.judge(&all, evidence),
                };
                if let Some(gap_use) = gap_use {
                    self.insert(thread, *site, gap_use);
                }
            }
        }
    }

    /// Returns whether nothing is known of any gap.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Sums over the long gaps after unsuccessful polls from one call site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct GapSums {
    /// How many gaps there are.
    pub gaps: u64,
    /// Their ticks.
    pub ticks: u64,
    /// The CPU time that samples in them stand for, in nanoseconds.
    pub sampled_ns: u64,
    /// The ticks of those gaps after which, in the end, a poll from the same call site succeeded.
    pub succeeded: u64,
}

/// What is known of a thread's CPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuEvidence {
    /// Nanoseconds of a tick.
    pub tick_ns: f64,
    /// CPU time between two of the thread's samples, in nanoseconds; `None` where it was not sampled.
    pub period_ns: Option<u64>,
    /// Times that its process gave up a core to wait.
    pub voluntary_switches: Option<u64>,
    /// The thread's CPU time, in nanoseconds.
    pub cpu_ns: Option<u64>,
    /// Time in which the thread neither ran nor wanted a core, in nanoseconds.
    pub idle_ns: Option<u64>,
}

/// Samples that computing would have had, from which on their absence proves something: by chance there are none in one case of 3,000.
const ENOUGH_SAMPLES: f64 = 8.0;
/// Fraction of the gaps that CPU time may take if the thread is to be asleep in them.
const ASLEEP: f64 = 0.1;
/// The same of a thread that yields its core to others that want it.
const YIELDING: f64 = 0.02;
/// Fraction of the gaps up to which the CPU time of the whole run, most of which lies elsewhere, allows the thread to be asleep in them.
const MOST_CPU_OF_RUN: f64 = 0.25;
/// Fraction of the gaps from which on CPU time makes them computation.
const COMPUTING: f64 = 0.5;

impl GapSums {
    /// Adds the sums of other gaps.
    pub fn add(&mut self, other: &GapSums) {
        self.gaps += other.gaps;
        self.ticks = self.ticks.saturating_add(other.ticks);
        self.sampled_ns = self.sampled_ns.saturating_add(other.sampled_ns);
        self.succeeded = self.succeeded.saturating_add(other.succeeded);
    }

    /// Returns how the thread spends the gaps, which are among those of `all`; `None` where too little is known of its CPU time.
    ///
    /// Samples decide, those in all gaps of the thread where these gaps alone are too short; where there are too few, the CPU time of the whole run.
    /// One that sleeps without a poll that succeeds may sleep for another reason.
    fn judge(&self, all: &GapSums, evidence: &CpuEvidence) -> Option<GapUse> {
        let is_computing = match self.or_if_too_few(all, evidence) {
            Some(sums) => sums.is_computing_by_samples(evidence),
            None => {
                let gaps_ns = all.ticks as f64 * evidence.tick_ns;
                let (cpu_ns, idle_ns) = (evidence.cpu_ns? as f64, evidence.idle_ns? as f64);
                let is_idle = cpu_ns <= MOST_CPU_OF_RUN * gaps_ns && evidence.has_given_up_core(all);
                verdict(is_idle, idle_ns <= ASLEEP * gaps_ns)
            }
        };
        let ends_in_success = self.succeeded >= self.ticks / 2;
        Some(match is_computing {
            Some(true) => GapUse::Computing,
            Some(false) if ends_in_success => GapUse::Asleep,
            _ => GapUse::Unclear,
        })
    }

    /// Returns how the thread spends such gaps in the midst of spins, or after them.
    ///
    /// A spin shows no success: after it comes work, which has samples, or is slept for, where the thread gives up its core. One that does neither has lost it.
    fn judge_after_spin(&self, all: &GapSums, evidence: &CpuEvidence) -> Option<GapUse> {
        let sums = self.or_if_too_few(all, evidence)?;
        let used = sums.used(evidence);
        Some(match used {
            _ if used > COMPUTING => GapUse::Computing,
            _ if used <= ASLEEP && !evidence.has_given_up_core(sums) => GapUse::Preempted,
            _ => GapUse::Unclear,
        })
    }

    /// Returns these gaps, or `all` if these are too short for samples; `None` if all are, too.
    fn or_if_too_few<'a>(&'a self, all: &'a GapSums, evidence: &CpuEvidence) -> Option<&'a GapSums> {
        let is_enough = |sums: &&GapSums| evidence.samples_in(sums).is_some_and(|samples| samples >= ENOUGH_SAMPLES);
        [self, all].into_iter().find(is_enough)
    }

    /// Returns the fraction of the gaps that the CPU time of their samples takes.
    fn used(&self, evidence: &CpuEvidence) -> f64 {
        self.sampled_ns as f64 / (self.ticks as f64 * evidence.tick_ns)
    }

    /// Returns whether the thread computes in the gaps, if their samples are clear.
    ///
    /// A thread that did not run, but did not give up its core either, was preempted while it computed. Only one that
    /// hardly runs at all, however long it is watched, yields its core to others while it waits (sched_yield): a thread that computes has its share of a core.
    fn is_computing_by_samples(&self, evidence: &CpuEvidence) -> Option<bool> {
        let used = self.used(evidence);
        let would_be_seen = evidence.samples_in(self).is_some_and(|samples| ASLEEP * samples >= ENOUGH_SAMPLES);
        let yields = would_be_seen && used <= YIELDING;
        if !evidence.has_given_up_core(self) && !yields {
            return Some(true);
        }
        verdict(used <= ASLEEP, used > COMPUTING)
    }
}

/// Returns whether a thread computes, if one of both is certain.
fn verdict(is_idle: bool, is_busy: bool) -> Option<bool> {
    if is_idle { Some(false) } else { is_busy.then_some(true) }
}

impl CpuEvidence {
    /// Returns whether the thread may have given up its core in most of the gaps.
    fn has_given_up_core(&self, gaps: &GapSums) -> bool {
        self.voluntary_switches.is_none_or(|switches| switches >= gaps.gaps / 2)
    }

    /// Returns the samples that gaps would have if the thread computed in them; `None` where it was not sampled.
    fn samples_in(&self, gaps: &GapSums) -> Option<f64> {
        Some(gaps.ticks as f64 * self.tick_ns / self.period_ns? as f64)
    }
}

/// A sample of a thread's CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuSample {
    /// When it was taken.
    pub ticks: u64,
    /// The CPU time that it stands for, in nanoseconds.
    pub weight_ns: u64,
}

/// Most call sites that a program may poll in turn and still wait in one loop.
const MOST_IN_TURN: usize = 32;

/// Which gaps a survey counts.
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
        !self.polled.is_empty() || self.spin.has_calls()
    }

    /// Adds a record that may poll, or that follows polls, of which the last ended at `previous_end`. Returns the place of the long gap before it, if there is
    /// one.
    pub(crate) fn add_record(&mut self, record: &Record, previous_end: u64, place: CallPlace) -> Option<GapPlace> {
        // What a spin waits for is there when it ends, unless each of its calls is for other data.
        let was_spin = self.spin.is_spinning() && !self.spin.has_data();
        self.spin.add(record);
        let spins = self.spin.is_spinning();
        let answer = if spins { Answer::Nothing } else { Answer::of(record) };
        let asks = spins || Operation::polls(record.operation) || answer == Answer::Neutral;
        let gap = record.begin.saturating_sub(previous_end);
        let is_long = gap >= self.lengths.shortest;
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
            next: place.site_key(record),
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
            Answer::Nothing => {
                self.polled.retain(|&site| site != place.call_site);
                if self.polled.len() == MOST_IN_TURN {
                    self.polled.remove(0);
                }
                self.polled.push(place.call_site);
            }
            Answer::Neutral => {}
            Answer::Something => {
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
#[path = "gap_use_tests.rs"]
mod tests;
