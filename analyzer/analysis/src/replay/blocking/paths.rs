//! The two paths to a wait: the states of the waiting thread and of the thread that ended the wait, since both last synchronised. Equal time in
//! the same state cancels.

use super::history::{StateDuration, ThreadHistory};
use super::states::{ThreadState, ThreadStates};
use crate::model::code::region_state::Ns;

/// Time in one state on both paths, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct OnPaths {
    did: f64,
    /// Remaining time on the waiting thread's path.
    own: f64,
    /// Remaining time on the path of the thread that ended the wait.
    other: f64,
    /// Time on neither path, because the thread that ended the wait computed as long when it waited itself (see [`WaitPaths::cancel_equal`]), and
    /// time that has now cancelled with the waiting thread's computation.
    equal: f64,
    cancelled: f64,
    /// True if the state is on either path.
    is_on: bool,
}

/// Both paths. It keeps room between waits, and the own path between those who end the same one.
#[derive(Debug, Default)]
pub struct WaitPaths {
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
    /// Returns the remaining time on the path of the thread that ended the wait, in order of appearance, including states without any.
    pub fn left(&self) -> impl Iterator<Item = StateDuration> {
        self.order[..self.n].iter().map(|&state| {
            let OnPaths { other, equal, cancelled, .. } = self.amounts[state.index()];
            StateDuration { state, ns: other, equal_ns: (equal + cancelled) as f32 }
        })
    }

    pub fn clear(&mut self) {
        self.shorten(0);
        (self.since, self.n_own) = (None, 0);
    }

    /// Starts with the `history` of the waiting thread from `since` to `begin`.
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
            *one = OnPaths { own: one.did, other: 0.0, equal: 0.0, cancelled: 0.0, ..*one };
        }
    }

    /// Adds the `history` of the thread that ended the wait from `since` to `at`.
    pub fn follow_other(&mut self, history: &ThreadHistory, since: Ns, at: Ns) {
        history.spent(since, at, |part| self.add_other(part));
    }

    #[inline]
    pub fn add_other(&mut self, part: StateDuration) {
        let one = self.amounts_mut(part.state);
        one.other += part.ns;
        one.equal += f64::from(part.equal_ns);
    }

    /// Returns the amounts of a state, which is on the paths from now on. There is no branch on whether it was, because that is unpredictable.
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

    /// Cancels time on the path of `threads.1` that is also on the path of `threads.0`, which waits: time of the same thread in the same kind, for
    /// example if both waited for it; then the own time of both, kind by kind, and own computation that is as long as time that the other waited
    /// for; then the rest of each kind, in proportion; then computation of both in different regions.
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
                let theirs = &mut self.amounts[theirs.index()];
                theirs.other -= common;
                theirs.cancelled += if kind.is_computation() { common } else { 0.0 };
                self.amounts[mine.index()].own -= common;
            }
        }
        self.cancel_equal(states, threads);
        self.cancel_kinds(states);
        self.cancel_computation(states, threads);
    }

    /// Cancels own computation of both threads that is as long according to a third one: the thread that ended the wait has waited for the third
    /// one itself, which computed longer in the region in which the waiting thread computed, too. Only the excess is on the path; others caused it.
    ///
    /// ```text
    ///   thread 0  |== x ==|== x ==|................    x of thread 0 cancels with y, not with the excess of x on thread 1: y is as long as the rest
    ///   thread 1  |====== x ======|====== x ======|    of x on thread 1, with which it has cancelled where thread 2 waited
    ///   thread 2  |== y ==|.......|== y ==|.......|
    /// ```
    fn cancel_equal(&mut self, states: &ThreadStates, threads: (u32, u32)) {
        let order = &self.order[..self.n];
        let theirs = order.iter().filter(|state| states.is_computation_of(**state, threads.1));
        let other: f64 = theirs.clone().map(|state| self.amounts[state.index()].other).sum();
        if other <= 0.0 || order.iter().all(|state| self.amounts[state.index()].equal <= 0.0) {
            return;
        }
        let mut left = other;
        for &mine in &self.order[..self.n_own] {
            if !states.is_computation_of(mine, threads.0) || self.amounts[mine.index()].own <= 0.0 {
                continue;
            }
            let kind = states.kind_number(mine);
            let of_kind = order.iter().filter(|state| states.kind_number(**state) == kind);
            let equal: f64 = of_kind.map(|state| self.amounts[state.index()].equal).sum();
            let common = equal.min(left).min(self.amounts[mine.index()].own);
            self.amounts[mine.index()].own -= common;
            left -= common;
        }
        for state in theirs {
            self.amounts[state.index()].other *= left / other;
        }
    }

    /// Cancels the rest of both threads' own computation, in proportion: a thread that computes as long as the one that waits for it, though in
    /// other regions, does not cause the wait.
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
                amounts.cancelled += amounts.other * common / other;
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
