//! Facts about a run that all ranks agree on.

use bincode::{Decode, Encode};
use std::collections::BTreeMap;

use lbprof_collector::definition::RankList;
use lbprof_collector::polling::PollGapRule;

use super::program_list::ProgramList;
use super::selected::SelectedPart;
use super::summary::SummaryFacts;
use crate::read::open::n_recorded;

/// Facts that all ranks agree on.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct RunFacts {
    /// The run's id.
    pub run_id: u64,
    /// Size of MPI_COMM_WORLD.
    pub n_ranks: u32,
    /// Ranks that were to record; empty: all.
    pub recorded_ranks: RankList,
    /// The part of the run that everything is of.
    pub selected: SelectedPart,
    /// The rule for the time between unsuccessful polls.
    pub polling: PollGapRule,
    /// Command line of the lowest rank.
    pub command: Vec<String>,
    /// The programs that the ranks run, in the order of their lowest ranks.
    pub programs: ProgramList,
    /// Name and version of the MPI library.
    pub mpi: String,
    /// Its binary interface.
    pub abi: String,
    /// Version of lbprof that recorded.
    pub recorder: String,
    /// Seconds since 1970 when the lowest rank's log was opened.
    pub started_unix_s: u64,
    /// Settings of the recorder, as NAME=value.
    pub settings: Vec<String>,
    /// Time of the analysis on the run's clock, in seconds, if the run had not ended; `None`: it had.
    pub seen_at_s: Option<f64>,
    /// Facts about a first look; `None`: all events were analysed.
    pub summary: Option<SummaryFacts>,
    /// The user's parameters.
    pub params: BTreeMap<String, f64>,
    /// True if times of different ranks can be compared.
    pub common_clock: bool,
    /// Largest bound of the clocks' error against rank 0's, in seconds; `None` where no offset was measured.
    pub clock_error_s: Option<f64>,
}

impl RunFacts {
    /// Ranks of which a log is expected: those that were to record, or of these the selected ones.
    pub fn n_expected(&self) -> u64 {
        match &self.selected.ranks {
            Some(selected) => selected.len() as u64,
            None => n_recorded(&self.recorded_ranks, self.n_ranks),
        }
    }
}

/// A communicator.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Communicator {
    /// Id of the communicator, equal on all members.
    pub uid: u64,
    /// Its number in the log of the lowest rank that is in it: 0 is MPI_COMM_WORLD, 1 MPI_COMM_SELF.
    pub number: u32,
    /// World ranks of the group of the lowest rank that is in it.
    pub group: RankList,
    /// World ranks of its remote group, or empty.
    pub remote: RankList,
}

impl Communicator {
    /// Its name: `MPI_COMM_WORLD`, or one that no other communicator has, `comm 2 of rank 0 (4 ranks)`.
    pub fn label(&self) -> String {
        let ends = self.group.0.iter().chain(&self.remote.0).map(|&(first, step, n)| {
            let last = i64::from(first) + i64::from(step) * (i64::from(n) - 1);
            last.min(i64::from(first))
        });
        let lowest = ends.min().unwrap_or(0);
        let n = self.group.len() + self.remote.len();
        match self.number {
            0 => "MPI_COMM_WORLD".to_owned(),
            1 => format!("MPI_COMM_SELF of rank {lowest}"),
            number => format!("comm {number} of rank {lowest} ({n} rank{})", if n == 1 { "" } else { "s" }),
        }
    }
}
