//! The state of a recording thread besides the hot state.

use lbprof_collector::fold::ProfileFold;
use lbprof_collector::format::BatchHead;
use lbprof_collector::poll_gaps::CpuSample;
use lbprof_collector::record::Record;
use lbprof_collector::ring::Ring;
use lbprof_collector::summary::SummarySums;

use crate::machine::system::faults;
use crate::state::phases::OpenPhases;

/// The state of a recording thread besides the hot state.
pub struct ThreadLog {
    pub ring: Ring,
    /// Number of the thread in the log.
    pub number: u32,
    /// Position of the ring's first slot.
    pub head: BatchHead,
    /// Sums of records that are not written as events, or that the summary needs.
    pub fold: Option<ProfileFold>,
    /// Samples of the thread's CPU time that are not folded yet.
    pub cpu_samples: Vec<CpuSample>,
    /// Time at which the sums were last taken from it.
    pub folded_at: u64,
    /// Time at which they were last kept beside the log, and the place that is next.
    pub saved_at: u64,
    pub saves_second: bool,
    /// True if the log has the records in the fold as events: its sums are for the summary alone.
    pub is_fold_logged: bool,
    /// True if records that are written as events are folded, too, for the summary.
    pub sums_events: bool,
    /// The thread's summary so far.
    pub summary: Option<SummarySums>,
    pub phases: OpenPhases,
    /// While recording is paused, or no thread has the ring: the ring's cursor.
    pub paused: Option<*mut Record>,
    /// True if the records so far end within a pause.
    pub in_pause: bool,
    /// True if recording ended, and the log has what the ring held.
    pub closed: bool,
    /// Number of slots before the next check point, and the time at which the last one was passed, in ticks, or `None` if there is none
    /// before the ring is full.
    pub checks: Option<(usize, u64)>,
}

impl Drop for ThreadLog {
    fn drop(&mut self) {
        faults::forget_ring(self.number);
    }
}

impl ThreadLog {
    /// Returns the next check point of a ring that is filled up to `cursor`. Records before it are written without a look at anything else.
    pub fn check_point(&self, cursor: *mut Record) -> *mut Record {
        let limit = self.limit();
        let left = (limit as usize).saturating_sub(cursor as usize) / size_of::<Record>();
        match self.checks {
            Some((slots, _)) if slots < left => cursor.wrapping_add(slots),
            _ => limit,
        }
    }

    /// Passes a check point `now`, which a thread is to do about once in `interval`. The number of calls in that time is not known: the longer it took,
    /// the fewer slots lie before the next one.
    pub fn pass_check(&mut self, now: u64, interval: u64) {
        /// Slots to the next check point at most: passing it costs less than an instruction per call, and it comes soon after a change from many calls
        /// to few.
        const MOST: usize = 128;
        let Some((slots, passed)) = &mut self.checks else { return };
        let took = now.saturating_sub(std::mem::replace(passed, now));
        *slots = match took {
            _ if took < interval / 2 => MOST.min(2 * *slots),
            _ if took > interval => 1.max(*slots / 8),
            _ => *slots,
        };
    }

    /// Returns the end of the slots for calls.
    pub fn limit(&self) -> *mut Record {
        self.ring.slots().wrapping_add(self.ring.capacity() - 1)
    }
}
