//! The two paths to a wait: the states of the waiting thread and of the thread that ended the wait, since both last synchronised. Equal time in
//! the same state cancels.

use super::history::{StateDuration, ThreadHistory};
use super::states::{ThreadState, ThreadStates};
use crate::model::region_state::Ns;

/// Time in one state on both paths, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct OnPaths {
    /// On the path of who waits.
    did: f64,
    /// Remaining time on the waiting thread's path.
    own: f64,
    /// On the path of who ended the wait; of that what did not cancel.
    other: f64,
    /// True if it is on either.
    is_on: bool,
}

/// Both paths. It keeps room between waits, and the own path between those who end the same one.
#[derive(Debug, Default)]
pub struct WaitPaths {
    /// By number of what is done.
    amounts: Vec<OnPaths>,
    /// The states on the paths, in order of appearance: the first `n`. There is room for all, and one more.
    order: Vec<ThreadState>,
    n: usize,
    /// Since when the own path is known, which is the first of `order`.
    since: Option<Ns>,
    n_own: usize,
    /// Remaining time on both paths by kind; all 0 between waits.
    kinds: Vec<(f64, f64)>,
}

impl WaitPaths {
    /// Returns the remaining time on the path of the thread that ended the wait, in order of appearance; of some nothing is left.
    pub fn left(&self) -> impl Iterator<Item = StateDuration> {
        self.order[..self.n].iter().map(|&state| StateDuration { state, ns: self.amounts[state.index()].other })
    }

    /// Forgets both.
    pub fn clear(&mut self) {
        self.shorten(0);
        (self.since, self.n_own) = (None, 0);
    }

    /// Begins anew with what `history`, of who waits, has from `since` to `begin`.
    pub fn follow_own(&mut self, states: &ThreadStates, history: &ThreadHistory, since: Ns, begin: Ns) {
        self.amounts.resize(states.entries().len(), OnPaths::default());
        self.order.resize(states.entries().len() + 1, ThreadState::default());
        if self.since == Some(since) {
            self.shorten(self.n_own);
        } else {
            self.clear();
            self.since = Some(since);
            history.spent(since, begin, |part| self.amounts_mut(part.state).did += part.ns);
            self.n_own = self.n;
        }
        for state in &self.order[..self.n] {
            let one = &mut self.amounts[state.index()];
            (one.own, one.other) = (one.did, 0.0);
        }
    }

    /// Adds what `history`, of who ended the wait, has from `since` to `at`.
    pub fn follow_other(&mut self, history: &ThreadHistory, since: Ns, at: Ns) {
        history.spent(since, at, |part| self.add_other(part));
    }

    /// Adds something that the thread which ended the wait did.
    #[inline]
    pub fn add_other(&mut self, part: StateDuration) {
        self.amounts_mut(part.state).other += part.ns;
    }

    /// The amounts of something that is on the paths from now on. Whether it was can't be foretold, so there is no branch on that.
    #[inline]
    fn amounts_mut(&mut self, state: ThreadState) -> &mut OnPaths {
        let one = &mut self.amounts[state.index()];
        self.order[self.n] = state;
        self.n += usize::from(!one.is_on);
        one.is_on = true;
        one
    }

    fn shorten(&mut self, to: usize) {
        for gone in &self.order[to..self.n] {
            self.amounts[gone.index()] = OnPaths::default();
        }
        self.n = to;
    }

    /// Takes from the path of `threads.1` what is on that of `threads.0`, who waits, too: time that the same thread spent in the same kind,
    /// as where both waited for it; then what each of both did itself, kind by kind; then what is left of a kind, in proportion; then what
    /// both computed in different regions.
    pub fn cancel(&mut self, states: &ThreadStates, threads: (u32, u32)) {
        for state in &self.order[..self.n_own] {
            let one = &mut self.amounts[state.index()];
            let common = one.own.min(one.other);
            one.own -= common;
            one.other -= common;
        }
        for &mine in &self.order[..self.n_own] {
            let ((thread, kind), own) = (states.get(mine), self.amounts[mine.index()].own);
            if thread != threads.0 || own == 0.0 {
                continue;
            }
            if let Some(theirs) = states.find(threads.1, kind) {
                let common = own.min(self.amounts[theirs.index()].other);
                self.amounts[theirs.index()].other -= common;
                self.amounts[mine.index()].own -= common;
            }
        }
        self.cancel_kinds(states);
        self.cancel_computation(states, threads);
    }

    /// Cancels what is left of both threads' own computation, in proportion: who computes as long as the one that waits for it, though in
    /// other regions, makes nobody wait.
    fn cancel_computation(&mut self, states: &ThreadStates, threads: (u32, u32)) {
        let (mut own, mut other) = (0.0, 0.0);
        for state in &self.order[..self.n] {
            let amounts = &self.amounts[state.index()];
            own += if states.is_computation_of(*state, threads.0) { amounts.own } else { 0.0 };
            other += if states.is_computation_of(*state, threads.1) { amounts.other } else { 0.0 };
        }
        let common = own.min(other);
        if common <= 0.0 {
            return;
        }
        for state in &self.order[..self.n] {
            let amounts = &mut self.amounts[state.index()];
            if states.is_computation_of(*state, threads.0) {
                amounts.own *= (own - common) / own;
            }
            if states.is_computation_of(*state, threads.1) {
                amounts.other *= (other - common) / other;
            }
        }
    }

    fn cancel_kinds(&mut self, states: &ThreadStates) {
        let mut remains = false;
        for state in &self.order[..self.n_own] {
            let own = self.amounts[state.index()].own;
            if own > 0.0 {
                let kind = states.kind_number(*state);
                if self.kinds.len() <= kind {
                    self.kinds.resize(kind + 1, (0.0, 0.0));
                }
                self.kinds[kind].0 += own;
                remains = true;
            }
        }
        if !remains {
            return;
        }
        let mut both = false;
        for state in &self.order[..self.n] {
            let other = self.amounts[state.index()].other;
            if let Some(sums) = self.kinds.get_mut(states.kind_number(*state)).filter(|_| other > 0.0) {
                sums.1 += other;
                both |= sums.0 > 0.0;
            }
        }
        for state in self.order[..self.n].iter().filter(|_| both) {
            let one = &mut self.amounts[state.index()];
            let Some(&(own, others)) = self.kinds.get(states.kind_number(*state)) else { continue };
            if one.other > 0.0 {
                one.other *= (others - own).max(0.0) / others;
            }
            if one.own > 0.0 {
                one.own *= (own - others).max(0.0) / own;
            }
        }
        for state in &self.order[..self.n] {
            if let Some(sums) = self.kinds.get_mut(states.kind_number(*state)) {
                *sums = (0.0, 0.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::region_state::RegionState;

    #[test]
    fn the_own_path_stays_for_others_who_end_the_same_wait() {
        let mut states = ThreadStates::default();
        let kinds = [RegionState(1 << 4), RegionState(2 << 4), RegionState(3 << 4)];
        let mut history = |thread, parts: &[(Ns, usize)]| {
            let mut history = ThreadHistory::new(0);
            for &(end, kind) in parts.iter() {
                history.spend(end, states.intern(thread, kinds[kind]));
            }
            history
        };
        let (own, first, second) =
            (history(0, &[(4, 0), (6, 1)]), history(1, &[(7, 0), (10, 1)]), history(2, &[(3, 2), (8, 1)]));
        let left = |paths: &mut WaitPaths, (thread, other): (u32, &ThreadHistory), since| {
            paths.follow_own(&states, &own, since, 6);
            paths.follow_other(other, since, 10);
            paths.cancel(&states, (0, thread));
            assert!(paths.kinds.iter().all(|&sums| sums == (0.0, 0.0)));
            paths
                .left()
                .filter(|part| part.ns > 0.0)
                .map(|part| (states.get(part.state).0, states.get(part.state).1, part.ns))
                .collect()
        };
        let mut paths = WaitPaths::default();
        let [x, y, z] = kinds;
        let expected = [[(1, y, 1.0), (1, x, 3.0)], [(2, y, 1.0), (2, z, 1.0)], [(1, y, 2.0), (1, x, 2.0)]]
            .map(|one| one.to_vec());
        // One after the other since the same time, since another one, and each alone.
        let found: [Vec<_>; 3] =
            [left(&mut paths, (1, &first), 0), left(&mut paths, (2, &second), 0), left(&mut paths, (1, &first), 5)];
        assert_eq!(found, expected);
        paths.clear();
        assert_eq!(left(&mut paths, (2, &second), 0), expected[1]);
        assert_eq!(left(&mut WaitPaths::default(), (1, &first), 5), expected[2]);
    }
}
