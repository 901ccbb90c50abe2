//! Threads of one process in place of processes, for tests.

use std::sync::mpsc::{Receiver, Sender, channel};

use parking_lot::Mutex;

use super::process_group::ProcessGroup;
use super::transport::Transport;
use crate::analyse::ProcessFailure;

/// The transport of a thread that acts as a process.
struct ThreadTransport {
    process: usize,
    /// To each of the others, and to itself.
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
        self.to[to].send(bytes.to_vec()).map_err(|_| gone(to))
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>, ProcessFailure> {
        self.from[from].lock().recv().map_err(|_| gone(from))
    }
}

fn gone(process: usize) -> ProcessFailure {
    ProcessFailure { process, what: "it ended before its work was done".to_owned() }
}

/// Runs a team of `n` threads: `lead` is process 0, `follow` each of the others; what `lead` returns, once all have ended.
pub fn in_threads<T>(n: usize, lead: impl FnOnce(ProcessGroup) -> T, follow: impl Fn(ProcessGroup) + Sync) -> T {
    let n = n.max(1);
    // Of each receiver: its channels from all.
    let channels: Vec<Vec<_>> = (0..n).map(|_| (0..n).map(|_| channel()).collect()).collect();
    let mut teams: Vec<ProcessGroup> = (0..n)
        .map(|process| {
            let to = channels.iter().map(|of_receiver| of_receiver[process].0.clone()).collect();
            (process, to)
        })
        .collect::<Vec<(usize, Vec<Sender<Vec<u8>>>)>>()
        .into_iter()
        .zip(channels)
        .map(|((process, to), of_receiver)| {
            let from = of_receiver.into_iter().map(|(_, from)| Mutex::new(from)).collect();
            ProcessGroup::new(Box::new(ThreadTransport { process, to, from }))
        })
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
