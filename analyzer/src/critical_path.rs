//! The critical path: the chain of computation, messages and calls that set the run's time.
//!
//! It is followed backwards from the end of the last rank. Where the thread waited, the path goes on with who ended the wait, at the time
//! at which he did; between lies the message's delay. So all its parts together are as long as the run.
//!
//! ```text
//!   rank 0   |== compute ==|send|= compute =|            the end: from here back to the wait of rank 1, from
//!   rank 1   |= c =|... recv wait ..|====== compute ======|  there to the send of rank 0, and so on to the begin
//! ```
//!
//! Histories are kept only so far back. So from time to time the paths up to a time are summed up, one for each thread.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::blocking::{Doing, Doings, History};
use crate::timeline::{Kind, Ns};

/// A part of the critical path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnPath {
    /// The thread.
    pub thread: u32,
    /// The kind of its time.
    pub kind: Kind,
    /// Nanoseconds.
    pub ns: f64,
}

/// Nanoseconds on a path, by thread and kind.
type Sums = FxHashMap<(u32, Kind), f64>;

/// What is needed to sum up a path, empty between paths: these may be many, of as many threads.
#[derive(Default)]
struct Room {
    /// Nanoseconds by number of what is done, and what of it is on the path.
    spent: Vec<f64>,
    on_path: Vec<Doing>,
    /// How far into its history it was gone back, by thread, and which were.
    reach: Vec<usize>,
    visited: Vec<u32>,
}

/// The paths to the begin of all histories.
#[derive(Debug, Default)]
pub struct CriticalPath {
    /// Where paths begin.
    from: Ns,
    /// By thread; a thread that is not here has none.
    until_begin: Vec<Arc<Sums>>,
}

impl CriticalPath {
    /// No paths yet; all begin at `from`.
    pub fn new(from: Ns) -> Self {
        CriticalPath { from, until_begin: Vec::new() }
    }

    /// The path to what a thread does at a time, in no order, each thread and kind once.
    pub fn to(&self, doings: &Doings, histories: &[History], thread: u32, time: Ns) -> Vec<OnPath> {
        let sums = self.sums(&mut Room::default(), doings, histories, thread, time);
        let mut parts: Vec<OnPath> = sums.into_iter().map(|((thread, kind), ns)| OnPath { thread, kind, ns }).collect();
        parts.sort_by_key(|part| (part.thread, part.kind));
        parts
    }

    /// Sums up the paths to `time`, so that what is before it can be forgotten.
    pub fn sum_up(&mut self, doings: &Doings, histories: &[History], time: Ns) {
        let mut room = Room::default();
        let threads = 0..histories.len() as u32;
        let sums = threads.map(|thread| Arc::new(self.sums(&mut room, doings, histories, thread, time)));
        self.until_begin = sums.collect();
    }

    fn sums(&self, room: &mut Room, doings: &Doings, histories: &[History], thread: u32, time: Ns) -> Sums {
        let mut sums = Sums::default();
        room.spent.resize(doings.all().len(), 0.0);
        room.reach.resize(histories.len(), usize::MAX);
        let (mut thread, mut time) = (thread, time);
        // A wait in a collective ends when the last one enters, so the path may change over without going back in time; damaged clocks
        // may let threads wait for each other in a circle.
        let mut changes_at_once = 0;
        'thread: while let Some(history) = histories.get(thread as usize) {
            let reach = &mut room.reach[thread as usize];
            if *reach == usize::MAX {
                room.visited.push(thread);
            }
            *reach = history.reach(*reach, time);
            for piece in history.pieces_of(*reach, self.from, time) {
                let by = piece.wait.and_then(|(by, _)| by).filter(|by| by.thread != thread && by.at <= piece.end);
                match by {
                    Some(by)
                        if (by.at >= piece.begin || piece.end - piece.begin == piece.whole)
                            && (by.at < time || changes_at_once < histories.len()) =>
                    {
                        let begin = histories.get(by.thread as usize).map_or(Ns::MIN, History::begin);
                        let at = by.at.max(begin).max(self.from).min(piece.end);
                        // From the send to the end of the wait the message was on its way.
                        if at < piece.end {
                            let kind = doings.get(piece.doing).1;
                            *sums.entry((by.thread, Kind::delay(kind.region()))).or_default() +=
                                (piece.end - at) as f64;
                        }
                        changes_at_once = if at < time { 0 } else { changes_at_once + 1 };
                        (thread, time) = (by.thread, at);
                        continue 'thread;
                    }
                    _ => {
                        let spent = &mut room.spent[piece.doing.at()];
                        if *spent == 0.0 {
                            room.on_path.push(piece.doing);
                        }
                        *spent += (piece.end - piece.begin) as f64;
                    }
                }
            }
            if let Some(before) = self.until_begin.get(thread as usize) {
                before.iter().for_each(|(&key, &ns)| *sums.entry(key).or_default() += ns);
            }
            break;
        }
        for doing in room.on_path.drain(..) {
            *sums.entry(doings.get(doing)).or_default() += std::mem::take(&mut room.spent[doing.at()]);
        }
        room.visited.drain(..).for_each(|thread| room.reach[thread as usize] = usize::MAX);
        sums
    }
}

#[cfg(test)]
mod tests {
    use lbprof_collector::Activity;

    use super::*;
    use crate::blocking::EndedBy;

    fn computation(region: u32) -> Kind {
        Kind::new(region, Activity::Computation)
    }

    #[test]
    fn a_wait_at_a_barrier_leads_to_the_last_that_entered() {
        // 0 |= 3 =|... barrier ...|= 2 =|
        // 1 |====== 10 ======|b|
        let barrier = Kind::new(0, Activity::Synchronization);
        let mut doings = Doings::default();
        let mut first = History::new(0);
        first.spend(3, doings.of(0, computation(1)));
        first.wait(10, doings.of(0, barrier));
        first.explain(Some(EndedBy { thread: 1, at: 10 }), &[]);
        first.spend(12, doings.of(0, computation(2)));
        let mut last = History::new(0);
        last.spend(10, doings.of(1, computation(1)));
        let path = CriticalPath::default().to(&doings, &[first, last], 0, 12);
        let found: Vec<_> = path.iter().map(|part| (part.thread, part.kind, part.ns)).collect();
        assert_eq!(found, [(0, computation(2), 2.0), (1, computation(1), 10.0)]);
    }

    #[test]
    fn a_circle_of_waits_ends() {
        let kind = Kind::new(0, Activity::Synchronization);
        let mut doings = Doings::default();
        let mut waits_for = |thread: u32| {
            let mut history = History::new(0);
            history.wait(5, doings.of(1 - thread, kind));
            history.explain(Some(EndedBy { thread, at: 5 }), &[]);
            history
        };
        let histories = [waits_for(1), waits_for(0)];
        let path = CriticalPath::default().to(&doings, &histories, 0, 5);
        assert_eq!(path.iter().map(|part| part.ns).sum::<f64>(), 5.0);
    }
}
