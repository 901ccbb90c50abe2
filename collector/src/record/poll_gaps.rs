//! Long gaps between a thread's unsuccessful polls: how the thread spends them, and where they lie in a profile.
//!
//! ```text
//!   waits      |Test|... usleep ...|Test|... usleep ...|Test ok|    hardly any CPU time, and a poll succeeds in the end
//!   computes   |Test|=============|Test|==============|Test ok|     CPU time
//!   unclear    |Test|... usleep ...|Test|... usleep ...|Wait|       it sleeps, perhaps in place of work: no poll succeeds
//! ```
//!
//! A single gap is often shorter than the time between two samples, so all long gaps of a thread are judged together. [`crate::polling`] finds them, and takes
//! the verdict into account.
//!
//! A recorder that folds records into a profile does not know the verdict yet. It counts the gaps as computation and writes where they lie, and the reader puts
//! their time into the calls after them if they are waiting ([`crate::profile::ThreadProfile::settle_gaps`]).

use std::collections::BTreeMap;

use bincode::{Decode, Encode};
use serde::Serialize;

/// The use of a thread's long gaps between unsuccessful polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapUse {
    /// The thread sleeps until a poll succeeds, so it waits.
    Asleep,
    /// The thread uses its core.
    Computing,
    /// The thread sleeps, and no poll succeeds.
    Unclear,
}

/// The uses of the long gaps of a rank's threads, as far as they are known, by thread.
pub type GapUses = BTreeMap<u32, GapUse>;

/// A sample of a thread's CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuSample {
    /// Time of the sample.
    pub ticks: u64,
    /// The CPU time that it stands for, in nanoseconds.
    pub weight_ns: u64,
}

/// Sums over a thread's long gaps between unsuccessful polls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode, Serialize)]
pub struct GapSums {
    /// Their ticks.
    pub ticks: u64,
    /// The CPU time that samples in them stand for, in nanoseconds.
    pub sampled_ns: u64,
    /// The ticks of those gaps after which, in the end, a poll succeeded, unless polls went on without an active request.
    pub succeeded: u64,
}

/// Evidence on a thread's CPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuEvidence {
    /// Nanoseconds of a tick.
    pub tick_ns: f64,
    /// CPU time between two of the thread's samples, in nanoseconds; `None` where it was not sampled.
    pub period_ns: Option<u64>,
    /// The thread's CPU time in the whole run, in nanoseconds.
    pub cpu_ns: Option<u64>,
}

/// Expected samples of a computing thread from which on their absence proves something: by chance there are none in one case of 3,000.
const ENOUGH_SAMPLES: f64 = 8.0;
/// Fraction of the gaps up to which CPU time is spent in going to sleep and polling. A thread that computes has this fraction of a core even if three
/// others want it.
const ASLEEP: f64 = 0.25;
/// Fraction of the gaps from which on their success makes them waiting: polls between parts of work succeed now and then, polls of a wait in the end.
const SUCCEEDED: f64 = 0.75;

impl GapSums {
    /// Adds the sums of other gaps.
    pub fn add(&mut self, other: &GapSums) {
        self.ticks = self.ticks.saturating_add(other.ticks);
        self.sampled_ns = self.sampled_ns.saturating_add(other.sampled_ns);
        self.succeeded = self.succeeded.saturating_add(other.succeeded);
    }

    /// Judges how the thread spends the gaps; `None` if too little is known of its CPU time: neither do the gaps last long enough for samples, nor is the
    /// CPU time of the whole run less than a thread needs to compute in them.
    pub fn judge(&self, evidence: &CpuEvidence) -> Option<GapUse> {
        let gaps_ns = self.ticks as f64 * evidence.tick_ns;
        let is_sampled = evidence.period_ns.is_some_and(|period_ns| gaps_ns >= ENOUGH_SAMPLES * period_ns as f64);
        let cpu_ns = if is_sampled { self.sampled_ns } else { evidence.cpu_ns? };
        let is_asleep = cpu_ns as f64 <= ASLEEP * gaps_ns;
        let has_succeeded = self.succeeded as f64 >= SUCCEEDED * self.ticks as f64;
        match (is_asleep, has_succeeded) {
            (true, true) => Some(GapUse::Asleep),
            (true, false) => Some(GapUse::Unclear),
            (false, _) => is_sampled.then_some(GapUse::Computing),
        }
    }
}

/// The ticks of long gaps before calls of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Encode, Decode, Serialize)]
pub struct PlacedGaps {
    /// Id of the calls' region.
    pub region: u32,
    /// Iteration of the innermost enclosing iterated region, or [`NONE`](crate::record::NONE).
    pub iteration: u32,
    /// Id of the call site, or [`NONE`](crate::record::NONE).
    pub call_site: u32,
    /// Number of the operation.
    pub operation: u16,
    /// Number of the activity.
    pub activity: u8,
    /// Their ticks.
    pub ticks: u64,
}

/// The long gaps between polls in a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode, Serialize)]
pub struct ProfileGaps {
    /// Number of the thread.
    pub thread: u32,
    /// Sequence number of the first record in the profile.
    pub first: u64,
    /// Their sums. A success may lie in a later profile than the gaps.
    pub sums: GapSums,
    /// The places where they lie.
    pub places: Vec<PlacedGaps>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    /// Ticks are nanoseconds, and there is a sample every 5 ms.
    const SAMPLED: CpuEvidence = CpuEvidence { tick_ns: 1.0, period_ns: Some(5 * MS), cpu_ns: None };

    fn judged(sampled_ms: u64, succeeded_ms: u64, evidence: &CpuEvidence) -> Option<GapUse> {
        let sums = GapSums { ticks: 100 * MS, sampled_ns: sampled_ms * MS, succeeded: succeeded_ms * MS };
        sums.judge(evidence)
    }

    #[test]
    fn sleep_until_a_poll_succeeds_is_waiting_and_cpu_time_is_computation() {
        assert_eq!(judged(0, 100, &SAMPLED), Some(GapUse::Asleep));
        assert_eq!(judged(25, 80, &SAMPLED), Some(GapUse::Asleep), "sleeping costs CPU time, too");
        assert_eq!(judged(30, 100, &SAMPLED), Some(GapUse::Computing));
        assert_eq!(judged(0, 70, &SAMPLED), Some(GapUse::Unclear), "it may sleep in place of work");
    }

    #[test]
    fn without_enough_samples_the_cpu_time_of_the_run_decides_where_it_can() {
        let rare = CpuEvidence { period_ns: Some(20 * MS), ..SAMPLED };
        assert_eq!(judged(0, 100, &rare), None);
        let of = |cpu_ms: u64| CpuEvidence { cpu_ns: Some(cpu_ms * MS), ..rare };
        assert_eq!(judged(0, 100, &of(20)), Some(GapUse::Asleep));
        assert_eq!(judged(0, 0, &of(20)), Some(GapUse::Unclear));
        assert_eq!(judged(0, 100, &of(300)), None, "it may have computed elsewhere");
    }
}
