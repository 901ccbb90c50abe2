//! Threads of one process in place of processes, for tests.

use std::sync::mpsc::{Receiver, Sender, channel};

use parking_lot::Mutex;

use super::process_group::ProcessGroup;
use super::transport::Transport;
use crate::analyse::ProcessFailure;

/// The transport of a thread that acts as a process.
struct ThreadTransport {
    process: usize,
    /// Channels to all processes, including this one.
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Mutex<Receiver<Vec<u8>>>>,
}

impl Transport for ThreadTransport {
    fn process(&self) -> usize {
        self.process
    }

    fn processes(&self) -> usize {
        self.to.len()
    }

    fn send(&self, to: usize, bytes: &[u8]) -> Result<(), ProcessFailure> {
        self.to[to].send(bytes.to_vec()).map_err(|_| ended_early(to))
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>, ProcessFailure> {
        self.from[from].lock().recv().map_err(|_| ended_early(from))
    }
}

fn ended_early(process: usize) -> ProcessFailure {
    ProcessFailure { process, what: "it ended before its work was done".to_owned() }
}

/// Runs a group of `n` threads: `lead` is process 0, `follow` each of the others. Returns the result of `lead`, once all have ended.
pub fn in_threads<T>(n: usize, lead: impl FnOnce(ProcessGroup) -> T, follow: impl Fn(ProcessGroup) + Sync) -> T {
    let n = n.max(1);
    let (mut senders, mut receivers): (Vec<Vec<_>>, Vec<Vec<_>>) = (0..n).map(|_| Default::default()).unzip();
    for senders in &mut senders {
        for receivers in &mut receivers {
            let (to, from) = channel();
            senders.push(to);
            receivers.push(Mutex::new(from));
        }
    }
    let transports = (0..).zip(senders).zip(receivers);
    let mut teams: Vec<ProcessGroup> = transports
        .map(|((process, to), from)| ProcessGroup::new(Box::new(ThreadTransport { process, to, from })))
        .collect();
    let first = teams.remove(0);
    std::thread::scope(|scope| {
        for team in teams {
            let follow = &follow;
            scope.spawn(move || follow(team));
        }
        lead(first)
    })
}
