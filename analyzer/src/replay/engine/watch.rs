//! Tells a watcher, where there is one, what threads do.

use lbprof_collector::record::NONE;

use super::Engine;
use super::needs::Need;
use crate::model::followed::ThreadOf;
use crate::model::kind::{Kind, Ns};
use crate::model::waits::WaitState;
use crate::replay::matching::Side;
use crate::replay::timeline::{CommEvent, Step};
use crate::replay::{Message, Stretch, Wait};

impl Engine<'_, '_> {
    /// A thread computed, or was in a call that did not wait.
    #[inline]
    pub(super) fn tell(&mut self, thread: u32, (begin, end): (Ns, Ns), kind: Kind, site: u32) {
        if self.watcher.is_some() {
            self.tell_stretch(thread, (begin, end), kind, site, None);
        }
    }

    /// A call ended that waited so.
    #[inline]
    pub(super) fn tell_call(&mut self, thread: u32, step: &Step, times: (Ns, Ns), waited: Option<(Ns, Need)>) {
        if self.watcher.is_some() {
            let by = |need: &Need| self.threads.get(need.by.thread as usize).map(|other| other.world);
            let wait = waited.map(|(until, need)| Wait { until, state: need.state, by: by(&need) });
            self.tell_stretch(thread, times, step.kind, step.site, wait);
        }
    }

    /// A thread waited outside of its window, for one that was in its own.
    pub(super) fn tell_idle(&mut self, thread: u32, times: (Ns, Ns), kind: Kind, state: WaitState, by: Option<u32>) {
        let by = by.and_then(|by| self.threads.get(by as usize)).map(|other| other.world);
        self.tell_stretch(thread, times, kind, NONE, Some(Wait { until: times.1, state, by }));
    }

    /// A message was received in a call that ended then.
    #[inline]
    pub(super) fn tell_message(&mut self, thread: u32, event: &CommEvent, sent: &Side, end: Ns) {
        if let Some(watcher) = &mut self.watcher {
            let world = |thread: u32| self.threads.get(thread as usize).map_or(NONE, |one| one.world);
            let (from, to) = (world(sent.thread), world(thread));
            let message = Message { from, to, sent: sent.at, received: end, bytes: sent.bytes, tag: event.tag };
            watcher.receives(&message);
        }
    }

    fn tell_stretch(&mut self, thread: u32, (begin, end): (Ns, Ns), kind: Kind, site: u32, wait: Option<Wait>) {
        if let Some(watcher) = &mut self.watcher
            && let Some(one) = self.threads.get(thread as usize)
        {
            let thread = ThreadOf { rank: one.rank, number: one.number };
            watcher.spends(&Stretch { thread, begin, end, kind, site, wait });
        }
    }
}
