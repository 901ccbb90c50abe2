//! Schedules the threads of a replay: orders them by time, and parks those that wait until others have been replayed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use lbprof_collector::record::NONE;
use rustc_hash::FxHashMap;

use crate::model::Model;
use crate::model::code::region_state::Ns;
use crate::replay::cut::consistent_cut::ConsistentCut;
use crate::replay::matching::EventMatcher;
use crate::replay::observers::scope::ReplayScope;
use crate::replay::sinks::{ContinuedThread, EventSinks, NewThread};
use crate::replay::thread::{ReplayThread, ResumeOrder};
use crate::replay::timeline::StepSource;

/// Maximum number of batches of each rank that are read when no thread can resume, in search of other threads' events.
const READ_ON: usize = 16;

/// Maximum number of threads besides the ranks' first ones. Each takes about 10 kB, and a log may name as many as it has records.
const MOST_OTHERS: usize = 1 << 12;

/// The receivers of facts that come up as logs are read, before the steps that come with them are replayed.
pub struct NewcomerSinks<'m, 'a, 'scope> {
    pub scope: &'m ReplayScope,
    /// State of the ranks at the start of the segment, or `None` at the start of the run.
    pub from: Option<&'a ConsistentCut>,
    pub matcher: &'m mut EventMatcher<'a>,
    pub sinks: &'m mut EventSinks<'a, 'scope>,
}

struct ScheduledRank {
    world_rank: u32,
    threads: FxHashMap<u32, u32>,
    has_others: bool,
    exhausted: bool,
}

pub struct ThreadScheduler<'a, 'scope> {
    source: StepSource<'a, 'scope>,
    ranks: Vec<ScheduledRank>,
    pub threads: Vec<ReplayThread>,
    /// Threads by when they resume; at the same time what begins is before what ends, which may need it.
    order: BinaryHeap<Reverse<(ResumeOrder, u32)>>,
}

impl<'a, 'scope> ThreadScheduler<'a, 'scope> {
    /// Creates the scheduler of the ranks of `model`, whose steps come from `source`, without threads.
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

    pub fn begin_rank(&mut self, rank: u32, begin: Ns, newcomers: &mut NewcomerSinks) {
        let thread = self.add_thread(rank, 0, begin, newcomers);
        self.queue(thread, newcomers);
    }

    pub fn any_waits(&self) -> bool {
        self.threads.iter().any(|thread| thread.parked)
    }

    /// Returns the time up to which all threads that continue were replayed.
    pub fn followed_until(&self) -> Ns {
        self.threads.iter().filter(|thread| !thread.ended).map(|thread| thread.now).min().unwrap_or(0)
    }

    /// Takes the first thread out of the queue.
    pub fn pop_first(&mut self) -> Option<u32> {
        let Reverse((_, thread)) = self.order.pop()?;
        self.threads[thread as usize].queued = false;
        Some(thread)
    }

    pub fn until(&self) -> ResumeOrder {
        self.order.peek().map_or(ResumeOrder::NEVER, |Reverse((next, _))| *next)
    }

    /// Puts a thread back, and takes the first one out of the queue.
    pub fn put_back(&mut self, thread: u32, newcomers: &mut NewcomerSinks) -> Option<u32> {
        let Some(next) = self.next(thread, newcomers) else { return self.pop_first() };
        let first = match self.order.peek_mut() {
            // Replacing the first is faster than a push and a pop.
            Some(mut place) if place.0 < (next, thread) => std::mem::replace(&mut place.0, (next, thread)).1,
            _ => thread,
        };
        self.threads[first as usize].queued = false;
        Some(first)
    }

    pub fn wake(&mut self, thread: u32) {
        let one = &mut self.threads[thread as usize];
        if !std::mem::take(&mut one.parked) || one.queued {
            return;
        }
        // It is in a call, so that its next event is known.
        if let Some(next) = one.next {
            one.queued = true;
            self.order.push(Reverse((next, thread)));
        }
    }

    /// Reads on in the logs when no thread can resume, because other threads of the ranks may satisfy the needs. Returns whether that helped.
    pub fn read_on(&mut self, newcomers: &mut NewcomerSinks) -> bool {
        if !self.any_waits() {
            return false;
        }
        for _ in 0..READ_ON {
            for rank in 0..self.ranks.len() as u32 {
                let one = &self.ranks[rank as usize];
                if one.has_others && !one.exhausted {
                    self.read(rank, newcomers);
                }
            }
            if !self.order.is_empty() {
                return true;
            }
        }
        false
    }

    /// Lets the first thread that waits for others resume without them: its needs are not known. Returns whether there was one.
    pub fn give_up(&mut self) -> bool {
        let parked = (0..).zip(&self.threads).filter(|(_, thread)| thread.parked);
        let Some((thread, _)) = parked.min_by_key(|(_, thread)| thread.next) else { return false };
        self.threads[thread as usize].gives_up = true;
        self.wake(thread);
        true
    }

    /// Puts a thread into the queue, and reads on in its rank's log if no steps are at hand.
    fn queue(&mut self, thread: u32, newcomers: &mut NewcomerSinks) {
        if let Some(next) = self.next(thread, newcomers) {
            self.order.push(Reverse((next, thread)));
        }
    }

    /// Returns the time at which a thread that is not queued resumes, and reads on in its rank's log if no steps are at hand.
    fn next(&mut self, thread: u32, newcomers: &mut NewcomerSinks) -> Option<ResumeOrder> {
        let at = thread as usize;
        while self.threads[at].next.is_none() && self.threads[at].number == 0 && !self.threads[at].ended {
            let rank = self.threads[at].rank_idx;
            if !self.read(rank, newcomers) {
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

    /// Reads a rank's next batch, of any thread. Returns whether there was one.
    fn read(&mut self, rank: u32, newcomers: &mut NewcomerSinks) -> bool {
        let Some(mut batch) = self.source.next(rank as usize) else {
            self.ranks[rank as usize].exhausted = true;
            return false;
        };
        newcomers.matcher.add_lists(rank, std::mem::take(&mut batch.lists));
        let number = batch.thread;
        let known = self.ranks[rank as usize].threads.get(&number).copied();
        let is_too_much = known.is_none() && self.threads.len() >= MOST_OTHERS + self.ranks.len();
        if batch.gap || is_too_much && !batch.steps.is_empty() {
            newcomers.matcher.mark_incomplete(rank);
        }
        if is_too_much || known.is_none() && batch.steps.is_empty() {
            return true;
        }
        let thread = known.unwrap_or_else(|| {
            let begin = batch.steps.first().map_or(0, |step| step.begin);
            self.add_thread(rank, number, begin, newcomers)
        });
        self.threads[thread as usize].add(batch);
        if number != 0 {
            self.queue(thread, newcomers);
        }
        true
    }

    fn add_thread(&mut self, rank_idx: u32, number: u32, begin: Ns, newcomers: &mut NewcomerSinks) -> u32 {
        let thread = self.threads.len() as u32;
        let world_rank = self.ranks.get(rank_idx as usize).map_or(NONE, |rank| rank.world_rank);
        self.threads.push(ReplayThread::new(rank_idx, world_rank, number, begin));
        self.ranks[rank_idx as usize].threads.insert(number, thread);
        let at_cut = newcomers.from.filter(|_| number == 0);
        let goes_on = at_cut
            .and_then(|cut| Some(ContinuedThread { since: cut.last, kind: cut.ranks.get(rank_idx as usize)?.kind }));
        let new = NewThread { rank_idx, world_rank, number, begin, goes_on };
        newcomers.matcher.add_thread(new);
        newcomers.sinks.on_thread_start(new, newcomers.scope.rank_window(rank_idx));
        thread
    }
}
