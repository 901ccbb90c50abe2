//! Which thread goes on next, and what it does then.

use std::cmp::Reverse;

use super::Engine;
use crate::replay::thread::Next;
use crate::replay::timeline::Batch;

/// Batches of each rank that are read when nothing can go on, in search of what other threads of it did.
const READ_ON: usize = 16;

/// Threads besides the first of each rank that are followed: each takes some 10 kB, and a log may name as many as it has records.
const MOST_OTHERS: usize = 1 << 12;

impl Engine<'_, '_> {
    /// Puts a thread where its next step belongs in the order of time, with what its rank's log has next where there is none.
    pub(super) fn queue(&mut self, thread: u32) {
        if let Some(next) = self.next(thread) {
            self.order.push(Reverse((next, thread)));
        }
    }

    /// When a thread goes on that does not stand in the order of time and will now: with what its rank's log has next where there is nothing
    /// at hand.
    pub(super) fn next(&mut self, thread: u32) -> Option<Next> {
        let at = thread as usize;
        while self.threads[at].next.is_none() && self.threads[at].number == 0 && !self.threads[at].ended {
            let rank = self.threads[at].rank;
            if !self.read(rank) {
                self.threads[at].ended = true;
            }
        }
        let one = &mut self.threads[at];
        if one.parked || one.queued {
            return None;
        }
        let next = one.next?;
        one.queued = true;
        Some(next)
    }

    /// Reads a rank's next batch, of whatever thread; whether there was one.
    fn read(&mut self, rank: u32) -> bool {
        let Some(batch) = self.source.next(rank as usize) else {
            self.ranks[rank as usize].exhausted = true;
            return false;
        };
        if batch.gap && !self.ranks[rank as usize].broken {
            self.ranks[rank as usize].broken = true;
            self.expected.clear();
        }
        self.give(rank, batch);
        true
    }

    fn give(&mut self, rank: u32, mut batch: Batch) {
        self.ranks[rank as usize].lists.append(&mut batch.lists);
        let number = batch.thread;
        let known = self.ranks[rank as usize].threads.get(&number).copied();
        if known.is_none() && batch.steps.is_empty() {
            return;
        }
        if known.is_none() && self.threads.len() >= MOST_OTHERS + self.ranks.len() {
            // As if its records were missing.
            self.ranks[rank as usize].broken = true;
            self.expected.clear();
            return;
        }
        let thread = known.unwrap_or_else(|| {
            let begin = batch.steps.first().map_or(0, |step| step.begin);
            self.add_thread(rank, number, begin)
        });
        self.threads[thread as usize].add(batch);
        if number != 0 {
            self.queue(thread);
        }
    }

    /// The first thread in the order of time, which does not stand there any more.
    pub(super) fn first(&mut self) -> Option<u32> {
        let Reverse((_, thread)) = self.order.pop()?;
        self.threads[thread as usize].queued = false;
        Some(thread)
    }

    /// Goes on with the thread that was the first until another is, or until it waits for others to be followed; that which is then.
    pub(super) fn go_on(&mut self, thread: u32) -> Option<u32> {
        let until = self.order.peek().map_or(Next::NEVER, |Reverse((next, _))| *next);
        loop {
            let one = &self.threads[thread as usize];
            match one.next {
                Some(next) if next > until => break,
                Some(_) if one.in_call => {
                    if !self.end(thread) {
                        return self.first();
                    }
                }
                Some(_) => self.begin(thread),
                None if one.number == 0 && !one.ended => break,
                None => return self.first(),
            }
        }
        let Some(next) = self.next(thread) else { return self.first() };
        let first = match self.order.peek_mut() {
            // In its place at once, which is less to do than to put one in and to take another out.
            Some(mut place) if place.0 < (next, thread) => std::mem::replace(&mut place.0, (next, thread)).1,
            _ => thread,
        };
        self.threads[first as usize].queued = false;
        Some(first)
    }

    pub(super) fn wake(&mut self, thread: u32) {
        let one = &mut self.threads[thread as usize];
        if one.parked {
            one.parked = false;
            self.queue(thread);
        }
    }

    /// Where nothing can go on: reads on, for other threads of the ranks may have done what is waited for. Whether that helped.
    pub(super) fn read_on(&mut self) -> bool {
        if !self.threads.iter().any(|thread| thread.parked) {
            return false;
        }
        for _ in 0..READ_ON {
            for rank in 0..self.ranks.len() as u32 {
                let has_others = self.model.ranks[rank as usize].other_threads > 0;
                if has_others && !self.ranks[rank as usize].exhausted {
                    self.read(rank);
                }
            }
            if !self.order.is_empty() {
                return true;
            }
        }
        false
    }

    /// Lets the first thread that waits for others go on without: what it waits for is not known. Whether there was one.
    pub(super) fn give_up(&mut self) -> bool {
        let parked = (0..).zip(&self.threads).filter(|(_, thread)| thread.parked);
        let Some((thread, _)) = parked.min_by_key(|(_, thread)| thread.next) else { return false };
        self.threads[thread as usize].gives_up = true;
        self.wake(thread);
        true
    }
}
