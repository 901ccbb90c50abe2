//! Lays out the lines of a trace: nodes with processors, tasks with threads, communicators.

use std::collections::HashMap;
use std::io::{self, Write};

use lbprof_analysis::model::{Communicator, Model};

/// Maximum number of members of a communicator; a longer list is damaged.
const MAX_MEMBERS: usize = 1 << 24;

/// Nodes, tasks and communicators. Paraver numbers all of them from 1.
#[derive(Clone, Debug, Default)]
pub struct ParaverLayout {
    /// The hosts.
    pub nodes: Vec<ParaverNode>,
    /// The ranks, by place in the model.
    pub tasks: Vec<ParaverTask>,
    /// By index of the communicator: its number; MPI_COMM_WORLD, where it is known, is 1.
    comms: Vec<u32>,
    /// By index of the rank: the threads of its teams that have lines, after the lines of the threads that call MPI.
    teams: Vec<Vec<TeamThread>>,
}

/// A thread of the teams that one thread starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TeamThread {
    /// Number of the thread that starts them.
    pub starter: u32,
    /// Its number in the team, from 1: number 0 is the one that starts them.
    pub number: u32,
}

/// A host.
#[derive(Clone, Debug)]
pub struct ParaverNode {
    /// Its name.
    pub host: String,
    /// Its processors: one for each of its ranks.
    pub cpus: u32,
}

/// A rank.
#[derive(Clone, Copy, Debug)]
pub struct ParaverTask {
    /// Its number in MPI_COMM_WORLD.
    pub rank: u32,
    /// Its node, from 0.
    pub node: usize,
    /// Its processor among all, from 1.
    pub cpu: u32,
    /// Threads that were followed.
    pub threads: u32,
    /// Threads that call MPI, of these.
    pub mpi_threads: u32,
}

impl ParaverLayout {
    /// Lays out the ranks of a model.
    pub fn from_model(model: &Model) -> ParaverLayout {
        let (mut nodes, mut known): (Vec<ParaverNode>, HashMap<&str, usize>) = Default::default();
        let mut tasks: Vec<ParaverTask> = Vec::with_capacity(model.ranks.len());
        for rank in &model.ranks {
            let node = *known.entry(&rank.host).or_insert_with(|| {
                nodes.push(ParaverNode { host: rank.host.clone(), cpus: 0 });
                nodes.len() - 1
            });
            nodes[node].cpus += 1;
            let mpi_threads = rank.other_threads.saturating_add(1);
            tasks.push(ParaverTask { rank: rank.rank, node, cpu: nodes[node].cpus, threads: 1, mpi_threads });
        }
        // The CPUs of all nodes are numbered in one sequence.
        let mut first = Vec::new();
        let mut n_cpus = 0;
        for node in &nodes {
            first.push(n_cpus);
            n_cpus += node.cpus;
        }
        for task in tasks.iter_mut() {
            task.cpu += first[task.node];
        }
        let mut order: Vec<usize> = (0..model.communicators.len()).collect();
        // The first that has all tasks is taken for MPI_COMM_WORLD.
        order.sort_by_key(|&at| (model.communicators[at].number, at));
        let mut comms = vec![0; order.len()];
        for (number, &at) in (1..).zip(&order) {
            comms[at] = number;
        }
        let teams = vec![Vec::new(); tasks.len()];
        ParaverLayout { nodes, tasks, comms, teams }
    }

    /// Returns the index of a team thread's line among the lines of the rank at `place`. A new thread gets a new line. `None`: there is no such rank.
    pub fn team_line(&mut self, place: u32, thread: TeamThread) -> Option<u32> {
        let known = self.teams.get_mut(place as usize)?;
        let at = known.iter().position(|one| *one == thread).unwrap_or_else(|| {
            known.push(thread);
            known.len() - 1
        });
        let task = self.tasks.get(place as usize)?;
        Some(task.mpi_threads.saturating_add(at as u32))
    }

    /// Returns the names of the lines of the rank at `place`.
    pub fn line_names(&self, place: usize) -> Vec<String> {
        let (Some(task), Some(team)) = (self.tasks.get(place), self.teams.get(place)) else { return Vec::new() };
        let mut names = vec![format!("rank {}", task.rank)];
        for line in 1..task.threads {
            let of_team = line.checked_sub(task.mpi_threads).and_then(|at| team.get(at as usize));
            names.push(match of_team {
                Some(TeamThread { starter: 0, number }) => format!("rank {} thread {number} of its teams", task.rank),
                Some(TeamThread { starter, number }) => {
                    format!("rank {} thread {number} of teams of thread {starter}", task.rank)
                }
                None => format!("rank {} thread {line}", task.rank),
            });
        }
        names
    }

    /// Returns the number of processors of all nodes.
    pub fn cpus(&self) -> u32 {
        self.nodes.iter().map(|node| node.cpus).sum()
    }

    /// Returns the index of a rank.
    pub fn place(&self, rank: u32) -> Option<usize> {
        self.tasks.binary_search_by_key(&rank, |task| task.rank).ok()
    }

    /// Returns the number of a communicator, if it is known.
    pub fn comm(&self, idx: u32) -> Option<u32> {
        self.comms.get(idx as usize).copied()
    }

    /// Writes the first line, for a trace of `ns` nanoseconds, and the communicators.
    ///
    /// Errors: writing fails.
    pub fn write(&self, date: &str, ns: u64, communicators: &[Communicator], out: &mut impl Write) -> io::Result<()> {
        let nodes: Vec<String> = self.nodes.iter().map(|node| node.cpus.to_string()).collect();
        let tasks: Vec<String> = self.tasks.iter().map(|task| format!("{}:{}", task.threads, task.node + 1)).collect();
        let (nodes, tasks) = (nodes.join(","), tasks.join(","));
        let mut comms: Vec<(u32, &Communicator)> = self.comms.iter().copied().zip(communicators).collect();
        comms.sort_by_key(|(number, _)| *number);
        writeln!(
            out,
            "#Paraver ({date}):{ns}_ns:{}({nodes}):1:{}({tasks}),{}",
            self.nodes.len(),
            self.tasks.len(),
            comms.len()
        )?;
        for (number, comm) in comms {
            // Only members that are in the trace.
            let members: Vec<u32> = comm.group.iter().chain(comm.remote.iter()).take(MAX_MEMBERS).collect();
            let tasks: Vec<usize> = members.into_iter().filter_map(|rank| self.place(rank)).collect();
            write!(out, "c:1:{number}:{}", tasks.len())?;
            tasks.iter().try_for_each(|task| write!(out, ":{}", task + 1))?;
            writeln!(out)?;
        }
        Ok(())
    }
}
