//! The part of a run that everything is computed from: ranks, a window of time or iterations, a region, activities.
//!
//! A [`Selection`] is what the user asks for. Ranks narrow the [`Run`] itself, so that only their logs are read.

pub mod moment;
mod names;
pub mod ranks;

use crate::open::Run;
pub use moment::Moment;
pub use ranks::RankSet;

/// What a user asks for; all of the run where nothing is said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// Only these ranks.
    pub ranks: Option<RankSet>,
}

/// The part of a run that a model and a report are of; nothing is set where it is all of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selected {
    /// Ranks, ascending, those without a log among them.
    pub ranks: Option<Vec<u32>>,
}

impl Selected {
    /// Whether it is all of the run.
    pub fn is_all(&self) -> bool {
        *self == Selected::default()
    }
}

/// Why a selection cannot be made from a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// The run is smaller.
    #[error("--ranks: there is no rank {rank}: the run has 0 to {largest}")]
    NoRank {
        /// The rank.
        rank: u32,
        /// The last that there is.
        largest: u32,
    },
    /// The user had left it out of the recording.
    #[error("--ranks: rank {rank} did not record: LBPROF_RANKS left it out")]
    NotRecorded {
        /// The rank.
        rank: u32,
    },
    /// None of the ranks has a log.
    #[error("--ranks: {}", no_log_of(.ranks))]
    NoLogs {
        /// The ranks, in words.
        ranks: String,
    },
    /// No host has such a name.
    #[error("--ranks: no rank is on a host {pattern}; the hosts are {hosts}")]
    NoHost {
        /// What was asked for.
        pattern: String,
        /// The first of those that there are.
        hosts: String,
    },
    /// There is no such cluster.
    #[error("--ranks: there is no cluster {cluster}; there are {}", if .clusters.is_empty() { "none" } else { .clusters })]
    NoCluster {
        /// The cluster.
        cluster: u32,
        /// Those that there are.
        clusters: String,
    },
}

fn no_log_of(ranks: &str) -> String {
    match ranks.parse::<u32>() {
        Ok(rank) => format!("there is no log of rank {rank}"),
        Err(_) if ranks.is_empty() => "none of these ranks did record: LBPROF_RANKS left them out".to_owned(),
        Err(_) => format!("there is no log of any of the ranks {ranks}"),
    }
}

impl Selection {
    /// Whether it leaves nothing out.
    pub fn is_all(&self) -> bool {
        *self == Selection::default()
    }

    /// `run` with the selected ranks alone.
    ///
    /// Errors: those of [`RankSet::resolve`].
    pub fn narrow(&self, run: &Run) -> Result<Run, SelectionError> {
        match &self.ranks {
            None => Ok(run.clone()),
            Some(set) => Ok(run.with_ranks(&set.resolve(run, &[])?)),
        }
    }
}
