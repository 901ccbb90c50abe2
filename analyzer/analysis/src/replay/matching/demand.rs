//! Recognises work that is handed out on demand: a rank receives from any source and answers the sender, which computes and asks again; or ranks
//! take the next number from a counter in a window of one of them, and compute.
//!
//! ```text
//!   master   |recv any|send 1|recv any|send 2| …          the first rank to ask gets the next piece of work
//!   rank 1   |send 0|recv|== compute ==|send 0|recv| …
//!
//!   rank 1   |fetch 0|== compute ==|fetch 0|= compute =|fetch 0| …
//!   rank 2   |fetch 0|= compute =|fetch 0|==== compute ====| …
//! ```
//!
//! The assignment of work depends on the order in which ranks ask. A replay keeps the recorded order, so it cannot predict the assignment if
//! ranks computed for a longer or shorter time. Ranks that communicate with others between an answer and their next request, in a
//! collective or by messages, do not get their work that way: the answering rank is a server, e.g. for output.

use std::collections::{BTreeMap, BTreeSet};

use bincode::{Decode, Encode};

use crate::model::region_state::Ns;
use crate::model::replay_results::{LastTasks, TasksOnDemand};
use crate::partial_result::PartialResult;

/// Less than 1/N of the computation is negligible.
const SMALL: Ns = 20;

#[derive(Debug, Default)]
pub struct WorkDemands {
    threads: Vec<ThreadDemand>,
    /// The sums so far, without those by thread.
    sums: OnDemand,
}

#[derive(Clone, Copy, Debug, Default)]
struct ThreadDemand {
    world_rank: u32,
    /// The last thread that asked it, by a message from any source, and has no answer yet.
    asked_by: Option<u32>,
    /// The last thread that answered it, and the computation until then.
    answered: Option<(u32, Ns)>,
    /// The world rank whose window it last took a number from, and the computation until then.
    fetched: Option<(u32, Ns)>,
    computed: Ns,
    last_task: Ns,
    last_tasks: TaskSums,
}

impl WorkDemands {
    pub fn add_thread(&mut self, world_rank: u32) {
        self.threads.push(ThreadDemand { world_rank, ..ThreadDemand::default() });
    }

    /// Records that a thread received a message from any source, which may be a request for work.
    pub fn record_request(&mut self, thread: u32, by: u32) {
        let asking = self.threads.get(by as usize).and_then(|asking| asking.answered);
        if let Some((_, since)) = asking.filter(|&(last, _)| last == thread) {
            self.end_task(by, since);
            self.threads[by as usize].answered = None;
        }
        self.threads[thread as usize].asked_by = Some(by);
    }

    /// Records that a thread sends to a world rank, which is an answer if that rank asked last.
    pub fn record_answer(&mut self, thread: u32, to: u32) {
        let Some(by) = self.threads[thread as usize].asked_by else { return };
        if let Some(asked) = self.threads.get_mut(by as usize).filter(|asked| asked.world_rank == to) {
            asked.answered = Some((thread, asked.computed));
            self.threads[thread as usize].asked_by = None;
        }
    }

    /// Records that a thread reads and changes a number in the window of a world rank, which may be one of the next piece of work.
    pub fn record_fetch(&mut self, thread: u32, target: u32) {
        let ThreadDemand { fetched, computed, .. } = self.threads[thread as usize];
        if let Some((_, since)) = fetched.filter(|&(last, _)| last == target) {
            self.end_task(thread, since);
            self.sums.hosts.insert(target);
        }
        self.threads[thread as usize].fetched = Some((target, computed));
    }

    fn end_task(&mut self, thread: u32, since: Ns) {
        let ThreadDemand { computed, last_task, .. } = &mut self.threads[thread as usize];
        let task = *computed - since;
        self.sums.on_demand += task;
        if task > 0 {
            self.sums.tasks += 1;
            *last_task = task;
        }
    }

    /// Records that a thread received another message, from `by`, or took part in a collective operation. Requests from before a
    /// collective operation get no answer after it.
    pub fn record_other_exchange(&mut self, thread: u32, by: Option<u32>) {
        let ThreadDemand { answered, asked_by, fetched, last_task, last_tasks, .. } =
            &mut self.threads[thread as usize];
        *fetched = None;
        if by.is_none() {
            *asked_by = None;
            last_tasks.count(std::mem::take(last_task));
        }
        if answered.is_some_and(|(last, _)| by != Some(last)) {
            *answered = None;
        }
    }

    #[inline]
    pub fn add_computation(&mut self, thread: u32, ns: Ns) {
        self.threads[thread as usize].computed += ns;
    }

    pub fn finish(self) -> OnDemand {
        let mut all = self.sums;
        for ThreadDemand { world_rank, computed, last_task, mut last_tasks, .. } in self.threads {
            all.computed += computed;
            last_tasks.count(last_task);
            if last_tasks.tasks > 0 {
                all.last.entry(world_rank).or_default().add(last_tasks);
            }
        }
        all
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
struct TaskSums {
    tasks: u64,
    time: Ns,
}

impl TaskSums {
    fn count(&mut self, task: Ns) {
        if task > 0 {
            self.add(TaskSums { tasks: 1, time: task });
        }
    }

    fn add(&mut self, other: TaskSums) {
        self.tasks += other.tasks;
        self.time += other.time;
    }
}

/// Work that was handed out on demand, of all work, in nanoseconds.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct OnDemand {
    /// Nanoseconds computed between an answer of a rank that answers whoever asked it first, and the next request to it; or between two fetches from
    /// the same rank.
    on_demand: Ns,
    computed: Ns,
    /// Number of intervals of such computation.
    tasks: u64,
    /// The world ranks whose windows hold the counters that tasks were taken from.
    hosts: BTreeSet<u32>,
    /// By world rank, its last tasks before collective operations and the end.
    last: BTreeMap<u32, TaskSums>,
}

impl PartialResult for OnDemand {
    fn merge(mut self, after: OnDemand) -> OnDemand {
        for (rank, sums) in after.last {
            self.last.entry(rank).or_default().add(sums);
        }
        self.hosts.extend(after.hosts);
        self.on_demand += after.on_demand;
        self.computed += after.computed;
        self.tasks += after.tasks;
        self
    }
}

impl OnDemand {
    pub fn is_considerable(&self) -> bool {
        self.on_demand > 0 && SMALL * self.on_demand >= self.computed
    }

    pub fn tasks(&self) -> TasksOnDemand {
        let last = self.last.iter();
        let last = last.map(|(&rank, sums)| LastTasks { rank, tasks: sums.tasks, total_s: sums.time as f64 * 1e-9 });
        TasksOnDemand {
            tasks: self.tasks,
            total_s: self.on_demand as f64 * 1e-9,
            computed_s: self.computed as f64 * 1e-9,
            hosts: self.hosts.iter().copied().collect(),
            last: last.collect(),
        }
    }
}
