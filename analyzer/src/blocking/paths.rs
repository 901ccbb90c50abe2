//! Both paths to a wait: what who waits did, and what who ended it did, since they were synchronised last; and what of that cancels.

use super::doings::{Doing, Doings};
use super::history::{History, Part};
use crate::timeline::{Kind, Ns};

/// Something that is not on the paths.
const NOWHERE: u32 = u32::MAX;

/// Something on the paths, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct OnPaths {
    /// What.
    pub doing: Doing,
    thread: u32,
    kind: Kind,
    /// On the path of who waits.
    did: f64,
    /// What did not cancel of it, and of that on the other path.
    own: f64,
    /// On the path of who ended the wait; of that what did not cancel.
    pub other: f64,
}

/// Both paths. It keeps room between waits, and the own path between those who end the same one.
#[derive(Debug, Default)]
pub struct Paths {
    all: Vec<OnPaths>,
    /// Where something is in `all`, by number of what is done.
    places: Vec<u32>,
    /// Since when the own path is known, which is the first of `all`.
    since: Option<Ns>,
    n_own: usize,
    /// What is left on both paths, by kind; all 0 between waits.
    kinds: Vec<(f64, f64)>,
}

impl Paths {
    /// What is on them, in the order in which it came.
    pub fn all(&self) -> &[OnPaths] {
        &self.all
    }

    /// Forgets both.
    pub fn clear(&mut self) {
        self.shorten(0);
        (self.since, self.n_own) = (None, 0);
    }

    /// Begins anew with what `history`, of who waits, has from `since` to `begin`.
    pub fn follow_own(&mut self, doings: &Doings, history: &History, since: Ns, begin: Ns) {
        if self.since == Some(since) {
            self.shorten(self.n_own);
            self.all.iter_mut().for_each(|one| (one.own, one.other) = (one.did, 0.0));
            return;
        }
        self.clear();
        self.since = Some(since);
        history.spent(since, begin, |part| self.place(doings, part.doing).did += part.ns);
        self.n_own = self.all.len();
        self.all.iter_mut().for_each(|one| one.own = one.did);
    }

    /// Adds what `history`, of who ended the wait, has from `since` to `at`.
    pub fn follow_other(&mut self, doings: &Doings, history: &History, since: Ns, at: Ns) {
        history.spent(since, at, |part| self.add_other(doings, part));
    }

    /// Adds something that he did.
    #[inline]
    pub fn add_other(&mut self, doings: &Doings, part: Part) {
        self.place(doings, part.doing).other += part.ns;
    }

    #[inline]
    fn place(&mut self, doings: &Doings, doing: Doing) -> &mut OnPaths {
        let known = self.places.get(doing.at()).copied().unwrap_or(NOWHERE) as usize;
        let at = if known < self.all.len() { known } else { self.add(doings, doing) };
        &mut self.all[at]
    }

    #[inline(never)]
    fn add(&mut self, doings: &Doings, doing: Doing) -> usize {
        if self.places.len() <= doing.at() {
            self.places.resize(doings.all().len(), NOWHERE);
        }
        self.places[doing.at()] = self.all.len() as u32;
        let (thread, kind) = doings.get(doing);
        self.all.push(OnPaths { doing, thread, kind, did: 0.0, own: 0.0, other: 0.0 });
        self.all.len() - 1
    }

    fn shorten(&mut self, to: usize) {
        for gone in self.all.drain(to..) {
            self.places[gone.doing.at()] = NOWHERE;
        }
    }

    /// Takes from the path of `threads.1` what is on that of `threads.0`, who waits, too: time that the same thread spent in the same kind,
    /// as where both waited for it; then what each of both did itself, kind by kind; then what is left of a kind, in proportion.
    pub fn cancel(&mut self, doings: &Doings, threads: (u32, u32)) {
        for one in &mut self.all[..self.n_own] {
            let common = one.own.min(one.other);
            one.own -= common;
            one.other -= common;
        }
        for at in 0..self.n_own {
            let mine = self.all[at];
            if mine.thread != threads.0 || mine.own == 0.0 {
                continue;
            }
            let his = doings.find(threads.1, mine.kind).and_then(|doing| self.places.get(doing.at()));
            if let Some(his) = his.and_then(|&at| self.all.get_mut(at as usize)) {
                let common = mine.own.min(his.other);
                his.other -= common;
                self.all[at].own -= common;
            }
        }
        self.cancel_kinds();
    }

    fn cancel_kinds(&mut self) {
        let mut remains = false;
        for one in self.all[..self.n_own].iter().filter(|one| one.own > 0.0) {
            let kind = one.kind.0 as usize;
            if self.kinds.len() <= kind {
                self.kinds.resize(kind + 1, (0.0, 0.0));
            }
            self.kinds[kind].0 += one.own;
            remains = true;
        }
        if !remains {
            return;
        }
        let mut both = false;
        for one in self.all.iter().filter(|one| one.other > 0.0) {
            if let Some(sums) = self.kinds.get_mut(one.kind.0 as usize) {
                sums.1 += one.other;
                both |= sums.0 > 0.0;
            }
        }
        for one in self.all.iter_mut().filter(|one| both && one.other > 0.0) {
            if let Some(&(own, others)) = self.kinds.get(one.kind.0 as usize) {
                one.other *= (others - own).max(0.0) / others;
            }
        }
        for one in &self.all {
            if let Some(sums) = self.kinds.get_mut(one.kind.0 as usize) {
                *sums = (0.0, 0.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_path_stays_for_others_who_end_the_same_wait() {
        let mut doings = Doings::default();
        let kinds = [Kind(1 << 4), Kind(2 << 4), Kind(3 << 4)];
        let mut history = |thread, parts: &[(Ns, usize)]| {
            let mut history = History::new(0);
            parts.iter().for_each(|&(end, kind)| history.spend(end, doings.of(thread, kinds[kind])));
            history
        };
        let (own, first, second) =
            (history(0, &[(4, 0), (6, 1)]), history(1, &[(7, 0), (10, 1)]), history(2, &[(3, 2), (8, 1)]));
        let left = |paths: &mut Paths, (thread, other): (u32, &History), since| {
            paths.follow_own(&doings, &own, since, 6);
            paths.follow_other(&doings, other, since, 10);
            paths.cancel(&doings, (0, thread));
            assert!(paths.kinds.iter().all(|&sums| sums == (0.0, 0.0)));
            paths.all().iter().filter(|one| one.other > 0.0).map(|one| (one.thread, one.kind, one.other)).collect()
        };
        let mut paths = Paths::default();
        let [x, y, z] = kinds;
        let expected = [[(1, y, 1.0), (1, x, 3.0)], [(2, y, 3.0), (2, z, 3.0)], [(1, y, 2.0), (1, x, 2.0)]]
            .map(|one| one.to_vec());
        // One after the other since the same time, since another one, and each alone.
        let found: [Vec<_>; 3] =
            [left(&mut paths, (1, &first), 0), left(&mut paths, (2, &second), 0), left(&mut paths, (1, &first), 5)];
        assert_eq!(found, expected);
        paths.clear();
        assert_eq!(left(&mut paths, (2, &second), 0), expected[1]);
        assert_eq!(left(&mut Paths::default(), (1, &first), 5), expected[2]);
    }
}
