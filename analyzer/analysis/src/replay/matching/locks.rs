//! Locks of RMA windows (MPI-4.1 §12.5.3): finds the rank whose release another rank waited for.
//!
//! A log states when a rank requested, got and released a lock, but not which rank held it in between. If a rank releases a lock while another
//! rank is still in the call that requests a conflicting one, then the other rank had to wait for the release.
//!
//! ```text
//!   a   |lock|======= exclusive =======|unlock|
//!   b           |lock ....................|            waits for a until a begins to unlock
//! ```

use rustc_hash::FxHashMap;

use crate::model::code::region_state::Ns;
use crate::replay::what_if::NotedClocks;

/// An RMA window: index of the communicator, and which it is there.
pub type RmaWindow = (u32, i32);

/// The target of a lock on all ranks of a window.
pub const ALL: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub struct LockRelease {
    pub world_rank: u32,
    pub thread: u32,
    pub at: Ns,
    pub noted: NotedClocks,
}

/// The last two releases, by different ranks: a rank waits for no release of its own.
#[derive(Debug, Default)]
struct LastTwoReleases(Option<LockRelease>, Option<LockRelease>);

impl LastTwoReleases {
    /// Adds a release. Returns the one that is not needed any more.
    fn add(&mut self, release: LockRelease) -> Option<LockRelease> {
        let last = self.0.replace(release);
        match last {
            Some(last) if last.world_rank != release.world_rank => self.1.replace(last),
            last => last,
        }
    }

    fn of_other(&self, rank: u32) -> Option<LockRelease> {
        self.0.filter(|last| last.world_rank != rank).or(self.1)
    }
}

#[derive(Debug, Default)]
struct LockReleases {
    exclusive: LastTwoReleases,
    shared: LastTwoReleases,
}

#[derive(Debug, Default)]
pub struct RmaLocks {
    /// By window and target. [`ALL`] has releases at all targets: exclusive locks of any, shared locks of all.
    releases: FxHashMap<(RmaWindow, u32), LockReleases>,
    held: FxHashMap<LockOfRank, HeldLock>,
    /// Locks that were released by a call with folded ones: the rank may still have one of them.
    folded: FxHashMap<LockOfRank, HeldLock>,
}

/// The lock of a window that a rank may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LockOfRank {
    pub window: RmaWindow,
    /// The target in MPI_COMM_WORLD, or [`ALL`].
    pub target: u32,
    pub rank: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct HeldLock {
    /// True if no other rank may have it meanwhile.
    pub exclusive: bool,
    /// True if repeated calls are folded into the one that requested it.
    pub folded: bool,
}

impl RmaLocks {
    pub fn lock(&mut self, lock: LockOfRank, held: HeldLock) {
        self.held.insert(lock, held);
        if !held.folded {
            self.folded.remove(&lock);
        }
    }

    /// Releases a rank's lock, in a call with `folded` ones or in a single one. `release` makes the release. Returns the releases that are not
    /// needed any more, or `None` if the rank has no lock.
    ///
    /// If calls were folded in turn, one kind may have one more than the other:
    ///
    /// ```text
    ///   lock get unlock   lock × 9  get × 8  unlock × 8   get unlock      the last one gives back the ninth
    /// ```
    pub fn unlock(
        &mut self,
        lock: LockOfRank,
        folded: bool,
        mut release: impl FnMut() -> LockRelease,
    ) -> Option<Vec<LockRelease>> {
        let held = self.held.remove(&lock).or_else(|| self.folded.remove(&lock))?;
        if folded || held.folded {
            self.folded.insert(lock, HeldLock { folded: false, ..held });
        }
        let LockOfRank { window, target, .. } = lock;
        let exclusive = held.exclusive;
        let mut old = Vec::new();
        let at = self.releases.entry((window, target)).or_default();
        old.extend(if exclusive { &mut at.exclusive } else { &mut at.shared }.add(release()));
        if exclusive {
            // A rank that locks all targets waits for this one, too.
            old.extend(self.releases.entry((window, ALL)).or_default().exclusive.add(release()));
        }
        Some(old)
    }

    /// Returns whether certainly no rank has a lock.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty() && self.folded.is_empty()
    }

    /// Returns another rank's last release of a lock that conflicts with one at `target`.
    pub fn waited_for(&self, window: RmaWindow, target: u32, rank: u32, exclusive: bool) -> Option<LockRelease> {
        let own = self.releases.get(&(window, target));
        let mut found = own.and_then(|releases| releases.exclusive.of_other(rank));
        if exclusive {
            let own_and_all = own.into_iter().chain(self.releases.get(&(window, ALL)));
            let shared = own_and_all.filter_map(|releases| releases.shared.of_other(rank));
            found = found.into_iter().chain(shared).max_by_key(|release| release.at);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::what_if::ScenarioClocks;

    #[test]
    fn folded_calls_may_end_with_a_lock_that_the_next_call_gives_back() {
        const LOCK: LockOfRank = LockOfRank { window: (0, 3), target: 1, rank: 1 };
        let mut clocks = ScenarioClocks::new(Vec::new(), 0, 0);
        let mut locks = RmaLocks::default();
        let mut gives_back = |locks: &mut RmaLocks, folded: bool| {
            let release = || LockRelease { world_rank: 1, thread: 1, at: 10, noted: clocks.note(0) };
            locks.unlock(LOCK, folded, release).is_some()
        };
        let lock = |locks: &mut RmaLocks, folded: bool| {
            locks.lock(LOCK, HeldLock { exclusive: false, folded });
        };
        lock(&mut locks, true);
        assert!(gives_back(&mut locks, true) && !locks.is_empty());
        assert!(gives_back(&mut locks, false) && locks.is_empty(), "the one that was not yet given back");
        assert!(!gives_back(&mut locks, false), "there was but one");
        // Where calls are folded from an unlock on, one record of each kind is enough.
        lock(&mut locks, false);
        assert!(gives_back(&mut locks, true));
        lock(&mut locks, true);
        assert!(gives_back(&mut locks, false));
        lock(&mut locks, false);
        assert!(gives_back(&mut locks, false) && locks.is_empty(), "a lock alone begins anew");
    }
}
