//! The clocks of what-if scenarios as a sink.

use super::{NewThread, Sink};
use crate::model::interval::Interval;
use crate::model::region_state::RegionState;
use crate::replay::needs::{At, EndedCall, Need};
use crate::replay::timeline::ParallelPart;
use crate::replay::what_if::Clocks;

impl Sink for Clocks<'_> {
    fn begins(&mut self, thread: NewThread, window: Interval) {
        // What it goes on with is all that its clocks show: those of all ranks did the same when the last had entered.
        let since = thread.goes_on.map_or(0, |goes_on| goes_on.since);
        self.add_thread(thread.rank, thread.begin - since, window);
    }

    #[inline]
    fn computes(&mut self, thread: u32, kind: RegionState, time: Interval, parallel: &[ParallelPart]) {
        self.compute(thread, kind, time, parallel);
    }

    #[inline]
    fn comes_back(&mut self, thread: u32, slot: u8) {
        self.keep_return(thread, slot);
    }

    #[inline]
    fn calls(&mut self, call: &EndedCall) {
        let (thread, time) = (call.thread, call.time);
        let Some(begin) = self.begin_call(thread, time) else { return };
        for need in call.needs {
            let &Need { bytes, hops, .. } = need;
            match need.clocks {
                At::Noted(noted) => self.wait_for(thread, noted, bytes, hops),
                At::Back(other, slot) => self.wait_for_return(thread, (other, slot), bytes),
            }
        }
        self.communicate(thread, time.end - call.done_at().max(begin));
        self.end_call(thread, Interval { begin, ..time });
    }
}
