//! The critical path: the chain of computation, messages and calls that determined the elapsed time.
//!
//! The path is traced backwards from the end of the last rank. At a wait it continues with the thread that ended the wait, at the time when
//! that thread satisfied the need; the time in between is the message's delay. The parts of the path add up to the elapsed time.
//!
//! ```text
//!   rank 0   |== compute ==|send|= compute =|            from the end back to the wait of rank 1, from there
//!   rank 1   |= c =|... recv wait ..|====== compute ======|  to the send of rank 0, and so on to the begin
//! ```
//!
//! Histories have a limited length. From time to time, the paths up to a time are therefore summed up, one for each thread.

use rustc_hash::FxHashMap;

use super::{ThreadHistory, ThreadState, ThreadStates};
use crate::model::code::region_state::{Ns, RegionState};

/// Nanoseconds on a path, by thread and kind.
type PathSums = FxHashMap<(u32, RegionState), f64>;

/// Buffers for the sums of paths; it is empty between them.
#[derive(Default)]
struct PathBuffers {
    /// Nanoseconds by number of the state, and the states on the path.
    spent: Vec<f64>,
    on_path: Vec<ThreadState>,
    /// Progress backwards in the history of each thread, and the threads that have any.
    reach: Vec<usize>,
    visited: Vec<u32>,
}

#[derive(Debug, Default)]
pub struct CriticalPathFinder {
    from: Ns,
    /// By thread; a thread that is not here has none.
    until_begin: Vec<PathSums>,
    /// By thread, as far as paths were summed up: the thread with which its path begins.
    origins: Vec<u32>,
}

impl CriticalPathFinder {
    pub fn new(from: Ns) -> Self {
        CriticalPathFinder { from, ..CriticalPathFinder::default() }
    }

    /// Returns the path to a thread at a time, and the thread with which the path begins.
    pub fn to(&self, states: &ThreadStates, histories: &[ThreadHistory], thread: u32, time: Ns) -> (PathSums, u32) {
        let (mut sums, origin) = self.sums(&mut PathBuffers::default(), states, histories, (thread, time));
        sums.retain(|_, ns| *ns > 0.0);
        (sums, origin)
    }

    /// Sums up the paths to `time`, so that what is before it can be forgotten.
    pub fn sum_up(&mut self, states: &ThreadStates, histories: &[ThreadHistory], time: Ns) {
        let mut room = PathBuffers::default();
        let threads = 0..histories.len() as u32;
        (self.until_begin, self.origins) =
            threads.map(|thread| self.sums(&mut room, states, histories, (thread, time))).unzip();
    }

    fn sums(
        &self,
        room: &mut PathBuffers,
        states: &ThreadStates,
        histories: &[ThreadHistory],
        to: (u32, Ns),
    ) -> (PathSums, u32) {
        room.spent.resize(states.entries().len(), 0.0);
        room.reach.resize(histories.len(), usize::MAX);
        let mut sums = PathSums::default();
        let (mut thread, mut time) = to;
        let mut origin = None;
        // A wait in a collective ends when the last one enters, so the path may change over without going back in time; damaged clocks
        // may let threads wait for each other in a circle.
        let mut changes_at_once = 0;
        while (thread as usize) < histories.len() {
            let may_stay = changes_at_once < histories.len();
            let Some((by, at)) = self.trace_thread(room, states, histories, (thread, time), may_stay, &mut sums) else {
                if let Some(before) = self.until_begin.get(thread as usize) {
                    for (&key, &ns) in before {
                        *sums.entry(key).or_default() += ns;
                    }
                    origin = self.origins.get(thread as usize).copied();
                }
                break;
            };
            changes_at_once = if at < time { 0 } else { changes_at_once + 1 };
            (thread, time) = (by, at);
        }
        for state in room.on_path.drain(..) {
            *sums.entry(states.get(state)).or_default() += std::mem::take(&mut room.spent[state.index()]);
        }
        for thread in room.visited.drain(..) {
            room.reach[thread as usize] = usize::MAX;
        }
        (sums, origin.unwrap_or(thread))
    }

    /// Follows the path back on one thread from a time on. Returns the thread on which the path continues, and when, or `None` if it continues
    /// on none. `may_stay`: the path may change to another thread at the same time.
    fn trace_thread(
        &self,
        room: &mut PathBuffers,
        states: &ThreadStates,
        histories: &[ThreadHistory],
        from: (u32, Ns),
        may_stay: bool,
        sums: &mut PathSums,
    ) -> Option<(u32, Ns)> {
        let (thread, time) = from;
        let history = &histories[thread as usize];
        let reach = &mut room.reach[thread as usize];
        if *reach == usize::MAX {
            room.visited.push(thread);
        }
        *reach = history.count_through(*reach, time);
        for past in history.first_intervals(*reach, self.from, time) {
            let by = past.wait.and_then(|(by, _)| by).filter(|by| {
                (by.thread != thread && by.at <= past.end)
                    && (by.at >= past.begin || past.end - past.begin == past.whole)
                    && (by.at < time || may_stay)
            });
            if let Some(by) = by {
                let begin = histories.get(by.thread as usize).map_or(Ns::MIN, ThreadHistory::begin);
                let at = by.at.max(begin).max(self.from).min(past.end);
                // From the send to the end of the wait the message was in transit.
                if at < past.end {
                    let key = (by.thread, RegionState::delay(states.get(past.state).1.region()));
                    *sums.entry(key).or_default() += (past.end - at) as f64;
                }
                return Some((by.thread, at));
            }
            let (spent, ns) = (&mut room.spent[past.state.index()], (past.end - past.begin) as f64);
            if *spent == 0.0 {
                room.on_path.push(past.state);
            }
            *spent += ns;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use lbprof_collector::Activity;

    use super::*;
    use crate::replay::blocking::EndedBy;

    fn computation(region: u32) -> RegionState {
        RegionState::new(region, Activity::Computation)
    }

    #[test]
    fn a_circle_of_waits_ends() {
        let kind = RegionState::new(0, Activity::Synchronization);
        let mut states = ThreadStates::default();
        let mut waits_for = |thread: u32| {
            let mut history = ThreadHistory::new(0);
            history.wait(5, states.intern(1 - thread, kind));
            history.explain(Some(EndedBy { thread, at: 5 }), &[]);
            history
        };
        let histories = [waits_for(1), waits_for(0)];
        let (path, _) = CriticalPathFinder::default().to(&states, &histories, 0, 5);
        assert_eq!(path.values().sum::<f64>(), 5.0);
    }

    #[test]
    fn paths_that_are_summed_up_together_are_as_long_and_of_the_same_parts_as_alone() {
        // Four ranks meet again and again, each time another comes last; messages lie between.
        let kinds = [computation(1), computation(2)];
        let barrier = RegionState::new(0, Activity::Synchronization);
        let mut states = ThreadStates::default();
        let mut histories: Vec<ThreadHistory> = (0..4).map(|_| ThreadHistory::new(0)).collect();
        for i in 1..=40 {
            let (end, last) = (Ns::from(i) * 100, i as u32 % 4);
            for (thread, history) in (0..).zip(&mut histories) {
                let behind = Ns::from((thread + 4 - last) % 4);
                history.spend(end - 10 - 7 * behind, states.intern(thread, kinds[i as usize % 2]));
                if thread != last {
                    let delay = Ns::from(thread);
                    history.wait(end - 10 + delay, states.intern(thread, barrier));
                    history.explain(Some(EndedBy { thread: last, at: end - 10 }), &[]);
                }
                history.spend(end, states.intern(thread, barrier));
            }
        }
        for time in [3950, 3991, 4000] {
            let mut together = CriticalPathFinder::default();
            together.sum_up(&states, &histories, time);
            for (thread, summed_up) in (0..).zip(&together.until_begin) {
                let (alone, origin) = CriticalPathFinder::default().to(&states, &histories, thread, time);
                assert_eq!(together.origins[thread as usize], origin, "{thread} at {time}");
                assert_eq!(*summed_up, alone, "{thread} at {time}");
                assert_eq!(alone.values().sum::<f64>(), time as f64, "{thread} at {time}");
                assert!(alone.len() > 4, "it leads over several ranks");
            }
        }
    }
}
