//! The facts of a rank that are known when its log is opened.

use bincode::{Decode, Encode};
use serde::Serialize;

use crate::definition::{ClockPair, RankList, serialize_hex};

/// The clock of a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockSource {
    /// The processor's invariant time stamp counter.
    #[default]
    Tsc,
    /// CLOCK_MONOTONIC, in nanoseconds.
    Monotonic,
}

/// The detail in which calls are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordingMode {
    /// Every record.
    #[default]
    Events,
    /// The phase profile only.
    Profile,
}

/// The head of a rank's log: facts known when it is opened.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode, Serialize)]
pub struct LogHeader {
    /// Number that is the same in all logs of a run, and different in each run.
    #[serde(serialize_with = "serialize_hex")]
    pub run_id: u64,
    /// Rank in MPI_COMM_WORLD.
    pub rank: u32,
    /// Size of MPI_COMM_WORLD.
    pub n_ranks: u32,
    /// Host name.
    pub host: String,
    /// Process id.
    pub pid: u32,
    /// Command line of the program.
    pub command: Vec<String>,
    /// Name and version of the MPI library, as it states them.
    pub mpi: String,
    /// The binary interface of the MPI library: "open-mpi", "mpich", "mpi-5".
    pub abi: String,
    /// Version of lbprof that wrote the log.
    pub recorder: String,
    /// Clock of the ticks.
    pub clock: ClockSource,
    /// Seconds since 1970 when the log was opened.
    pub started_unix_s: u64,
    /// Ranks that record, where LBPROF_RANKS leaves some out; empty: all.
    pub recorded_ranks: RankList,
    /// Mode at the start.
    pub mode: RecordingMode,
    /// Two instants, before and after MPI_Init: the length of a tick even if nothing else was written.
    pub instants: [ClockPair; 2],
    /// Settings given, as NAME=value.
    pub settings: Vec<String>,
}
