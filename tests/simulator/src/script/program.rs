//! A script as it was read: the network, the communicators, and each rank's steps.

use lbprof_collector::definition::{NeighbourRanks, RankList};

use super::step::ScriptStep;
use crate::scenario::{Clock, ticks};

/// A program.
#[derive(Clone, Debug, Default)]
pub struct Script {
    pub(super) text: String,
    pub(super) lines: u32,
    pub(super) network: Network,
    /// MPI_COMM_WORLD, then each rank's MPI_COMM_SELF, then the script's own.
    pub(super) comms: Vec<Comm>,
    /// What windows begin later than at [`crate::scenario::START`], in nanoseconds, by rank.
    pub(super) late: Vec<u64>,
    pub(super) clocks: Vec<Clock>,
    pub(super) programs: Vec<Vec<ScriptStep>>,
    pub(super) empty_requests: bool,
    pub(super) deferred_epochs: bool,
}

impl Script {
    /// The text that it was read from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many ranks it has.
    pub fn n_ranks(&self) -> u32 {
        self.programs.len() as u32
    }

    /// The network that it runs on.
    pub fn network(&self) -> Network {
        self.network
    }

    /// The same program on another network, where it may choose otherwise; see [`Script::replay`].
    pub fn on(&self, network: Network) -> Script {
        Script { network, ..self.clone() }
    }

    pub(super) fn own_comms(&self, rank: u32) -> impl Iterator<Item = (usize, &Comm)> {
        let own = self.comms.iter().enumerate().skip(self.programs.len() + 1);
        own.filter(move |(_, comm)| comm.group.contains(&rank))
    }
}

#[derive(Clone, Debug)]
pub(super) struct Comm {
    pub(super) name: String,
    pub(super) group: Vec<u32>,
    /// Who sends to whom in neighbourhood collectives, by their ranks in it.
    pub(super) edges: Vec<(u32, u32)>,
}

impl Comm {
    pub(super) fn new(name: &str, group: Vec<u32>) -> Self {
        Comm { name: name.to_owned(), group, edges: Vec::new() }
    }

    pub(super) fn sources(&self, rank: u32) -> impl Iterator<Item = u32> {
        self.edges.iter().filter(move |edge| edge.1 == rank).map(|edge| edge.0)
    }

    pub(super) fn destinations(&self, rank: u32) -> impl Iterator<Item = u32> {
        self.edges.iter().filter(move |edge| edge.0 == rank).map(|edge| edge.1)
    }

    /// The neighbours of a world rank, as its log has them; `id`: the communicator's there.
    pub(super) fn neighbours(&self, rank: u32, id: u32) -> Option<NeighbourRanks> {
        let own = self.group.iter().position(|&member| member == rank).filter(|_| !self.edges.is_empty())? as u32;
        let world = |rank: u32| self.group[rank as usize];
        Some(NeighbourRanks {
            comm: id,
            sources: RankList::from_ranks(self.sources(own).map(world)),
            destinations: RankList::from_ranks(self.destinations(own).map(world)),
        })
    }
}

/// How messages travel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Network {
    /// From the begin of a send to its arrival, in milliseconds.
    pub latency_ms: f64,
    /// Bytes a millisecond.
    pub bandwidth: f64,
    /// What each call takes besides waiting, in milliseconds.
    pub overhead_ms: f64,
    /// The largest message whose send does not wait for its receive, in bytes.
    pub eager: u64,
}

impl Default for Network {
    /// The ideal one: nothing takes time but computation, and no send waits.
    fn default() -> Self {
        Network { latency_ms: 0.0, bandwidth: f64::INFINITY, overhead_ms: 0.0, eager: u64::MAX }
    }
}

impl Network {
    pub(super) fn transfer_ns(&self, bytes: u64) -> u64 {
        ticks(self.latency_ms) + ticks(bytes as f64 / self.bandwidth)
    }
}

pub(super) fn offset(line: u32, index: u32) -> u64 {
    16 * u64::from(line) + u64::from(index)
}
