//! The recent history of each thread, as far back as causes of blocking and the critical path need it.
//!
//! A thread's history is a list of intervals without gaps, each of one kind. A waiting interval also has the thread that ended the wait, and
//! the causes. Old intervals are dropped when there are too many.

use std::cell::Cell;

use super::states::ThreadState;
use crate::model::code::region_state::Ns;

const NO_WAIT: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct StoredInterval {
    end: Ns,
    state: ThreadState,
    /// Number of its wait, counted from the first of the thread and wrapping; [`NO_WAIT`]: it did not wait.
    wait: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedBy {
    pub thread: u32,
    /// Time of its send, receive or entry.
    pub at: Ns,
}

/// Time of a thread in one state: on a path, or as the cause of a wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StateDuration {
    pub state: ThreadState,
    pub ns: f64,
    /// Nanoseconds in that state that were no cause of the wait, because the waiting thread computed as long.
    pub equal_ns: f32,
}

impl StateDuration {
    pub fn new(state: ThreadState, ns: f64) -> Self {
        StateDuration { state, ns, equal_ns: 0.0 }
    }
}

#[derive(Clone, Copy, Debug)]
struct PastWait {
    by: Option<EndedBy>,
    /// Number of its first cause, counted from the first of the thread and wrapping, and how many there are.
    first: u32,
    n: u32,
}

/// A thread's history. Old intervals are dropped by halves, so that lists suffice.
#[derive(Debug, Default)]
pub struct ThreadHistory {
    begin: Ns,
    intervals: Vec<StoredInterval>,
    waits: Vec<PastWait>,
    /// Number of the first of `waits`.
    waits_from: u32,
    /// Number of explained waits: the first of `waits`.
    explained: usize,
    causes: Vec<StateDuration>,
    causes_from: u32,
    /// Number of intervals that had ended before the last requested time: the next one mostly is near.
    near: Cell<usize>,
}

#[derive(Clone, Copy, Debug)]
pub struct PastInterval<'a> {
    /// From when; not before the time asked for.
    pub begin: Ns,
    /// Until when; not after the time asked for.
    pub end: Ns,
    pub state: ThreadState,
    /// Cause of the wait, if it waited: who ended that, and its causes, for the whole of the wait.
    pub wait: Option<(Option<EndedBy>, &'a [StateDuration])>,
    pub whole: Ns,
}

impl ThreadHistory {
    pub fn new(begin: Ns) -> Self {
        ThreadHistory { begin, ..ThreadHistory::default() }
    }

    pub fn begin(&self) -> Ns {
        self.begin
    }

    pub fn end(&self) -> Ns {
        self.intervals.last().map_or(self.begin, |last| last.end)
    }

    pub fn size(&self) -> usize {
        self.intervals.len() + self.causes.len()
    }

    #[inline]
    pub fn spend(&mut self, end: Ns, state: ThreadState) {
        match self.intervals.last_mut() {
            Some(last) if end <= last.end => {}
            Some(last) if last.state == state && last.wait == NO_WAIT => last.end = end,
            None if end <= self.begin => {}
            _ => self.intervals.push(StoredInterval { end, state, wait: NO_WAIT }),
        }
    }

    pub fn wait(&mut self, end: Ns, state: ThreadState) {
        let end = end.max(self.end());
        let wait = self.waits_from.wrapping_add(self.waits.len() as u32);
        self.waits.push(PastWait { by: None, first: self.causes_from, n: 0 });
        self.intervals.push(StoredInterval { end, state, wait });
    }

    /// Explains the first unexplained wait by the thread that ended it, and its causes.
    pub fn explain(&mut self, by: Option<EndedBy>, causes: &[StateDuration]) {
        let first = self.causes_from.wrapping_add(self.causes.len() as u32);
        if let Some(waited) = self.waits.get_mut(self.explained) {
            *waited = PastWait { by, first, n: causes.len() as u32 };
            self.causes.extend(causes);
            self.explained += 1;
        }
    }

    /// Returns the intervals from `from` to `to`, the last first.
    #[inline]
    pub fn backwards(&self, from: Ns, to: Ns) -> impl Iterator<Item = PastInterval<'_>> {
        self.first_intervals(self.count_through(usize::MAX, to), from, to)
    }

    /// Returns the number of intervals up to and with the one that reaches `to`, at most `most`.
    #[inline]
    pub fn count_through(&self, most: usize, to: Ns) -> usize {
        let known = self.intervals.get(..most).unwrap_or(&self.intervals);
        (ended_before(known, known.len(), to) + 1).min(known.len())
    }

    /// Returns the intervals from `from` to `to`, the last first. The first `n` intervals reach `to`.
    #[inline]
    pub fn first_intervals(&self, n: usize, from: Ns, to: Ns) -> impl Iterator<Item = PastInterval<'_>> {
        let mut rest = self.intervals.get(..n).unwrap_or(&self.intervals);
        std::iter::from_fn(move || {
            while let Some((interval, before)) = rest.split_last() {
                rest = before;
                let whole_begin = before.last().map_or(self.begin, |before| before.end);
                let (begin, end) = (whole_begin.max(from), interval.end.min(to));
                if end <= from {
                    return None;
                }
                if end > begin {
                    let (wait, whole) = (self.wait_of(interval), interval.end - whole_begin);
                    return Some(PastInterval { begin, end, state: interval.state, wait, whole });
                }
            }
            None
        })
    }

    /// Gives the durations of states from `from` to `to`, the last first. For a wait it gives the states that caused it.
    #[inline]
    pub fn spent(&self, from: Ns, to: Ns, mut spend: impl FnMut(StateDuration)) {
        let ended = ended_before(&self.intervals, self.near.get(), to);
        self.near.set(ended);
        for past in self.first_intervals(ended + 1, from, to) {
            let ns = (past.end - past.begin) as f64;
            match past.wait {
                None => spend(StateDuration::new(past.state, ns)),
                Some((_, causes)) => {
                    let share = ns / past.whole as f64;
                    for part in causes {
                        let equal_ns = part.equal_ns * share as f32;
                        spend(StateDuration { ns: part.ns * share, equal_ns, ..*part });
                    }
                }
            }
        }
    }

    #[inline]
    fn wait_of(&self, interval: &StoredInterval) -> Option<(Option<EndedBy>, &[StateDuration])> {
        if interval.wait == NO_WAIT {
            return None;
        }
        let waited = self.waits.get(interval.wait.wrapping_sub(self.waits_from) as usize)?;
        let first = waited.first.wrapping_sub(self.causes_from) as usize;
        Some((waited.by, self.causes.get(first..first + waited.n as usize)?))
    }

    pub fn forget_before(&mut self, time: Ns) {
        let dropped = self.intervals.partition_point(|interval| interval.end <= time);
        let waits = self.intervals[..dropped].iter().filter(|interval| interval.wait != NO_WAIT).count();
        self.begin = if dropped == 0 { self.begin.max(time.min(self.end())) } else { time.min(self.end()) };
        self.intervals.drain(..dropped);
        let causes: usize = self.waits.drain(..waits).map(|waited| waited.n as usize).sum();
        self.causes.drain(..causes);
        self.explained = self.explained.saturating_sub(waits);
        self.waits_from = self.waits_from.wrapping_add(waits as u32);
        self.causes_from = self.causes_from.wrapping_add(causes as u32);
    }
}

/// Returns the number of `intervals` that ended before a time. Searches from `near`, in strides that double.
#[inline]
fn ended_before(intervals: &[StoredInterval], near: usize, time: Ns) -> usize {
    let (mut from, mut to) = (0, near.min(intervals.len()));
    let mut stride = 4;
    if to.checked_sub(1).is_none_or(|at| intervals[at].end < time) {
        from = to;
        to = intervals.len();
        while let Some(interval) = intervals.get(from + stride) {
            if interval.end >= time {
                to = from + stride;
                break;
            }
            from += stride;
            stride *= 2;
        }
    } else {
        while let Some(at) = to.checked_sub(stride) {
            if intervals[at].end < time {
                from = at;
                break;
            }
            to = at;
            stride *= 2;
        }
    }
    from + intervals[from..to].partition_point(|interval| interval.end < time)
}

#[cfg(test)]
mod tests {
    use lbprof_collector::Activity;

    use super::*;
    use crate::model::code::region_state::RegionState;
    use crate::replay::blocking::states::ThreadStates;

    fn state(region: u32) -> ThreadState {
        let mut states = ThreadStates::default();
        for before in 0..region {
            states.intern(0, RegionState::new(before, Activity::Computation));
        }
        states.intern(0, RegionState::new(region, Activity::Computation))
    }

    fn intervals(history: &ThreadHistory, from: Ns, to: Ns) -> Vec<(Ns, Ns, ThreadState)> {
        history.backwards(from, to).map(|past| (past.begin, past.end, past.state)).collect()
    }

    #[test]
    fn what_is_forgotten_takes_its_causes_along() {
        let mut history = ThreadHistory::new(0);
        let part = |ns| StateDuration::new(state(7), ns);
        history.wait(10, state(0));
        history.explain(None, &[part(4.0), part(6.0)]);
        history.spend(20, state(1));
        history.wait(30, state(0));
        history.explain(Some(EndedBy { thread: 2, at: 30 }), &[part(10.0)]);
        history.forget_before(15);
        assert_eq!(intervals(&history, 0, 100), [(20, 30, state(0)), (15, 20, state(1))]);
        let (by, causes) = history.backwards(0, 30).next().and_then(|past| past.wait).unwrap();
        assert_eq!(by, Some(EndedBy { thread: 2, at: 30 }));
        assert_eq!(causes.iter().map(|part| part.ns).collect::<Vec<_>>(), [10.0]);
    }
}
