//! Recognises work that is handed out on demand: a rank receives from any source and answers the sender, which computes and asks again; or ranks
//! take the next number from a counter in a window of one of them, and compute. [`request_queue`] predicts the gain of a faster answer.
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

pub(super) mod request_queue;

use std::collections::{BTreeMap, BTreeSet};

use bincode::{Decode, Encode};

use crate::model::code::region_state::Ns;
use crate::model::ranks::interval::TimeInterval;
use crate::model::replayed::replay_results::{LastTasks, RequestServer, TasksOnDemand};
use crate::partial_result::PartialResult;
use request_queue::{AnsweredRequest, RequestQueue};

/// Less than 1/N of the computation is negligible.
const SMALL: Ns = 20;

#[derive(Debug, Default)]
pub struct WorkDemands {
    threads: Vec<ThreadDemand>,
    /// The requests to threads that answer some.
    queues: BTreeMap<u32, RequestQueue>,
    /// The sums so far, without those by thread.
    sums: OnDemand,
}

#[derive(Clone, Debug, Default)]
struct ThreadDemand {
    world_rank: u32,
    /// The thread that asked it first, and whether others did, too.
    first_asker: Option<u32>,
    has_askers: bool,
    /// The requests to it, by messages from any source, that the last call with some received and that have no answer yet; their `before` is what this thread had computed when
    /// they came.
    asked: Vec<AnsweredRequest>,
    /// The end of that call.
    asked_by: Ns,
    /// Time of its last answer, and the computation until then.
    last_answer: Option<(Ns, Ns)>,
    /// The last task that it got as an answer.
    answered: Option<AnsweredTask>,
    /// The world rank whose window it last took a number from, and the computation until then.
    fetched: Option<(u32, Ns)>,
    computed: Ns,
    last_task: Ns,
    last_tasks: TaskSums,
}

/// A task that a thread got as the answer to its request.
#[derive(Clone, Copy, Debug)]
struct AnsweredTask {
    /// The thread that answered.
    server: u32,
    /// Its number in the queue of the server.
    number: u64,
    /// The computation until then.
    since: Ns,
}

impl WorkDemands {
    pub fn add_thread(&mut self, world_rank: u32) {
        self.threads.push(ThreadDemand { world_rank, ..ThreadDemand::default() });
    }

    /// Records that a thread received the first message of several, which may be a request for work: from any source, or (`is_any` false) by a test or
    /// the completion of some requests. `time`: from the send of the message until it was received.
    pub fn record_request(&mut self, thread: u32, by: u32, is_any: bool, time: TimeInterval) {
        if self.has_one_asker(thread, by) {
            return;
        }
        let row = self.threads[thread as usize].world_rank;
        let mut asked_at = Some(time.begin);
        let asking =
            self.threads.get_mut(by as usize).and_then(|asking| asking.answered.take_if(|task| task.server == thread));
        if let Some(task) = asking {
            let length = self.end_task(by, task.since);
            self.sums.servers.entry(row).or_default().tasks.count(length);
            asked_at = asked_at.filter(|_| !self.end_answered(by, task, true));
        }
        let sums = self.sums.servers.entry(row).or_default();
        (sums.requests, sums.is_any) = (sums.requests + 1, sums.is_any || is_any);
        let server = &mut self.threads[thread as usize];
        if server.asked.iter().any(|asked| asked.by == by) {
            return;
        }
        if server.asked_by != time.end {
            server.asked.clear();
            server.asked_by = time.end;
        }
        let (last_at, computed) = server.last_answer.unwrap_or((time.end, server.computed));
        let after = server.computed - computed;
        let unseen = (time.end - time.begin.max(last_at + after)).max(0);
        server.asked.push(AnsweredRequest { by, asked_at, after, unseen, before: server.computed });
    }

    /// Returns whether a thread has been asked by the same one each time, of more ranks than these two: a worker that takes its tasks from any source.
    fn has_one_asker(&mut self, thread: u32, by: u32) -> bool {
        let first = *self.threads[thread as usize].first_asker.get_or_insert(by);
        let pair = [thread, first].map(|one| self.threads[one as usize].world_rank);
        let are_all = self.threads.iter().all(|one| pair.contains(&one.world_rank));
        let server = &mut self.threads[thread as usize];
        server.has_askers |= first != by || are_all;
        !server.has_askers
    }

    /// Records that a thread sends to a world rank at a time, which is an answer if that rank asked last.
    pub fn record_answer(&mut self, thread: u32, to: u32, at: Ns) {
        let threads = &self.threads;
        let server = &threads[thread as usize];
        let place = server.asked.iter().position(|asked| threads[asked.by as usize].world_rank == to);
        let Some(place) = place else { return };
        let (asked, computed) = (server.asked[place], server.computed);
        let request = match server.last_answer.filter(|&(last_at, _)| last_at >= server.asked_by) {
            // The same call received another request, which was answered before.
            Some((_, since)) => AnsweredRequest { after: 0, unseen: 0, before: computed - since, ..asked },
            None => AnsweredRequest { before: computed - asked.before, ..asked },
        };
        let since = threads[asked.by as usize].computed;
        let queue = self.queues.entry(thread).or_insert_with(|| RequestQueue::new(at - request.before));
        let number = queue.answer(request, since, |by| threads[by as usize].computed);
        self.threads[asked.by as usize].answered = Some(AnsweredTask { server: thread, number, since });
        let server = &mut self.threads[thread as usize];
        server.asked.remove(place);
        server.last_answer = Some((at, computed));
        self.sums.servers.entry(server.world_rank).or_default().add(request);
    }

    /// Ends the task that a thread got as an answer. Returns whether its server has answered requests since without a collective operation.
    fn end_answered(&mut self, thread: u32, task: AnsweredTask, asks_again: bool) -> bool {
        let length = self.threads[thread as usize].computed - task.since;
        self.queues.get_mut(&task.server).is_some_and(|queue| queue.end_task(task.number, length, asks_again))
    }

    /// Ends the queue of a thread at a collective operation.
    fn end_queue(&mut self, thread: u32) {
        let Some(queue) = self.queues.remove(&thread) else { return };
        let saved = queue.finish(|by| self.threads[by as usize].computed);
        let server = self.sums.servers.entry(self.threads[thread as usize].world_rank).or_default();
        server.saved = [0, 1].map(|at| server.saved[at] + saved[at]);
    }

    /// Records that a thread reads and changes a number in the window of a world rank, which may be one of the next piece of work.
    pub fn record_fetch(&mut self, thread: u32, target: u32) {
        let ThreadDemand { fetched, computed, .. } = self.threads[thread as usize];
        if let Some((_, since)) = fetched.filter(|&(last, _)| last == target) {
            let length = self.end_task(thread, since);
            self.sums.fetched.count(length);
            self.sums.hosts.insert(target);
        }
        self.threads[thread as usize].fetched = Some((target, computed));
    }

    /// Ends a task of a thread, and returns its length.
    fn end_task(&mut self, thread: u32, since: Ns) -> Ns {
        let ThreadDemand { computed, last_task, .. } = &mut self.threads[thread as usize];
        let task = *computed - since;
        *last_task = if task > 0 { task } else { *last_task };
        task
    }

    /// Records that a thread received another message, from `by`, or took part in a collective operation. Requests from before a
    /// collective operation get no answer after it.
    pub fn record_other_exchange(&mut self, thread: u32, by: Option<u32>) {
        let ThreadDemand { answered, asked, last_answer, fetched, last_task, last_tasks, .. } =
            &mut self.threads[thread as usize];
        *fetched = None;
        if by.is_none() {
            asked.clear();
            *last_answer = None;
            last_tasks.count(std::mem::take(last_task));
        }
        if let Some(task) = answered.take_if(|task| by != Some(task.server)) {
            self.end_answered(thread, task, false);
        }
        if by.is_none() {
            self.end_queue(thread);
        }
    }

    #[inline]
    pub fn add_computation(&mut self, thread: u32, ns: Ns) {
        self.threads[thread as usize].computed += ns;
    }

    pub fn finish(mut self) -> OnDemand {
        for thread in 0..self.threads.len() as u32 {
            self.end_queue(thread);
        }
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

/// The requests that a rank answered, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, Encode, Decode)]
struct ServerSums {
    requests: u64,
    /// True if some are received from any source.
    is_any: bool,
    answers: u64,
    tasks: TaskSums,
    computed: Ns,
    handled: Ns,
    unseen: Ns,
    saved: [Ns; 2],
}

impl ServerSums {
    fn add(&mut self, request: AnsweredRequest) {
        self.answers += 1;
        self.computed += request.after + request.before;
        self.handled += request.before;
        self.unseen += request.unseen;
    }

    fn merge(&mut self, after: ServerSums) {
        self.requests += after.requests;
        self.is_any |= after.is_any;
        self.answers += after.answers;
        self.tasks.add(after.tasks);
        self.computed += after.computed;
        self.handled += after.handled;
        self.unseen += after.unseen;
        self.saved = [0, 1].map(|at| self.saved[at] + after.saved[at]);
    }
}

/// Work that was handed out on demand, of all work, in nanoseconds.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct OnDemand {
    /// Computation between two fetches from the same rank.
    fetched: TaskSums,
    computed: Ns,
    /// The world ranks whose windows hold the counters that tasks were taken from.
    hosts: BTreeSet<u32>,
    /// By world rank, the requests to it.
    servers: BTreeMap<u32, ServerSums>,
    /// By world rank, its last tasks before collective operations and the end.
    last: BTreeMap<u32, TaskSums>,
}

impl PartialResult for OnDemand {
    fn merge(mut self, after: OnDemand) -> OnDemand {
        for (rank, sums) in after.last {
            self.last.entry(rank).or_default().add(sums);
        }
        self.hosts.extend(after.hosts);
        for (rank, more) in after.servers {
            self.servers.entry(rank).or_default().merge(more);
        }
        self.fetched.add(after.fetched);
        self.computed += after.computed;
        self
    }
}

impl OnDemand {
    pub fn is_considerable(&self) -> bool {
        let time = self.sum_tasks().time;
        time > 0 && SMALL * time >= self.computed
    }

    /// Sums up the tasks: computation between two fetches, or between an answer and the next request to the same rank. Neighbours that exchange messages, and
    /// test for them, answer one another, but hand out no work.
    fn sum_tasks(&self) -> TaskSums {
        let mut all = self.fetched;
        for (rank, server) in &self.servers {
            if server.is_any || !self.last.contains_key(rank) {
                all.add(server.tasks);
            }
        }
        all
    }

    pub fn tasks(&self) -> TasksOnDemand {
        let last = self.last.iter();
        let last = last.map(|(&rank, sums)| LastTasks { rank, tasks: sums.tasks, total_s: sums.time as f64 * 1e-9 });
        let servers = self.servers.iter().map(|(&rank, sums)| RequestServer {
            rank,
            requests: sums.requests,
            answers: sums.answers,
            computed_s: sums.computed as f64 * 1e-9,
            handled_s: sums.handled as f64 * 1e-9,
            unseen_s: sums.unseen as f64 * 1e-9,
            saved_s: sums.saved.map(|ns| ns as f64 * 1e-9),
        });
        let TaskSums { tasks, time } = self.sum_tasks();
        TasksOnDemand {
            servers: servers.collect(),
            tasks,
            total_s: time as f64 * 1e-9,
            hosts: self.hosts.iter().copied().collect(),
            last: last.collect(),
        }
    }
}
