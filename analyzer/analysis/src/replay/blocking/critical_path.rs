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

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{ThreadHistory, ThreadState, ThreadStates};
use crate::model::region_state::{Ns, RegionState};
use crate::model::replay_results::CriticalPathEntry;

/// Nanoseconds on a path, by thread and kind.
type PathSums = FxHashMap<(u32, RegionState), f64>;

/// Paths that are kept for others to join.
const MOST_TRAILS: usize = 4;

/// Changes to another thread that are kept of each.
const MOST_JOINTS: usize = 1 << 10;

/// A path that others may join: those to the same time mostly have all but their last part in common.
#[derive(Default)]
struct PathTrail {
    sums: PathSums,
    /// The thread with which it begins.
    origin: u32,
    /// The amounts added to the sums, if noted.
    parts: Vec<((u32, RegionState), f64)>,
    /// With which thread it goes on, and when, after how many of the parts.
    joints: Vec<((u32, Ns), usize)>,
}

impl PathTrail {
    /// Notes a part, while there are not too many joints.
    #[inline]
    fn pass(&mut self, key: (u32, RegionState), ns: f64) {
        if self.joints.len() < MOST_JOINTS {
            self.parts.push((key, ns));
        }
    }

    /// Notes where it goes on.
    #[inline]
    fn change(&mut self, joint: (u32, Ns)) {
        if self.joints.len() < MOST_JOINTS {
            self.joints.push((joint, self.parts.len()));
        }
    }

    /// Adds to sums what comes after the first `n` parts. All are whole nanoseconds, so nothing is left of what is added and taken away.
    fn add_rest(&self, n: usize, sums: &mut PathSums) {
        for (&key, &ns) in self.sums.iter() {
            *sums.entry(key).or_default() += ns;
        }
        for &(key, ns) in self.parts[..n].iter() {
            *sums.entry(key).or_default() -= ns;
        }
    }
}

/// Buffers for the sums of paths; but for the trails it is empty between them.
#[derive(Default)]
struct PathBuffers {
    /// Nanoseconds by number of what is done, and what of it is on the path.
    spent: Vec<f64>,
    on_path: Vec<ThreadState>,
    /// Progress backwards in the history of each thread, and the threads that have any.
    reach: Vec<usize>,
    visited: Vec<u32>,
    trails: Vec<PathTrail>,
    /// Points where trails continue: which, and after how many of its parts.
    joints: FxHashMap<(u32, Ns), (usize, usize)>,
}

/// The paths to the begin of all histories.
#[derive(Debug, Default)]
pub struct CriticalPathFinder {
    /// Begin of the paths.
    from: Ns,
    /// By thread; a thread that is not here has none.
    until_begin: Vec<Arc<PathSums>>,
    /// By thread, as far as paths were summed up: the thread with which its path begins.
    origins: Vec<u32>,
}

impl CriticalPathFinder {
    /// No paths yet; all begin at `from`.
    pub fn new(from: Ns) -> Self {
        CriticalPathFinder { from, ..CriticalPathFinder::default() }
    }

    /// The path to what a thread does at a time, in no order, each thread and kind once; and the thread with which it begins.
    pub fn to(
        &self,
        states: &ThreadStates,
        histories: &[ThreadHistory],
        thread: u32,
        time: Ns,
    ) -> (Vec<CriticalPathEntry>, u32) {
        let (sums, origin) = self.sums(&mut PathBuffers::default(), states, histories, (thread, time));
        let parts = sums.into_iter().map(|((thread, kind), ns)| CriticalPathEntry { thread, kind, ns });
        let mut parts: Vec<CriticalPathEntry> = parts.filter(|part| part.ns > 0.0).collect();
        parts.sort_by_key(|part| (part.thread, part.kind));
        (parts, origin)
    }

    /// Sums up the paths to `time`, so that what is before it can be forgotten.
    pub fn sum_up(&mut self, states: &ThreadStates, histories: &[ThreadHistory], time: Ns) {
        let mut room = PathBuffers::default();
        let threads = 0..histories.len() as u32;
        let (sums, origins) = threads.map(|thread| self.sums(&mut room, states, histories, (thread, time))).unzip();
        let sums: Vec<PathSums> = sums;
        (self.until_begin, self.origins) = (sums.into_iter().map(Arc::new).collect(), origins);
    }

    fn sums(
        &self,
        room: &mut PathBuffers,
        states: &ThreadStates,
        histories: &[ThreadHistory],
        to: (u32, Ns),
    ) -> (PathSums, u32) {
        let mut sums = PathSums::default();
        room.spent.resize(states.entries().len(), 0.0);
        room.reach.resize(histories.len(), usize::MAX);
        let (mut thread, mut time) = to;
        let mut origin = None;
        let mut trail = (room.trails.len() < MOST_TRAILS).then(PathTrail::default);
        // A wait in a collective ends when the last one enters, so the path may change over without going back in time; damaged clocks
        // may let threads wait for each other in a circle.
        let mut changes_at_once = 0;
        'thread: while let Some(history) = histories.get(thread as usize) {
            let reach = &mut room.reach[thread as usize];
            if *reach == usize::MAX {
                room.visited.push(thread);
            }
            *reach = history.count_through(*reach, time);
            for past in history.first_intervals(*reach, self.from, time) {
                let by = past.wait.and_then(|(by, _)| by).filter(|by| by.thread != thread && by.at <= past.end);
                match by {
                    Some(by)
                        if (by.at >= past.begin || past.end - past.begin == past.whole)
                            && (by.at < time || changes_at_once < histories.len()) =>
                    {
                        let begin = histories.get(by.thread as usize).map_or(Ns::MIN, ThreadHistory::begin);
                        let at = by.at.max(begin).max(self.from).min(past.end);
                        // From the send to the end of the wait the message was in transit.
                        if at < past.end {
                            let key = (by.thread, RegionState::delay(states.get(past.state).1.region()));
                            *sums.entry(key).or_default() += (past.end - at) as f64;
                            for trail in trail.iter_mut() {
                                trail.pass(key, (past.end - at) as f64);
                            }
                        }
                        if let Some(&(joined, n)) = room.joints.get(&(by.thread, at)) {
                            room.trails[joined].add_rest(n, &mut sums);
                            origin = Some(room.trails[joined].origin);
                            trail = None;
                            break 'thread;
                        }
                        for trail in trail.iter_mut() {
                            trail.change((by.thread, at));
                        }
                        changes_at_once = if at < time { 0 } else { changes_at_once + 1 };
                        (thread, time) = (by.thread, at);
                        continue 'thread;
                    }
                    _ => {
                        let (spent, ns) = (&mut room.spent[past.state.index()], (past.end - past.begin) as f64);
                        if *spent == 0.0 {
                            room.on_path.push(past.state);
                        }
                        *spent += ns;
                        for trail in trail.iter_mut() {
                            trail.pass(states.get(past.state), ns);
                        }
                    }
                }
            }
            if let Some(before) = self.until_begin.get(thread as usize) {
                for (&key, &ns) in before.iter() {
                    *sums.entry(key).or_default() += ns;
                }
                origin = self.origins.get(thread as usize).copied();
            }
            break;
        }
        for state in room.on_path.drain(..) {
            *sums.entry(states.get(state)).or_default() += std::mem::take(&mut room.spent[state.index()]);
        }
        for thread in room.visited.drain(..) {
            room.reach[thread as usize] = usize::MAX;
        }
        let origin = origin.unwrap_or(thread);
        if let Some(trail) = trail {
            let joints = trail.joints.iter().map(|&(joint, n)| (joint, (room.trails.len(), n)));
            room.joints.extend(joints);
            room.trails.push(PathTrail { sums: sums.clone(), origin, ..trail });
        }
        (sums, origin)
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
    fn a_wait_at_a_barrier_leads_to_the_last_that_entered() {
        // 0 |= 3 =|... barrier ...|= 2 =|
        // 1 |====== 10 ======|b|
        let barrier = RegionState::new(0, Activity::Synchronization);
        let mut states = ThreadStates::default();
        let mut first = ThreadHistory::new(0);
        first.spend(3, states.intern(0, computation(1)));
        first.wait(10, states.intern(0, barrier));
        first.explain(Some(EndedBy { thread: 1, at: 10 }), &[]);
        first.spend(12, states.intern(0, computation(2)));
        let mut last = ThreadHistory::new(0);
        last.spend(10, states.intern(1, computation(1)));
        let (path, origin) = CriticalPathFinder::default().to(&states, &[first, last], 0, 12);
        assert_eq!(origin, 1);
        let found: Vec<_> = path.iter().map(|part| (part.thread, part.kind, part.ns)).collect();
        assert_eq!(found, [(0, computation(2), 2.0), (1, computation(1), 10.0)]);
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
        assert_eq!(path.iter().map(|part| part.ns).sum::<f64>(), 5.0);
    }

    #[test]
    fn paths_that_join_others_are_as_long_and_of_the_same_parts_as_alone() {
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
            for (thread, joined) in (0..).zip(&together.until_begin) {
                let (alone, origin) = CriticalPathFinder::default().to(&states, &histories, thread, time);
                assert_eq!(together.origins[thread as usize], origin, "{thread} at {time}");
                let joined: PathSums =
                    joined.iter().filter(|&(_, &ns)| ns != 0.0).map(|(&key, &ns)| (key, ns)).collect();
                assert_eq!(
                    joined,
                    alone.iter().map(|part| ((part.thread, part.kind), part.ns)).collect::<PathSums>(),
                    "{thread} at {time}"
                );
                assert_eq!(alone.iter().map(|part| part.ns).sum::<f64>(), time as f64, "{thread} at {time}");
                assert!(alone.len() > 4, "it leads over several ranks");
            }
        }
    }
}
