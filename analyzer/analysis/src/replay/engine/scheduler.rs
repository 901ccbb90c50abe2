//! Schedules the threads of a replay: orders them by time, and parks those that wait until others have been replayed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use lbprof_collector::record::NONE;
use rustc_hash::FxHashMap;

use crate::model::Model;
use crate::model::region_state::Ns;
use crate::replay::sinks::NewThread;
use crate::replay::thread::{ReplayThread, ResumeOrder};
use crate::replay::timeline::{RankInput, StepBatch, StepSource};

/// Batches of each rank that are read when nothing can go on, in search of what other threads of it did.
const READ_ON: usize = 16;

/// Threads besides the first of each rank that are followed: each takes some 10 kB, and a log may name as many as it has records.
const MOST_OTHERS: usize = 1 << 12;

/// Learns what comes up as logs are read, before the steps that come with it are followed. Ranks are places in the model.
pub trait ReadListener {
    /// Records of a rank are missing.
    fn on_missing_records(&mut self, rank: u32);

    /// Lists of world ranks that further events of a rank name.
    fn on_lists(&mut self, rank: u32, lists: Vec<Arc<[u32]>>);

    /// A further thread begins; its number is the next one.
    fn on_thread_start(&mut self, thread: NewThread);
}

/// A rank, as far as its threads are concerned.
struct ScheduledRank {
    /// The rank in MPI_COMM_WORLD.
    world_rank: u32,
    /// Its threads by number.
    threads: FxHashMap<u32, u32>,
    /// True if it may have threads besides the first.
    has_others: bool,
    /// True if its log is at its end.
    exhausted: bool,
}

/// The threads in the order of time.
pub struct ThreadScheduler<'a, 'scope> {
    source: StepSource<'a, 'scope>,
    ranks: Vec<ScheduledRank>,
    threads: Vec<ReplayThread>,
    /// Threads by when they go on; at the same time what begins is before what ends, which may need it.
    order: BinaryHeap<Reverse<(ResumeOrder, u32)>>,
}

impl<'a, 'scope> ThreadScheduler<'a, 'scope> {
    /// The ranks of `model`, whose steps come from `source`; no thread of theirs has begun.
    pub fn new(source: StepSource<'a, 'scope>, model: &Model) -> Self {
        let ranks = model.ranks.iter().map(|rank| ScheduledRank {
            world_rank: rank.rank,
            threads: FxHashMap::default(),
            has_others: rank.other_threads > 0,
            exhausted: false,
        });
        let (threads, order) = (Vec::with_capacity(model.ranks.len()), BinaryHeap::with_capacity(model.ranks.len()));
        ThreadScheduler { source, ranks: ranks.collect(), threads, order }
    }

    /// Begins the first thread of a rank at a time.
    pub fn begin_rank(&mut self, rank: u32, begin: Ns, reader: &mut impl ReadListener) {
        let thread = self.add_thread(rank, 0, begin, reader);
        self.queue(thread, reader);
    }

    /// Goes on with what ranks do after all that was there so far.
    pub fn add(&mut self, ranks: Vec<RankInput<'scope>>, reader: &mut impl ReadListener) {
        self.source.add(ranks);
        for thread in 0..self.threads.len() as u32 {
            self.threads[thread as usize].ended = false;
            self.queue(thread, reader);
        }
    }

    /// Returns whether a thread waits for others.
    pub fn any_waits(&self) -> bool {
        self.threads.iter().any(|thread| thread.parked)
    }

    /// The threads, by number.
    #[inline]
    pub fn threads(&self) -> &[ReplayThread] {
        &self.threads
    }

    /// A thread, to go on with it.
    #[inline]
    pub fn thread_mut(&mut self, thread: u32) -> &mut ReplayThread {
        &mut self.threads[thread as usize]
    }

    /// Until when all threads that go on have been followed.
    pub fn followed_until(&self) -> Ns {
        self.threads.iter().filter(|thread| !thread.ended).map(|thread| thread.now).min().unwrap_or(0)
    }

    /// The first thread in the order of time, which does not stand there any more.
    pub fn pop_first(&mut self) -> Option<u32> {
        let Reverse((_, thread)) = self.order.pop()?;
        self.threads[thread as usize].queued = false;
        Some(thread)
    }

    /// Returns the time at which the next thread resumes.
    pub fn until(&self) -> ResumeOrder {
        self.order.peek().map_or(ResumeOrder::NEVER, |Reverse((next, _))| *next)
    }

    /// Returns the thread that goes on next, and two of which one goes on after it unless it is a thread that is queued by then.
    pub fn next_threads(&self) -> impl Iterator<Item = u32> {
        self.order.as_slice().iter().take(3).map(|Reverse((_, thread))| *thread)
    }

    /// Puts a thread where its next step belongs; the one that is the first then.
    pub fn put_back(&mut self, thread: u32, reader: &mut impl ReadListener) -> Option<u32> {
        let Some(next) = self.next(thread, reader) else { return self.pop_first() };
        let first = match self.order.peek_mut() {
            // In its place at once, which is less to do than to put one in and to take another out.
            Some(mut place) if place.0 < (next, thread) => std::mem::replace(&mut place.0, (next, thread)).1,
            _ => thread,
        };
        self.threads[first as usize].queued = false;
        Some(first)
    }

    /// A thread cannot go on before others have been followed.
    pub fn park(&mut self, thread: u32) {
        self.threads[thread as usize].parked = true;
    }

    /// A thread goes on, if it was parked.
    pub fn wake(&mut self, thread: u32) {
        let one = &mut self.threads[thread as usize];
        if !std::mem::take(&mut one.parked) || one.queued {
            return;
        }
        // It is within a call, so that its next step is at hand.
        if let Some(next) = one.next {
            one.queued = true;
            self.order.push(Reverse((next, thread)));
        }
    }

    /// Reads further logs when no thread can resume: reads on, for other threads of the ranks may have done what is waited for. Whether
    /// that helped.
    pub fn read_on(&mut self, reader: &mut impl ReadListener) -> bool {
        if !self.any_waits() {
            return false;
        }
        for _ in 0..READ_ON {
            for rank in 0..self.ranks.len() as u32 {
                let one = &self.ranks[rank as usize];
                if one.has_others && !one.exhausted {
                    self.read(rank, reader);
                }
            }
            if !self.order.is_empty() {
                return true;
            }
        }
        false
    }

    /// Lets the first thread that waits for others go on without: what it waits for is not known. Whether there was one.
    pub fn give_up(&mut self) -> bool {
        let parked = (0..).zip(&self.threads).filter(|(_, thread)| thread.parked);
        let Some((thread, _)) = parked.min_by_key(|(_, thread)| thread.next) else { return false };
        self.threads[thread as usize].gives_up = true;
        self.wake(thread);
        true
    }

    /// Puts a thread where its next step belongs in the order of time, with what its rank's log has next where there is none.
    fn queue(&mut self, thread: u32, reader: &mut impl ReadListener) {
        if let Some(next) = self.next(thread, reader) {
            self.order.push(Reverse((next, thread)));
        }
    }

    /// Returns the time at which a thread that is not queued resumes, and reads on in its rank's log if no steps are at hand.
    fn next(&mut self, thread: u32, reader: &mut impl ReadListener) -> Option<ResumeOrder> {
        let at = thread as usize;
        while self.threads[at].next.is_none() && self.threads[at].number == 0 && !self.threads[at].ended {
            let rank = self.threads[at].rank_idx;
            if !self.read(rank, reader) {
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
    fn read(&mut self, rank: u32, reader: &mut impl ReadListener) -> bool {
        let Some(batch) = self.source.next(rank as usize) else {
            self.ranks[rank as usize].exhausted = true;
            return false;
        };
        if batch.gap {
            reader.on_missing_records(rank);
        }
        self.give(rank, batch, reader);
        true
    }

    fn give(&mut self, rank: u32, mut batch: StepBatch, reader: &mut impl ReadListener) {
        if !batch.lists.is_empty() {
            reader.on_lists(rank, std::mem::take(&mut batch.lists));
        }
        let number = batch.thread;
        let known = self.ranks[rank as usize].threads.get(&number).copied();
        if known.is_none() && batch.steps.is_empty() {
            return;
        }
        if known.is_none() && self.threads.len() >= MOST_OTHERS + self.ranks.len() {
            // As if its records were missing.
            return reader.on_missing_records(rank);
        }
        let thread = known.unwrap_or_else(|| {
            let begin = batch.steps.first().map_or(0, |step| step.begin);
            self.add_thread(rank, number, begin, reader)
        });
        self.threads[thread as usize].add(batch);
        if number != 0 {
            self.queue(thread, reader);
        }
    }

    fn add_thread(&mut self, rank_idx: u32, number: u32, begin: Ns, reader: &mut impl ReadListener) -> u32 {
        let thread = self.threads.len() as u32;
        let world_rank = self.ranks.get(rank_idx as usize).map_or(NONE, |rank| rank.world_rank);
        self.threads.push(ReplayThread::new(rank_idx, world_rank, number, begin));
        self.ranks[rank_idx as usize].threads.insert(number, thread);
        reader.on_thread_start(NewThread { rank_idx, world_rank, number, begin, goes_on: None });
        thread
    }
}
