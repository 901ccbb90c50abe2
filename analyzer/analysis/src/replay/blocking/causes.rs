//! Finds the causes of waits ("Causes of Blocking Overhead in Message-Passing Programs" (2003), §§3–4; docs/metrics.md §4).
//!
//! ```text
//!            T*                        wait
//!   a   ─────|==== x 5 ====|== y 2 ==|.......|        b ended it: since both were synchronised last, at T*,
//!   b   ─────|======== x 9 ========|= y 1 =|s→|       x takes 4 more on b's path than on a's, y 1 less, so x on b
//!                                                     is the cause. Waits on a path are replaced by their causes.
//! ```

use super::delays::{ActivityInterval, OwnCause};
use super::history::{EndedBy, StateDuration, ThreadHistory};
use super::paths::WaitPaths;
use super::states::ThreadStates;
use crate::model::code::region_state::{Ns, RegionState};
use crate::model::ranks::interval::TimeInterval;
use lbprof_thresholds::replay::MIN_CAUSE_OF_WAIT;

/// Maximum number of causes that are kept of one wait. The parts of smaller causes are shared out among them.
const MOST_CAUSES: usize = 24;

/// A thread that ended a wait, and how it did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelaySource {
    pub by: EndedBy,
    pub since: Ns,
    /// Fraction of the wait attributed to this thread. All fractions add up to 1.
    pub share: f64,
    /// The state after that, until the wait is over: a message's delay.
    pub delay: Option<RegionState>,
}

#[derive(Clone, Copy)]
pub struct ThreadWait<'a> {
    pub histories: &'a [ThreadHistory],
    pub thread: u32,
    pub time: TimeInterval,
}

/// Finds causes of waits. It only keeps room between calls.
#[derive(Default)]
pub struct CauseFinder {
    paths: WaitPaths,
    /// Nanoseconds of the wait that were caused, indexed by the number of the thread's state; all 0 between waits.
    caused: Vec<f64>,
    found: Vec<StateDuration>,
    /// Parts of the wait caused by the ending thread's own computation, if wanted.
    own: Vec<OwnCause>,
    wants_own: bool,
}

impl CauseFinder {
    /// Creates a finder, which keeps the ending thread's own causes if `wants_own`.
    pub fn new(wants_own: bool) -> Self {
        CauseFinder { wants_own, ..CauseFinder::default() }
    }

    /// Returns the parts of the last wait caused by the ending thread's own computation.
    pub fn own_causes(&self) -> &[OwnCause] {
        &self.own
    }

    /// Returns the causes of a wait, the largest first; their sum is its length.
    ///
    /// Time that the same thread spent in the same kind cancels first, as where both waited for it; then what each of both did
    /// itself, kind by kind, and where the other computed as long as a third thread that it waited for; then what is left of a kind, on whatever
    /// threads, in proportion; then what both computed in different regions, so that who computes no longer is not blamed.
    pub fn find_causes(
        &mut self,
        states: &mut ThreadStates,
        wait: ThreadWait,
        sources: &[DelaySource],
    ) -> &[StateDuration] {
        self.found.clear();
        self.own.clear();
        self.paths.clear();
        for source in sources {
            let ns = wait.time.ns() as f64 * source.share;
            if ns > 0.0 {
                self.blame(states, wait, source, ns);
            }
        }
        for part in &mut self.found {
            part.ns = std::mem::take(&mut self.caused[part.state.index()]);
        }
        keep_the_largest(&mut self.found, states);
        &self.found
    }

    /// Adds the causes of `ns` nanoseconds of the wait, which `source` answers for.
    fn blame(&mut self, states: &mut ThreadStates, wait: ThreadWait, source: &DelaySource, ns: f64) {
        let ThreadWait { histories, thread, time: TimeInterval { begin, end } } = wait;
        let by = source.by;
        let (Some(own), Some(other)) = (histories.get(thread as usize), histories.get(by.thread as usize)) else {
            return;
        };
        let since = source.since.max(own.begin()).max(other.begin());
        let at = by.at.min(end);
        let delay = source.delay.filter(|_| end > at).map(|kind| states.intern(by.thread, kind));
        self.paths.follow_own(states, own, since, begin);
        self.paths.follow_other(other, since, at);
        if let Some(state) = delay {
            self.paths.add_other(StateDuration::new(state, (end - at.max(since)) as f64));
        }
        self.paths.cancel(states, (thread, by.thread));
        self.caused.resize(states.entries().len(), 0.0);
        let total: f64 = self.paths.left().map(|part| part.ns).sum();
        if total > 0.0 {
            for part in self.paths.left() {
                let part = StateDuration { ns: part.ns / total * ns, ..part };
                add_cause(&mut self.caused, &mut self.found, part);
                if self.wants_own && part.ns > 0.0 {
                    let (thread, kind) = states.get(part.state);
                    if thread == by.thread && kind.is_computation() {
                        let by = ActivityInterval { thread, state: part.state, since, until: at };
                        let waiting = states.find(wait.thread, kind);
                        let waiting =
                            waiting.map(|state| ActivityInterval { thread: wait.thread, state, since, until: begin });
                        self.own.push(OwnCause { by, waiting, ns: part.ns });
                    }
                }
            }
        } else {
            // The states of that thread in this time are not known. Its last known state counts as the cause.
            let last = other.backwards(Ns::MIN, at).next().map(|past| past.state);
            let state = last.unwrap_or_else(|| states.intern(by.thread, RegionState::unknown(0)));
            self.caused.resize(states.entries().len(), 0.0);
            add_cause(&mut self.caused, &mut self.found, StateDuration::new(state, ns));
        }
    }
}

#[inline]
fn add_cause(all: &mut [f64], found: &mut Vec<StateDuration>, part: StateDuration) {
    let caused = &mut all[part.state.index()];
    if *caused == 0.0 && part.ns > 0.0 {
        found.push(part);
    }
    *caused += part.ns;
}

/// Sorts causes by size; the smallest beyond a number are shared out among the others.
fn keep_the_largest(causes: &mut Vec<StateDuration>, states: &ThreadStates) {
    causes.sort_unstable_by(|a, b| b.ns.total_cmp(&a.ns).then_with(|| states.get(a.state).cmp(&states.get(b.state))));
    let all: f64 = causes.iter().map(|part| part.ns).sum();
    let most = causes.partition_point(|part| part.ns >= MIN_CAUSE_OF_WAIT * all).clamp(1, MOST_CAUSES);
    if most < causes.len() {
        causes.truncate(most);
        let kept: f64 = causes.iter().map(|part| part.ns).sum();
        for part in causes.iter_mut() {
            part.ns *= all / kept;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(states: &mut ThreadStates, thread: u32, intervals: &[(Ns, RegionState)]) -> ThreadHistory {
        let mut history = ThreadHistory::new(0);
        for &(end, kind) in intervals.iter() {
            history.spend(end, states.intern(thread, kind));
        }
        history
    }

    fn histories(states: &mut ThreadStates, all: &[&[(Ns, RegionState)]]) -> Vec<ThreadHistory> {
        (0..).zip(all).map(|(thread, intervals)| history(states, thread, intervals)).collect()
    }

    fn source(thread: u32, at: Ns) -> DelaySource {
        DelaySource { by: EndedBy { thread, at }, since: 0, share: 1.0, delay: None }
    }

    /// Thread, kind and nanoseconds of what causes a wait of thread 0.
    fn causes(
        mut states: ThreadStates,
        histories: &[ThreadHistory],
        wait: TimeInterval,
        sources: &[DelaySource],
    ) -> Vec<(u32, RegionState, f64)> {
        let mut causes = CauseFinder::default();
        let waiting = ThreadWait { histories, thread: 0, time: wait };
        let found = causes.find_causes(&mut states, waiting, sources).to_vec();
        assert!(causes.caused.iter().all(|&ns| ns == 0.0));
        found.iter().map(|part| (states.get(part.state).0, states.get(part.state).1, part.ns)).collect()
    }

    #[test]
    fn the_smallest_of_very_many_are_shared_out() {
        let intervals: Vec<_> = (1..=100).map(|i| (Ns::from(i) * 10, RegionState(i << 5))).collect();
        let mut states = ThreadStates::default();
        let histories = histories(&mut states, &[&[], &intervals]);
        let found = causes(states, &histories, TimeInterval::new(0, 1000), &[source(1, 1000)]);
        assert_eq!(found.len(), MOST_CAUSES);
        assert!((found.iter().map(|one| one.2).sum::<f64>() - 1000.0).abs() < 1e-9);
    }
}
