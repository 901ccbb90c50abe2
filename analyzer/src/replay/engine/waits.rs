//! How long a call waited for what it needed, and what the wait is caused by.

use lbprof_collector::Operation;
use lbprof_collector::record::NONE;
use lbprof_collector::semantics::Completes;

use super::Engine;
use super::needs::{At, Need};
use crate::model::kind::Ns;
use crate::model::waits::{WaitKey, WaitSums};
use crate::replay::blocking::{DelaySource, Wait};
use crate::replay::timeline::Step;

impl Engine<'_, '_> {
    /// Sums up how long the call waited, for whom and why, and how long it did not.
    pub(super) fn waits(&mut self, thread: u32, step: &Step, (begin, end): (Ns, Ns)) {
        let last = self.needs.iter().map(|need| need.by.at).max().unwrap_or(begin).clamp(begin, end);
        if let Some(begin) = self.clocks.begin_call(thread, (begin, end)) {
            for need in &self.needs {
                match need.clocks {
                    At::Noted(noted) => self.clocks.wait_for(thread, noted, need.bytes, need.hops),
                    At::Back(other, slot) => self.clocks.wait_for_return(thread, (other, slot), need.bytes),
                }
            }
            self.clocks.communicate(thread, end - last.max(begin));
            self.clocks.end_call(thread, (begin, end));
        }
        let waited = self.waited(thread, step, (begin, end));
        if let Some((until, need)) = waited {
            self.blame(thread, step, (begin, until, end), need);
        }
        self.explaining.batch.spend(thread, step.kind, end);
        self.tell_call(thread, step, (begin, end), waited);
    }

    /// Until when the call waited, and for whom last; keeps those needs that it waited for. `None`: it did not wait.
    fn waited(&mut self, thread: u32, step: &Step, (begin, end): (Ns, Ns)) -> Option<(Ns, Need)> {
        // One that polls and has waited, too; one that has not waited needs nothing that counts as waited for.
        let some = Operation::completes(step.operation) == Completes::Some;
        if some && (self.needs.len() < usize::from(step.events) || self.needs.iter().any(|need| need.by.at <= begin)) {
            // One of those that it completed was there already.
            return None;
        }
        self.needs.retain(|need| need.waits && need.by.at > begin && need.by.thread != thread);
        let need = match some {
            true => *self.needs.iter().min_by_key(|need| need.by.at)?,
            false => *self.needs.iter().max_by_key(|need| need.by.at)?,
        };
        if some {
            self.needs.retain(|one| one.by == need.by);
            self.needs.truncate(1);
        }
        Some((if need.delay.is_some() { end } else { need.by.at.min(end) }, need))
    }

    /// Tells of a wait from `begin` to `until`, of a call that ends at `end`, that `need` ended last.
    fn blame(&mut self, thread: u32, step: &Step, (begin, until, end): (Ns, Ns, Ns), need: Need) {
        let world = self.threads[thread as usize].world;
        let all: f64 = self.needs.iter().map(|need| (need.by.at.min(end) - begin) as f64).sum();
        let (threads, synchronised) = (&self.threads, &self.synchronised);
        let sources = self.needs.iter().map(|one| {
            let other = threads.get(one.by.thread as usize).map_or(NONE, |other| other.world);
            DelaySource {
                by: one.by,
                since: synchronised.last((thread, world), (one.by.thread, other), one.by.at).min(begin),
                share: (one.by.at.min(end) - begin) as f64 / all,
                // Messages of the others may have come long before.
                delay: one.delay.filter(|_| one.by.at == need.by.at),
            }
        });
        let key = WaitKey { thread, kind: step.kind, site: step.site, operation: step.operation, state: need.state };
        let waiting = need.by.at.min(until) - begin;
        let sums = WaitSums { count: 1, waiting, delay: until - begin - waiting };
        let counted = self.counted(&key, (begin, begin + waiting, until));
        self.explaining.batch.wait(Wait { key, begin, sums, counted, by: need.by }, sources);
    }
}
