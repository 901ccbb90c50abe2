//! Replays the requests that a rank answers one after another, with less time for each.
//!
//! ```text
//!   server   |after|.....|= before =|answer|after|.....          a request waits until the server is free, and sees it
//!   worker   |ask .................|== task ==|ask ....          a worker asks again after its task
//! ```
//!
//! Which worker asks first depends on their tasks, and on the server. So the replay hands the tasks out in their recorded order, each to the
//! worker that asks first. Messages take no time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::model::code::region_state::Ns;

/// Answers that wait for the end of one task, from which on its length so far counts.
const MAX_OPEN_ANSWERS: usize = 1 << 16;

/// Factors of the server's computation, and of the time for which it does not look for requests: as it was, half the computation, neither.
const FACTORS: [[f64; 2]; 3] = [[1.0, 1.0], [0.5, 1.0], [0.0, 0.0]];

/// A request that was answered.
#[derive(Clone, Copy, Debug)]
pub struct AnsweredRequest {
    /// The thread that asked.
    pub by: u32,
    /// The time at which it asked; `None`: after its last task from this server.
    pub asked_at: Option<Ns>,
    /// The computation of the server from the answer before until it received this request.
    pub after: Ns,
    /// The time for which the request lay there while the server neither computed nor received it.
    pub unseen: Ns,
    /// The computation of the server from then to the answer.
    pub before: Ns,
}

#[derive(Clone, Copy, Debug)]
struct GivenTask {
    request: AnsweredRequest,
    /// The computation of the worker when it got the task.
    since: Ns,
    /// The length of the task, and whether the worker asks again; `None`: not known yet.
    end: Option<TaskEnd>,
}

#[derive(Clone, Copy, Debug)]
struct TaskEnd {
    length: Ns,
    asks_again: bool,
}

/// The times of the server and its workers in one replay.
#[derive(Debug, Default)]
struct QueueClocks {
    free_at: f64,
    asked: BinaryHeap<Reverse<Ns>>,
    end: f64,
}

/// The requests to a server between two collective operations.
#[derive(Debug, Default)]
pub struct RequestQueue {
    /// The tasks in the order of their answers, from the first one that is not replayed.
    tasks: VecDeque<GivenTask>,
    /// Number of the first of them.
    first: u64,
    clocks: [QueueClocks; FACTORS.len()],
}

impl RequestQueue {
    /// Creates the queue of a server that is free from a time on.
    pub fn new(free_at: Ns) -> RequestQueue {
        let clocks = FACTORS.map(|_| QueueClocks { free_at: free_at as f64, ..QueueClocks::default() });
        RequestQueue { clocks, ..RequestQueue::default() }
    }

    /// Adds an answer to a worker that has computed for `since` nanoseconds, and returns the number of its task. `computed`: what a thread has computed now.
    pub fn answer(&mut self, request: AnsweredRequest, since: Ns, computed: impl Fn(u32) -> Ns) -> u64 {
        self.tasks.push_back(GivenTask { request, since, end: None });
        if self.tasks.len() > MAX_OPEN_ANSWERS
            && let Some(task) = self.tasks.front_mut()
        {
            task.end = Some(TaskEnd { length: computed(task.request.by) - task.since, asks_again: true });
            self.replay_known();
        }
        self.first + self.tasks.len() as u64 - 1
    }

    /// Ends a task. Returns whether it was one that is not replayed yet.
    pub fn end_task(&mut self, number: u64, length: Ns, asks_again: bool) -> bool {
        let at = number.checked_sub(self.first).and_then(|at| self.tasks.get_mut(at as usize));
        let is_open = at.map(|task| task.end = Some(TaskEnd { length, asks_again })).is_some();
        self.replay_known();
        is_open
    }

    /// Ends all tasks, and returns the nanoseconds by which they would be over earlier with half the time for each request, and without any.
    pub fn finish(mut self, computed: impl Fn(u32) -> Ns) -> [Ns; 2] {
        for task in &mut self.tasks {
            let length = computed(task.request.by) - task.since;
            task.end = task.end.or(Some(TaskEnd { length, asks_again: false }));
        }
        self.replay_known();
        let [measured, half, none] = self.clocks.map(|clocks| clocks.end.max(clocks.free_at));
        [half, none].map(|end| (measured - end) as Ns)
    }

    fn replay_known(&mut self) {
        while let Some(&GivenTask { request, end: Some(end), .. }) = self.tasks.front() {
            for (clocks, factors) in self.clocks.iter_mut().zip(FACTORS) {
                clocks.replay(request, end, factors);
            }
            self.tasks.pop_front();
            self.first += 1;
        }
    }
}

impl QueueClocks {
    fn replay(&mut self, request: AnsweredRequest, task: TaskEnd, [computation, unseen]: [f64; 2]) {
        self.asked.extend(request.asked_at.map(Reverse));
        let free_at = self.free_at + computation * request.after as f64;
        let asked_at = self.asked.pop().map_or(free_at, |Reverse(at)| at as f64);
        self.free_at = free_at.max(asked_at) + unseen * request.unseen as f64 + computation * request.before as f64;
        let end = self.free_at + task.length as f64;
        self.end = self.end.max(end);
        if task.asks_again {
            self.asked.push(Reverse(end as Ns));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Workers get tasks of so many nanoseconds one after another, from a server that needs 6 ns for each request.
    fn saved_ns(workers: u32, tasks: &[Ns]) -> [Ns; 2] {
        let mut queue = RequestQueue::new(0);
        let mut ready: Vec<(Ns, u32, Option<u64>, Ns)> = (0..workers).map(|by| (0, by, None, 0)).collect();
        let mut free_at = 0;
        for &task in tasks {
            let first = (0..ready.len()).min_by_key(|&at| (ready[at].0, ready[at].1)).unwrap();
            let (asked_at, by, before, length) = ready[first];
            let is_first = before.is_none_or(|number| !queue.end_task(number, length, true));
            free_at = asked_at.max(free_at) + 6;
            let request =
                AnsweredRequest { by, asked_at: is_first.then_some(asked_at), after: 0, unseen: 0, before: 6 };
            ready[first] = (free_at + task, by, Some(queue.answer(request, 0, |_| 0)), task);
        }
        queue.finish(|by| ready.iter().find(|one| one.1 == by).unwrap().3)
    }

    #[test]
    fn a_busy_server_gains_until_its_workers_are_busy() {
        // 100 requests take 600 ns and the last task; with half the time each of 5 workers has 20 rounds of 23 ns, and waits 12 ns at first.
        let [half, none] = saved_ns(5, &[20; 100]);
        assert_eq!((half, none), (600 + 20 - (20 * 23 + 12), 620 - 400));
        // Three workers with long tasks wait only at first.
        let [half, _] = saved_ns(3, &[60; 30]);
        assert_eq!(half, 10 * 3 + 2 * 3);
    }

    #[test]
    fn tasks_are_handed_out_to_whoever_asks_first() {
        // Worker 0 has the long task. Without the server's time, worker 1 gets all others meanwhile.
        assert_eq!(saved_ns(2, &[100, 10, 10, 10, 10, 10]), [106 - 103, 106 - 100]);
    }
}
