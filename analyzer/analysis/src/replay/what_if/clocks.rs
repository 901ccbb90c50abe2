//! The clocks of all threads in several what-if scenarios at once.
//!
//! A scenario replays the recorded steps in the recorded order, but with other durations. Each thread has one clock for each scenario, in
//! nanoseconds from the begin of the run. Events that other threads will wait for note the clocks of their thread.
//!
//! Predictions are made for the window of the scope. Before the window everything is as measured: the clocks show the time until the window
//! begins, which may differ between ranks. At the start of the run, clocks of scenarios on another network show 0. A thread's predicted time
//! is its clock at the end of its window; a call that continues there counts for no more than it lasted until then. Clocks go on after the
//! window, because other threads may wait, and computation takes its measured time.

use super::conditions::{ScenarioConditions, ScenarioWork};
use super::group::{Lanes, RETURNS, ScenarioGroup, ThreadClocks, WIDTH, later_time};
use crate::model::code::region_state::{Ns, RegionState};
use crate::model::ranks::interval::TimeInterval;
use crate::replay::timeline::ParallelPart;

/// Clocks noted at some time, one for each replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotedClocks(u32);

#[derive(Debug)]
struct ThreadFacts {
    rank: u32,
    window: TimeInterval,
    /// Time at which the factor of its computation may change.
    changes_at: Ns,
    /// Its clocks at the end of its window; empty before.
    at_end: Vec<f64>,
}

#[derive(Debug, Default)]
pub struct ScenarioClocks<'a> {
    groups: Vec<ScenarioGroup<'a>>,
    threads: Vec<ThreadFacts>,
    /// By thread and group.
    clocks: Vec<ThreadClocks>,
    /// By note and group.
    noted: Vec<Lanes>,
    /// Notes that there are, and those that are free.
    notes: u32,
    free: Vec<u32>,
    begin: Ns,
    /// True if a replay changes what the threads of a rank do.
    changes_threads: bool,
}

impl<'a> ScenarioClocks<'a> {
    /// Creates the clocks of replays under these conditions that begin at a time, with room for exactly `room` threads: the room that growing
    /// lists have in addition is much for many thousands.
    pub fn new(conditions: Vec<ScenarioConditions<'a>>, begin: Ns, room: usize) -> Self {
        let changes_threads = conditions.iter().any(|condition| matches!(condition.work, ScenarioWork::Threads(_)));
        let groups: Vec<ScenarioGroup> = conditions.chunks(WIDTH).map(ScenarioGroup::new).collect();
        let (threads, clocks) = (Vec::with_capacity(room), Vec::with_capacity(room * groups.len()));
        ScenarioClocks { groups, threads, clocks, begin, changes_threads, ..ScenarioClocks::default() }
    }

    /// Adds the next thread, which begins `late` nanoseconds after the run, and its window.
    pub fn add_thread(&mut self, rank: u32, late: Ns, window: TimeInterval) {
        self.threads.push(ThreadFacts { rank, window, changes_at: Ns::MIN, at_end: Vec::new() });
        let time = (late - self.begin) as f64;
        self.clocks.extend(self.groups.iter().map(|group| group.first_clocks(rank, time)));
    }

    /// Returns the groups, each with a thread's clocks.
    #[inline]
    fn lanes(&mut self, thread: u32) -> impl Iterator<Item = (&ScenarioGroup<'a>, &mut ThreadClocks)> {
        let n = self.groups.len();
        self.groups.iter().zip(&mut self.clocks[thread as usize * n..][..n])
    }

    /// Sets a thread's clocks to a time that is not after the begin of its window.
    fn set(&mut self, thread: u32, time: Ns) {
        let shown = (time - self.begin) as f64;
        for (_, clocks) in self.lanes(thread) {
            clocks.now = [shown; WIDTH];
        }
    }

    #[inline]
    fn window(&self, thread: u32) -> TimeInterval {
        self.threads[thread as usize].window
    }

    /// Adds time of a kind outside of MPI, at the end of which the thread enters a call.
    #[inline]
    pub fn compute(&mut self, thread: u32, kind: RegionState, time: TimeInterval, parallel: &[ParallelPart]) {
        let TimeInterval { begin: from, end: to } = time;
        let TimeInterval { begin, end } = self.window(thread);
        // The middle: times of iterations are rounded.
        let middle = from + (to - from) / 2;
        if middle >= self.threads[thread as usize].changes_at {
            self.change(thread, middle);
        }
        if begin <= from && begin < to && to <= end {
            self.spend(thread, kind, to - from);
            if self.changes_threads && kind.is_computation() {
                self.shorten(thread, kind, to - from, parallel);
            }
        } else {
            self.compute_at_an_end(thread, kind, time);
        }
    }

    /// Adds computation during which the window begins or ends, or which is somewhere else.
    #[cold]
    fn compute_at_an_end(&mut self, thread: u32, kind: RegionState, time: TimeInterval) {
        let TimeInterval { begin: from, end: to } = time;
        let TimeInterval { begin, end } = self.window(thread);
        if to <= begin {
            self.set(thread, to);
            return self.spend(thread, kind, 0);
        }
        if from < begin {
            self.set(thread, begin);
        }
        let from = from.max(begin);
        if from <= end && end < to {
            self.spend(thread, kind, end - from);
            self.ends(thread, |clocks| clocks.now);
            self.spend(thread, kind, to - end);
        } else {
            self.spend(thread, kind, to - from);
        }
    }

    /// Shortens what a thread has just computed in replays that change what the threads of its rank do.
    fn shorten(&mut self, thread: u32, kind: RegionState, ns: Ns, parallel: &[ParallelPart]) {
        let rank = self.threads[thread as usize].rank;
        for (group, clocks) in self.lanes(thread) {
            for (work, now) in group.work.iter().zip(&mut clocks.now) {
                if let ScenarioWork::Threads(change) = work {
                    *now -= change.saved_ns(rank, kind.region(), ns, parallel);
                }
            }
            clocks.entered = clocks.now;
        }
    }

    #[cold]
    fn change(&mut self, thread: u32, time: Ns) {
        let rank = self.threads[thread as usize].rank;
        let until = self.lanes(thread).map(|(group, clocks)| group.change(clocks, rank, time)).min();
        self.threads[thread as usize].changes_at = until.unwrap_or(Ns::MAX);
    }

    #[inline]
    fn spend(&mut self, thread: u32, kind: RegionState, ns: Ns) {
        let one = &self.threads[thread as usize];
        let rank = Some(one.rank).filter(|_| one.at_end.is_empty());
        let computes = kind.is_computation();
        for (group, clocks) in self.lanes(thread) {
            if computes {
                group.compute(clocks, rank, kind, ns as f64);
            } else {
                group.communicate(clocks, ns as f64);
                clocks.entered = clocks.now;
            }
        }
    }

    /// Starts a call. Returns the time from which on it counts, and sets the clocks if the window begins within it. `None`: the call does not
    /// count, and the clocks are set to its end, with which the window may begin.
    #[inline]
    pub fn begin_call(&mut self, thread: u32, TimeInterval { begin: from, end: to }: TimeInterval) -> Option<Ns> {
        let TimeInterval { begin, .. } = self.window(thread);
        if from < begin {
            self.set(thread, to.min(begin));
            if to <= begin {
                return None;
            }
            for (_, clocks) in self.lanes(thread) {
                clocks.entered = clocks.now;
            }
        }
        Some(from.max(begin))
    }

    /// Ends a call, which counts until the end of the window.
    #[inline]
    pub fn end_call(&mut self, thread: u32, TimeInterval { begin: from, end: to }: TimeInterval) {
        let TimeInterval { end, .. } = self.window(thread);
        if from <= end && end < to {
            let counts = (end - from) as f64;
            self.ends(thread, |clocks| std::array::from_fn(|i| clocks.now[i].min(clocks.entered[i] + counts)));
        }
    }

    /// Keeps a thread's clocks at the end of its window, unless they are known. Later computation takes its measured time.
    #[cold]
    fn ends(&mut self, thread: u32, shown: impl Fn(&ThreadClocks) -> Lanes) {
        if self.threads[thread as usize].at_end.is_empty() {
            let mut at_end = Vec::with_capacity(self.groups.len() * WIDTH);
            for (_, clocks) in self.lanes(thread) {
                at_end.extend(shown(clocks));
                clocks.factors = [1.0; WIDTH];
            }
            let one = &mut self.threads[thread as usize];
            (one.at_end, one.changes_at) = (at_end, Ns::MAX);
        }
    }

    #[inline]
    pub fn communicate(&mut self, thread: u32, ns: Ns) {
        for (group, clocks) in self.lanes(thread) {
            group.communicate(clocks, ns as f64);
        }
    }

    #[inline]
    pub fn note(&mut self, thread: u32) -> NotedClocks {
        let n = self.groups.len();
        let note = self.free.pop().unwrap_or_else(|| {
            self.notes += 1;
            self.noted.resize(self.noted.len() + n, [0.0; WIDTH]);
            self.notes - 1
        });
        let own = &self.clocks[thread as usize * n..][..n];
        for (noted, clocks) in self.noted[note as usize * n..].iter_mut().zip(own) {
            *noted = clocks.now;
        }
        NotedClocks(note)
    }

    /// Raises the noted clocks to a thread's clocks where these are later.
    pub fn note_later(&mut self, note: NotedClocks, thread: u32) {
        let n = self.groups.len();
        let own = &self.clocks[thread as usize * n..][..n];
        for (noted, clocks) in self.noted[note.0 as usize * n..].iter_mut().zip(own) {
            *noted = std::array::from_fn(|i| later_time(noted[i], clocks.now[i]));
        }
    }

    /// Lets a thread wait for the noted clocks, and for `bytes` bytes that take `steps` steps of the network.
    #[inline]
    pub fn wait_for(&mut self, thread: u32, note: NotedClocks, bytes: u64, steps: u32) {
        let n = self.groups.len();
        let own = &mut self.clocks[thread as usize * n..][..n];
        for ((group, clocks), &from) in self.groups.iter().zip(own).zip(&self.noted[note.0 as usize * n..]) {
            group.wait(clocks, from, bytes as f64, f64::from(steps));
        }
    }

    /// Keeps the clocks of a thread that returns to MPI, in one of [`RETURNS`] slots.
    #[inline]
    pub fn keep_return(&mut self, thread: u32, slot: u8) {
        for (_, clocks) in self.lanes(thread) {
            clocks.returns[usize::from(slot) % RETURNS] = clocks.now;
        }
    }

    /// Lets a thread wait for the return of another to MPI, which is kept in a slot, and for `bytes` bytes from there.
    pub fn wait_for_return(&mut self, thread: u32, other: u32, slot: u8, bytes: u64) {
        let n = self.groups.len();
        for (at, group) in self.groups.iter().enumerate() {
            let from = self.clocks[other as usize * n + at].returns[usize::from(slot) % RETURNS];
            group.wait(&mut self.clocks[thread as usize * n + at], from, bytes as f64, 1.0);
        }
    }

    #[inline]
    pub fn forget(&mut self, note: NotedClocks) {
        self.free.push(note.0);
    }

    /// Returns each replay's clocks when the last rank had entered a collective of all ranks, at whose end a thread has been for `ns`
    /// nanoseconds, in nanoseconds.
    pub fn at_last_entry_ns(&self, thread: u32, ns: Ns) -> Vec<f64> {
        let own = self.clocks[thread as usize * self.groups.len()..].iter().zip(&self.groups);
        own.flat_map(|(clocks, group)| group.before(clocks, ns as f64).into_iter().take(group.work.len())).collect()
    }

    /// Returns the time of each replay: the latest clock of any of the threads at the end of its window, in nanoseconds.
    pub fn times_ns(&self, threads: impl Iterator<Item = u32>) -> Vec<f64> {
        let n = self.groups.len();
        let mut latest = vec![0.0_f64; self.groups.iter().map(|group| group.work.len()).sum()];
        for thread in threads.map(|thread| thread as usize) {
            let now = self.clocks[thread * n..][..n].iter().flat_map(|clocks| clocks.now);
            let at_end = &self.threads[thread].at_end;
            let clocks: Vec<f64> = if at_end.is_empty() { now.collect() } else { at_end.clone() };
            for (latest, clock) in latest.iter_mut().zip(clocks) {
                *latest = latest.max(clock);
            }
        }
        latest
    }
}

#[cfg(test)]
mod tests {
    use lbprof_collector::Activity;

    use super::*;
    use crate::replay::what_if::ScenarioNetwork;

    impl ScenarioClocks<'_> {
        /// The time of each replay in seconds.
        pub fn times_s(&self, threads: impl Iterator<Item = u32>) -> Vec<f64> {
            self.times_ns(threads).into_iter().map(|ns| ns * 1e-9).collect()
        }
    }

    #[test]
    fn no_bytes_and_no_work_take_no_time_however_slow_both_are() {
        let network = ScenarioNetwork::Given { latency_s: 0.0, bytes_per_s: f64::MIN_POSITIVE / 4.0 };
        let slow = ScenarioWork::Rank(1, vec![f64::INFINITY]);
        let mut clocks = ScenarioClocks::new(vec![ScenarioConditions { network, work: slow }], 0, 0);
        for rank in 0..2 {
            clocks.add_thread(rank, 0, TimeInterval::new(0, Ns::MAX));
        }
        let computation = RegionState::new(0, Activity::Computation);
        clocks.compute(0, computation, TimeInterval::new(0, 100), &[]);
        clocks.compute(1, computation, TimeInterval::new(50, 50), &[]);
        let noted = clocks.note(0);
        clocks.wait_for(1, noted, 0, 3);
        assert_eq!(clocks.times_s([1].into_iter()), [100.0 * 1e-9]);
        clocks.wait_for(1, noted, 8, 1);
        assert_eq!(clocks.times_s([1].into_iter()), [f64::INFINITY]);
    }
}
