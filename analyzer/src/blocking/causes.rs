//! What a wait is caused by ("Causes of Blocking Overhead in Message-Passing Programs" (2003), §§3–4; METRICS §4).
//!
//! ```text
//!            T*                        wait
//!   a   ─────|==== x 5 ====|== y 2 ==|.......|        b ended it: since both were synchronised last, at T*,
//!   b   ─────|======== x 9 ========|= y 1 =|s→|       x takes 4 more on b's path than on a's, y 1 less, so x on b
//!                                                     is the cause. Waits on a path are replaced by their causes.
//! ```

use super::history::{EndedBy, History, Part};
use crate::timeline::{Kind, Ns};

/// Most causes that are kept of one wait, and the smallest share of it that is kept. What smaller ones caused is shared out among those
/// that are kept.
const MOST_CAUSES: usize = 24;
const LEAST_SHARE: f64 = 1.0 / 512.0;

/// Most parts of a path that are looked through for one of the same thread and kind; beyond, they are sorted.
const LOOKED_THROUGH: usize = 24;

/// Who ends a wait, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Causer {
    /// Who ended it, and when he did what it waited for.
    pub by: EndedBy,
    /// The last time at which both were synchronised.
    pub since: Ns,
    /// The part of the wait that he answers for, 0..=1; the parts of all who end it add up to 1.
    pub share: f64,
    /// What comes behind what he did, until the wait is over: a message's delay.
    pub delay: Option<Kind>,
}

/// Finds causes of waits. It only keeps room between calls.
#[derive(Default)]
pub struct Causes {
    own: Path,
    other: Path,
    found: Path,
}

impl Causes {
    /// The causes of a wait of `thread` from `begin` to `end`, the largest first; their sum is its length.
    ///
    /// Time that the same thread spent in the same kind cancels first, as where both waited for it; then what each of both did
    /// itself, kind by kind; then what is left of a kind, on whatever threads, in proportion.
    pub fn of(&mut self, histories: &[History], thread: u32, (begin, end): (Ns, Ns), causers: &[Causer]) -> &[Part] {
        self.found.0.clear();
        for causer in causers {
            let ns = (end - begin) as f64 * causer.share;
            if ns > 0.0 {
                self.blame(histories, thread, (begin, end), causer, ns);
            }
        }
        if causers.len() > 1 {
            self.found.sum_up();
        }
        self.found.keep_the_largest();
        &self.found.0
    }

    /// Adds the causes of `ns` nanoseconds of the wait, which `causer` answers for.
    fn blame(&mut self, histories: &[History], thread: u32, (begin, end): (Ns, Ns), causer: &Causer, ns: f64) {
        let by = causer.by;
        let (Some(own), Some(other)) = (histories.get(thread as usize), histories.get(by.thread as usize)) else {
            return;
        };
        let since = causer.since.max(own.begin()).max(other.begin());
        self.own.follow(thread, own, since, begin);
        let at = by.at.min(end);
        self.other.follow(by.thread, other, since, at);
        if let Some(kind) = causer.delay.filter(|_| end > at) {
            self.other.0.push(Part { thread: by.thread, kind, ns: (end - at.max(since)) as f64 });
        }
        self.own.sum_up();
        self.other.sum_up();
        cancel(&mut self.own.0, &mut self.other.0, (thread, by.thread));
        let total: f64 = self.other.0.iter().map(|part| part.ns).sum();
        if total > 0.0 {
            let scaled = self.other.0.iter().filter(|part| part.ns > 0.0);
            self.found.0.extend(scaled.map(|part| Part { ns: part.ns / total * ns, ..*part }));
        } else {
            // Nothing is known of what he did: the wait is of that which he did last.
            let last = other.backwards(Ns::MIN, at).next().map_or(Kind::unknown(0), |piece| piece.kind);
            self.found.0.push(Part { thread: by.thread, kind: last, ns });
        }
    }
}

/// A path's time by kind and thread.
#[derive(Default)]
struct Path(Vec<Part>);

impl Path {
    /// Makes it what a thread did from `from` to `to`, its waits as what caused them.
    fn follow(&mut self, thread: u32, history: &History, from: Ns, to: Ns) {
        self.0.clear();
        for piece in history.backwards(from, to) {
            let length = (piece.end - piece.begin) as f64;
            match piece.wait {
                None => self.add(Part { thread, kind: piece.kind, ns: length }),
                Some((_, causes)) => {
                    let share = length / piece.whole as f64;
                    causes.iter().for_each(|part| self.add(Part { ns: part.ns * share, ..*part }));
                }
            }
        }
    }

    /// Adds a part, mostly to one of the same thread and kind: paths repeat themselves.
    #[inline]
    fn add(&mut self, part: Part) {
        let known = self.0.iter_mut().take(LOOKED_THROUGH);
        match known.into_iter().find(|one| one.kind == part.kind && one.thread == part.thread) {
            Some(same) => same.ns += part.ns,
            None => self.0.push(part),
        }
    }

    /// Sorts it by kind and thread, each once.
    fn sum_up(&mut self) {
        self.0.sort_unstable_by_key(|part| (part.kind, part.thread));
        self.0.dedup_by(|next, kept| {
            let same = (next.kind, next.thread) == (kept.kind, kept.thread);
            if same {
                kept.ns += next.ns;
            }
            same
        });
    }

    /// Sorted by size; the smallest beyond a number are shared out among the others.
    fn keep_the_largest(&mut self) {
        let largest = |a: &Part, b: &Part| b.ns.total_cmp(&a.ns).then((a.thread, a.kind).cmp(&(b.thread, b.kind)));
        self.0.sort_unstable_by(largest);
        let all: f64 = self.0.iter().map(|part| part.ns).sum();
        let most = self.0.partition_point(|part| part.ns >= LEAST_SHARE * all).clamp(1, MOST_CAUSES);
        if most < self.0.len() {
            self.0.truncate(most);
            let kept: f64 = self.0.iter().map(|part| part.ns).sum();
            self.0.iter_mut().for_each(|part| part.ns *= all / kept);
        }
    }
}

/// Takes from `other` what is in `own`, too; both are sorted by kind and thread, each once. `threads` are those whose paths they are.
fn cancel(own: &mut [Part], other: &mut [Part], threads: (u32, u32)) {
    let (mut i, mut j) = (0, 0);
    while i < own.len() && j < other.len() {
        let (a, b) = (own[i].kind, other[j].kind);
        if a < b {
            i += 1;
        } else if b < a {
            j += 1;
        } else {
            let to_i = i + own[i..].partition_point(|part| part.kind == a);
            let to_j = j + other[j..].partition_point(|part| part.kind == a);
            cancel_kind(&mut own[i..to_i], &mut other[j..to_j], threads);
            (i, j) = (to_i, to_j);
        }
    }
}

/// The same of one kind.
fn cancel_kind(own: &mut [Part], other: &mut [Part], threads: (u32, u32)) {
    let mut i = 0;
    for part in other.iter_mut() {
        while i < own.len() && own[i].thread < part.thread {
            i += 1;
        }
        if let Some(same) = own.get_mut(i).filter(|one| one.thread == part.thread) {
            take_both(same, part);
        }
    }
    let mine = own.iter_mut().find(|part| part.thread == threads.0);
    let his = other.iter_mut().find(|part| part.thread == threads.1);
    if let (Some(mine), Some(his)) = (mine, his) {
        take_both(mine, his);
    }
    let all = |parts: &[Part]| parts.iter().map(|part| part.ns).sum::<f64>();
    let (own, theirs) = (all(own), all(other));
    if own > 0.0 && theirs > 0.0 {
        let remains = (theirs - own).max(0.0) / theirs;
        other.iter_mut().for_each(|part| part.ns *= remains);
    }
}

fn take_both(a: &mut Part, b: &mut Part) {
    let common = a.ns.min(b.ns);
    a.ns -= common;
    b.ns -= common;
}

#[cfg(test)]
mod tests {
    use lbprof_collector::Activity;

    use super::*;

    const X: Kind = Kind(1 << 4);
    const Y: Kind = Kind(2 << 4);

    fn history(stretches: &[(Ns, Kind)]) -> History {
        let mut history = History::new(0);
        stretches.iter().for_each(|&(end, kind)| history.spend(end, kind));
        history
    }

    fn causer(thread: u32, at: Ns) -> Causer {
        Causer { by: EndedBy { thread, at }, since: 0, share: 1.0, delay: None }
    }

    fn causes(histories: &[History], thread: u32, wait: (Ns, Ns), causers: &[Causer]) -> Vec<(u32, Kind, f64)> {
        let mut causes = Causes::default();
        let found = causes.of(histories, thread, wait, causers);
        found.iter().map(|part| (part.thread, part.kind, part.ns)).collect()
    }

    #[test]
    fn what_both_did_as_long_cancels() {
        assert_eq!(Kind::new(1, Activity::Computation), X);
        let histories = [history(&[(5, X), (7, Y)]), history(&[(9, X), (10, Y)])];
        assert_eq!(causes(&histories, 0, (7, 10), &[causer(1, 10)]), [(1, X, 3.0)]);
    }

    #[test]
    fn excesses_are_reduced_in_proportion() {
        // b did 6 more of x and 3 more of y than a, which did 6 of z: a waits for 3.
        let z = Kind(3 << 4);
        let histories = [history(&[(6, z)]), history(&[(6, X), (9, Y)])];
        assert_eq!(causes(&histories, 0, (6, 9), &[causer(1, 9)]), [(1, X, 2.0), (1, Y, 1.0)]);
    }

    #[test]
    fn a_wait_on_the_path_is_replaced_by_its_causes() {
        let mut middle = history(&[(2, X)]);
        middle.wait(8, Y, None, &[Part { thread: 2, kind: X, ns: 6.0 }]);
        let histories = [history(&[(2, X)]), middle];
        assert_eq!(causes(&histories, 0, (2, 8), &[causer(1, 8)]), [(2, X, 6.0)]);
    }

    #[test]
    fn what_both_waited_for_cancels_first() {
        // Both waited 5 for thread 2's x; b then did 3 more of x than a.
        let waited = |more: Ns| {
            let mut history = History::new(0);
            history.wait(5, Y, None, &[Part { thread: 2, kind: X, ns: 5.0 }]);
            history.spend(5 + more, X);
            history
        };
        let histories = [waited(1), waited(4)];
        assert_eq!(causes(&histories, 0, (6, 9), &[causer(1, 9)]), [(1, X, 3.0)]);
    }

    #[test]
    fn several_share_a_wait() {
        let histories = [history(&[(1, Y)]), history(&[(5, X)]), history(&[(3, X)])];
        let share = |thread, at, share| Causer { share, ..causer(thread, at) };
        let found = causes(&histories, 0, (1, 5), &[share(1, 5, 0.75), share(2, 3, 0.25)]);
        assert_eq!(found, [(1, X, 3.0), (2, X, 1.0)]);
    }

    #[test]
    fn a_message_on_its_way_is_a_delay() {
        let histories = [history(&[(1, X)]), history(&[(1, X)])];
        let late = Causer { delay: Some(Kind::delay(1)), ..causer(1, 1) };
        assert_eq!(causes(&histories, 0, (1, 4), &[late]), [(1, Kind::delay(1), 3.0)]);
    }

    #[test]
    fn the_smallest_of_very_many_are_shared_out() {
        let mut other = History::new(0);
        for i in 0..100 {
            other.spend((i + 1) * 10, Kind((i as u32 + 1) << 4));
        }
        let histories = [History::new(0), other];
        let found = causes(&histories, 0, (0, 1000), &[causer(1, 1000)]);
        assert_eq!(found.len(), MOST_CAUSES);
        assert!((found.iter().map(|one| one.2).sum::<f64>() - 1000.0).abs() < 1e-9);
    }
}
