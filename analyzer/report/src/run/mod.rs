//! Facts of the run and its data.

pub mod data;
pub mod doubts;
pub mod lifetime;
pub(super) mod listed_ranks;
pub mod problems;
pub mod ranks;
pub mod selection;

use std::collections::BTreeMap;

use serde::Serialize;

use super::{DataFacts, ProblemRow};
use lbprof_analysis::model::run::summary::SummaryFacts;
use lbprof_analysis::model::{PollTimes, RunFacts};
use lbprof_analysis::read::open::list_ranks;

/// Facts of the run and its data. `ranks_present` × `elapsed_s` is the time of all activities + `idle_s` + `paused_s` + `unknown_s`.
#[derive(Debug, Serialize, crate::JsonSchema)]
pub struct RunRow<'a> {
    /// The run's id, 16 hexadecimal digits, in all its logs.
    id: String,
    /// Size of MPI_COMM_WORLD.
    ranks: u32,
    /// Facts about the data.
    #[serde(flatten)]
    data: &'a DataFacts,
    /// Name and version of the MPI library, as it states them.
    mpi: &'a str,
    /// Its binary interface: `open-mpi`, `mpich` or `mpi-5`.
    abi: &'a str,
    /// Command line of the lowest rank.
    command: &'a [String],
    /// The programs that the ranks run, if they have different command lines, in the order of their lowest ranks, at most 100; else empty.
    programs: Vec<ProgramRow<'a>>,
    /// Time at which its log was opened, in seconds since 1970.
    started_unix_s: u64,
    /// Version of lbprof that recorded the run.
    recorder: &'a str,
    /// The recorder's settings, as `NAME=value`.
    settings: &'a [String],
    /// The value of each of the user's parameters (LBPROF_PARAM), by its name.
    params: &'a BTreeMap<String, f64>,
    /// If the report is a first look, what it is made from; null if all events were analysed.
    summary: Option<SummaryFacts>,
    /// Missing and doubtful data, by kind, the worst first.
    problems: Vec<ProblemRow>,
    /// Unsuccessful polls of all ranks' first threads, and the time between them up to the call that continues the wait; for the whole time of
    /// a rank even if a window is selected.
    polling: PollingRow<'a>,
    /// True if times of different ranks can be compared.
    common_clock: bool,
    /// Largest bound of the error in comparing them; null if clocks were not compared.
    clock_error_s: Option<f64>,
}

/// A program of some of the ranks.
#[derive(Debug, Serialize, crate::JsonSchema)]
struct ProgramRow<'a> {
    /// Its command line.
    command: &'a [String],
    /// Number of ranks.
    ranks: u64,
    /// The ranks, as `0-3, 8`.
    ranks_text: String,
}

/// Polls, and the time between them.
#[derive(Debug, Serialize, crate::JsonSchema)]
struct PollingRow<'a> {
    /// The value of `--polling`: `auto`, the lengths of the intervals decide; `waiting`, however long they are; `computation`, however short they are.
    rule: &'static str,
    /// Number of polls, and their time.
    #[serde(flatten)]
    polls: &'a PollTimes,
}

impl<'a> RunRow<'a> {
    pub(super) fn new(facts: &'a RunFacts, data: &'a DataFacts, problems: Vec<ProblemRow>) -> RunRow<'a> {
        let programs = facts.programs.programs.iter().filter(|_| facts.programs.programs.len() > 1);
        let programs = programs.map(|program| ProgramRow {
            command: &program.command,
            ranks: program.ranks.len(),
            ranks_text: list_ranks(&program.ranks.iter().collect::<Vec<_>>()),
        });
        RunRow {
            id: format!("{:016x}", facts.run_id),
            ranks: facts.n_ranks,
            data,
            mpi: &facts.mpi,
            abi: &facts.abi,
            command: &facts.command,
            programs: programs.collect(),
            started_unix_s: facts.started_unix_s,
            recorder: &facts.recorder,
            settings: &facts.settings,
            params: &facts.params,
            summary: facts.summary,
            problems,
            polling: PollingRow { rule: facts.polling.name(), polls: &data.polls },
            common_clock: facts.common_clock,
            clock_error_s: facts.clock_error_s,
        }
    }
}
