//! The needs of a call, and the wait that is found from them: the output of matching, and the input of the sinks.

use lbprof_collector::Operation;
use lbprof_collector::semantics::CompletionEffect;

use super::blocking::EndedBy;
use super::timeline::TimelineStep;
use super::what_if::NotedClocks;
use crate::model::code::region_state::{Ns, RegionState};
use crate::model::ranks::interval::TimeInterval;
use crate::model::replayed::waits::WaitState;

/// A dependency of a call's completion on another thread.
#[derive(Clone, Copy, Debug)]
pub struct CallNeed {
    pub by: EndedBy,
    pub clocks: NeedClock,
    pub bytes: u64,
    /// Steps of the network on its way.
    pub hops: u32,
    pub state: WaitState,
    /// The delay of the message after it.
    pub delay: Option<RegionState>,
    /// True if the call cannot have ended before: clocks that say so are wrong.
    pub certain: bool,
    /// True if the call waits for it where it is not satisfied yet; false if the call only tests.
    pub waits: bool,
}

impl CallNeed {
    /// Returns the need of an event on another thread, without a message, that the call waits for.
    pub fn new(thread: u32, at: Ns, clocks: NeedClock, state: WaitState) -> CallNeed {
        CallNeed {
            by: EndedBy { thread, at },
            clocks,
            bytes: 0,
            hops: 1,
            state,
            delay: None,
            certain: false,
            waits: true,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub enum NeedClock {
    Noted(NotedClocks),
    /// Clocks of a thread when it returned to MPI, in a slot of [`crate::replay::thread::ThreadPresence::Back`].
    Back(u32, u8),
}

#[derive(Clone, Copy, Debug)]
pub struct EndedCall<'a> {
    pub thread: u32,
    pub step: &'a TimelineStep,
    /// Begin and end, by corrected clocks.
    pub time: TimeInterval,
    pub needs: &'a [CallNeed],
    /// The wait, or `None` if the call did not wait.
    pub wait: Option<CallWait<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub struct CallWait<'a> {
    /// End of the wait: the end of the call if it waited for a message, else the event that satisfied the need.
    pub until: Ns,
    /// The need whose satisfaction ended the wait: the last, or the first for calls that complete some of their requests.
    pub last: &'a CallNeed,
    /// True if that need alone ended the call, as for calls that complete some of their requests.
    first_suffices: bool,
}

impl<'a> EndedCall<'a> {
    #[inline]
    pub fn new(thread: u32, step: &'a TimelineStep, time: TimeInterval, needs: &'a [CallNeed]) -> Self {
        let call = EndedCall { thread, step, time, needs, wait: None };
        EndedCall { wait: call.find_wait(), ..call }
    }

    /// Returns the time at which all needs were satisfied, at the earliest the begin of the call.
    #[inline]
    pub fn done_at(&self) -> Ns {
        let TimeInterval { begin, end } = self.time;
        self.needs.iter().map(|need| need.by.at).max().unwrap_or(begin).clamp(begin, end)
    }

    #[inline]
    pub fn waited_for(&self) -> impl Iterator<Item = &'a CallNeed> + Clone {
        let first = self.wait.filter(|wait| wait.first_suffices).map(|wait| wait.last);
        self.waits().filter(move |need| first.is_none_or(|last| std::ptr::eq(*need, last)))
    }

    #[inline]
    fn waits(&self) -> impl Iterator<Item = &'a CallNeed> + Clone {
        let (begin, thread) = (self.time.begin, self.thread);
        self.needs.iter().filter(move |need| need.waits && need.by.at > begin && need.by.thread != thread)
    }

    #[inline]
    fn find_wait(&self) -> Option<CallWait<'a>> {
        let first_suffices = Operation::completes(self.step.operation) == CompletionEffect::Some;
        if first_suffices && self.needs.iter().any(|need| need.by.at <= self.time.begin) {
            // One of the completed requests was complete already.
            return None;
        }
        let waits = self.waits();
        let last =
            if first_suffices { waits.min_by_key(|need| need.by.at)? } else { waits.max_by_key(|need| need.by.at)? };
        let until = if last.delay.is_some() { self.time.end } else { last.by.at.min(self.time.end) };
        Some(CallWait { until, last, first_suffices })
    }
}
