//! A header for unit tests.

use crate::definition::{ClockPair, RankList};
use crate::format::{ClockSource, LogHeader, RecordingMode};

/// The header of a rank's log, whose ticks are nanoseconds of CLOCK_MONOTONIC.
pub fn header(rank: u32, n_ranks: u32) -> LogHeader {
    LogHeader {
        run_id: 1,
        rank,
        n_ranks,
        host: "node0".to_owned(),
        pid: 1000 + rank,
        command: vec!["./sample".to_owned()],
        mpi: "an MPI made by hand".to_owned(),
        abi: "open-mpi".to_owned(),
        recorder: "0".to_owned(),
        clock: ClockSource::Monotonic,
        started_unix_s: 1_700_000_000,
        recorded_ranks: RankList::default(),
        mode: RecordingMode::Events,
        instants: [0, 1_000_000].map(|ticks| ClockPair { ticks, monotonic_ns: ticks }),
        settings: Vec::new(),
    }
}
