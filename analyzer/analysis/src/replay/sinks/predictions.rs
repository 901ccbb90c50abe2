//! The clocks of what-if scenarios as a sink.

use lbprof_collector::Activity;

use super::{EventSink, NewThread};
use crate::model::interval::TimeInterval;
use crate::model::region_state::RegionState;
use crate::replay::ended_call::{CallNeed, EndedCall, NeedClock};
use crate::replay::timeline::ParallelPart;
use crate::replay::what_if::ScenarioClocks;

impl EventSink for ScenarioClocks<'_> {
    fn on_thread_start(&mut self, thread: NewThread, rank_window: TimeInterval) {
        // At a cut all clocks restart at the last entry into the collective.
        let since = thread.goes_on.map_or(0, |goes_on| goes_on.since);
        self.add_thread(thread.rank_idx, thread.begin - since, rank_window);
    }

    #[inline]
    fn on_computation(&mut self, thread: u32, kind: RegionState, time: TimeInterval, parallel: &[ParallelPart]) {
        self.compute(thread, kind, time, parallel);
    }

    #[inline]
    fn on_return_to_mpi(&mut self, thread: u32, slot: u8) {
        self.keep_return(thread, slot);
    }

    #[inline]
    fn on_call(&mut self, call: &EndedCall) {
        let (thread, time) = (call.thread, call.time);
        let Some(begin) = self.begin_call(thread, time) else { return };
        for need in call.needs {
            let &CallNeed { bytes, hops, .. } = need;
            match need.clocks {
                NeedClock::Noted(noted) => self.wait_for(thread, noted, bytes, hops),
                NeedClock::Back(other, slot) => self.wait_for_return(thread, other, slot, bytes),
            }
        }
        let own = time.end - call.done_at().max(begin);
        match call.step.kind.activity() {
            Some(Activity::Recorder) => self.record(thread, own),
            _ => self.communicate(thread, own),
        }
        self.end_call(thread, TimeInterval { begin, ..time });
    }
}
