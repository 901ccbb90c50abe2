//! Determines the use of the long gaps between a thread's unsuccessful polls: asleep or computing.
//!
//! ```text
//!   waits      |Test|... usleep ...|Test|... usleep ...|Test ok|    no samples; the poll that failed succeeds in the end
//!   computes   |Test|x====x====x===|Test|==x====x====x=|Test ok|    samples of its CPU time
//!   unclear    |Test|... usleep ...|Test|... usleep ...|Wait|       it sleeps, but the polls are for something else
//!   unclear    |Test|... usleep ...|Test ok|... usleep ...|Test|    the polls go on without an active request
//!   has no core  |sync|sync|sync|........|sync|sync|sync|........|  no samples in a spin on a window, and the thread does not give up its core
//!   computes     |sync|sync|sync|x====x==|sync|sync|sync|x====x==|  samples: what the spin waited for has come
//! ```
//!
//! A single gap is often shorter than the time between two samples, so gaps are judged together that follow a poll from the same call site, or all of
//! a thread.
//! [`crate::gap_survey`] goes over a thread's records and samples, [`GapSums::judge`] gives the verdict, which [`crate::polling`] uses.

use std::collections::{BTreeMap, HashMap};

use bincode::{Decode, Encode};

/// The use of the long gaps after unsuccessful polls from a call site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapUse {
    /// The thread sleeps until a poll from there succeeds, so it waits.
    Asleep,
    /// The thread loses its core to others in the midst of a spin, so it waits.
    Preempted,
    /// The thread uses its core, or would if it had one.
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
    /// True if so many calls of a spin lie before the gap that not each of its rounds has one.
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
            let alike = by_site.iter().filter(|(site, _)| site.after_spin == after_spin);
            let mut all = GapSums::default();
            for (_, sums) in alike.clone() {
                all.add(sums);
            }
            for (site, sums) in alike {
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

    /// True if no gap's use is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Sums over the long gaps after unsuccessful polls from one call site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct GapSums {
    /// Number of gaps.
    pub gaps: u64,
    /// Their ticks.
    pub ticks: u64,
    /// The CPU time that samples in them stand for, in nanoseconds.
    pub sampled_ns: u64,
    /// The ticks of those gaps after which, in the end, a poll from the same call site succeeded, unless the polls went on without an active request.
    pub succeeded: u64,
}

/// Evidence on a thread's CPU time.
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
/// Minimum fraction for a thread that yields its core to others that want it.
const YIELDING: f64 = 0.02;
/// Fraction of the gaps up to which the CPU time of the whole run, most of which lies elsewhere, allows the thread to be asleep in them.
const MOST_CPU_OF_RUN: f64 = 0.25;
/// Fraction of the gaps from which on CPU time makes them computation.
const COMPUTING: f64 = 0.5;
/// Fraction of the gaps from which on their success makes them waiting: polls between parts of work succeed now and then, those of a wait in the end.
const SUCCEEDED: f64 = 0.75;
/// The CPU time that a sleep takes at most: two calls of the system, two switches of the core and a timer.
const SLEEP_COST_NS: f64 = 20_000.0;

impl GapSums {
    /// Adds the sums of other gaps.
    pub fn add(&mut self, other: &GapSums) {
        self.gaps += other.gaps;
        self.ticks = self.ticks.saturating_add(other.ticks);
        self.sampled_ns = self.sampled_ns.saturating_add(other.sampled_ns);
        self.succeeded = self.succeeded.saturating_add(other.succeeded);
    }

    /// Judges how the thread spends the gaps, which are among those of `all`; `None` if too little is known of its CPU time.
    ///
    /// Samples decide, those in all gaps of the thread where these gaps alone are too short; where there are too few, the CPU time of the whole run.
    /// One that sleeps without a poll that succeeds may sleep for another reason.
    fn judge(&self, all: &GapSums, evidence: &CpuEvidence) -> Option<GapUse> {
        let is_computing = match self.or_if_too_few(all, evidence) {
            Some(sums) => sums.is_computing_by_samples(evidence),
            None => {
                let gaps_ns = all.ticks as f64 * evidence.tick_ns;
                let (cpu_ns, idle_ns) = (evidence.cpu_ns? as f64, evidence.idle_ns? as f64);
                // All sleeps of the run cost something; a thread that computed in the gaps would have had more CPU time than they last.
                let n_sleeps = evidence.voluntary_switches.filter(|&switches| switches >= all.gaps).unwrap_or(0);
                let sleep_ns = (SLEEP_COST_NS * n_sleeps as f64).min(COMPUTING * gaps_ns);
                let is_idle = cpu_ns <= MOST_CPU_OF_RUN * gaps_ns + sleep_ns && evidence.has_given_up_core(all);
                verdict(is_idle, idle_ns <= ASLEEP * gaps_ns)
            }
        };
        let ends_in_success = self.succeeded as f64 >= SUCCEEDED * self.ticks as f64;
        Some(match is_computing {
            Some(true) => GapUse::Computing,
            Some(false) if ends_in_success => GapUse::Asleep,
            _ => GapUse::Unclear,
        })
    }

    /// Judges how the thread spends such gaps in the midst of spins, or after them.
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

    /// Returns these gaps, or `all` if these are too short for samples, or `None` if all together are as well.
    fn or_if_too_few<'a>(&'a self, all: &'a GapSums, evidence: &CpuEvidence) -> Option<&'a GapSums> {
        [self, all].into_iter().find(|sums| evidence.samples_in(sums).is_some_and(|samples| samples >= ENOUGH_SAMPLES))
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
        verdict(used <= ASLEEP + self.cost_of_sleep(evidence), used > COMPUTING)
    }

    /// Returns the fraction of the gaps that the system takes to put the thread to sleep and wake it, if it sleeps in each; less than computation has.
    fn cost_of_sleep(&self, evidence: &CpuEvidence) -> f64 {
        let sleeps_in_each = evidence.voluntary_switches.is_some_and(|switches| switches >= self.gaps);
        let cost = SLEEP_COST_NS * self.gaps as f64 / (self.ticks as f64 * evidence.tick_ns);
        if sleeps_in_each { cost.min(COMPUTING - ASLEEP) } else { 0.0 }
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
