//! The reasons why a selection cannot be made.

use crate::model::run::moment::WindowBoundary;

/// The reason why a selection cannot be made from a run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SelectionError {
    /// The run is smaller.
    #[error("--ranks: there is no rank {rank}: the run has 0 to {largest}")]
    NoRank {
        /// The rank.
        rank: u32,
        /// The last that there is.
        largest: u32,
    },
    /// There is no such rank to ask about.
    #[error("--what-if rank={rank}: there is no such rank: the run has 0 to {largest}")]
    NoRankAsked {
        /// The rank.
        rank: u32,
        /// The last that there is.
        largest: u32,
    },
    /// There is no such parallel region to ask about.
    #[error("--what-if threads-balanced={name}: there is no such parallel region; there are {}", if .regions.is_empty() { "none" } else { .regions })]
    NoParallelRegion {
        /// The requested name.
        name: String,
        /// The first existing ones.
        regions: String,
    },
    /// There is no such function to ask about.
    #[error("--what-if parallel={name}: no sample outside of parallel regions is in such a function; there are samples in {}", if .functions.is_empty() { "none" } else { .functions })]
    NoSerialFunction {
        /// The requested name.
        name: String,
        /// The functions with most samples.
        functions: String,
    },
    /// The user had left it out of the recording.
    #[error("--ranks: rank {0} did not record: LBPROF_RANKS left it out")]
    NotRecorded(u32),
    /// No rank of the selection, listed here, has a log.
    #[error("--ranks: {}", no_log_of(.0))]
    NoLogs(String),
    /// No host has such a name.
    #[error("--ranks: no rank is on a host {pattern}; the hosts are {hosts}")]
    NoHost {
        /// The requested pattern.
        pattern: String,
        /// The first existing ones.
        hosts: String,
    },
    /// There is no such cluster.
    #[error("--ranks: there is no cluster {cluster}; there are {}", if .clusters.is_empty() { "none" } else { .clusters })]
    NoCluster {
        /// The cluster.
        cluster: u32,
        /// The existing clusters.
        clusters: String,
    },
    /// The run is shorter.
    #[error("--from {from_s} s: the run lasts {elapsed_s:.6} s")]
    PastEnd {
        /// The requested begin.
        from_s: f64,
        /// Elapsed time of the run.
        elapsed_s: f64,
    },
    /// The window ends before it begins.
    #[error("--from {from}, --to {to}: no time lies between")]
    NoTime {
        /// Its begin.
        from: WindowBoundary,
        /// Its end.
        to: WindowBoundary,
    },
    /// No iterations are known.
    #[error(
        "iteration=: the run has no main loop with known iterations: mark it (LBPROF_ITERATION_BEGIN), or give times"
    )]
    NoLoop,
    /// The main loop has others.
    #[error("there is no iteration {number}: the main loop {path} has {first} to {last}")]
    NoIteration {
        /// The requested number.
        number: u32,
        /// The main loop.
        path: String,
        /// Its first iteration.
        first: u32,
        /// Its last.
        last: u32,
    },
    /// Single ranks have blocks of iterations.
    #[error(
        "iteration {number}: on so many ranks the times of {path} are known for blocks of {per_block} iterations, not for each: choose a whole block, {first} to {last} for example, or some ranks (--ranks)"
    )]
    OnlyBlocks {
        /// The requested number.
        number: u32,
        /// The main loop.
        path: String,
        /// Iterations of a block.
        per_block: u64,
        /// The first iteration of the block.
        first: u32,
        /// The last.
        last: u32,
    },
    /// No region has such a name.
    #[error("{option}: there is no region {name}; {regions}")]
    NoRegion {
        /// The option that named it.
        option: &'static str,
        /// The requested name.
        name: String,
        /// Similar regions, or the existing ones.
        regions: String,
    },
    /// Several regions have such a name.
    #[error("{option}: {name} may be any of {regions}: give more of the path")]
    Ambiguous {
        /// The option that named it.
        option: &'static str,
        /// The requested name.
        name: String,
        /// The first of them.
        regions: String,
    },
    /// Sums do not show when ranks did something.
    #[error(
        "the run has sums in place of records (LBPROF_MODE=profile), which do not show what ranks did when: record it with \
         LBPROF_MODE=events, or export folded"
    )]
    OnlySums,
    /// There are no samples.
    #[error(
        "there are no samples in the selected part: the run was not sampled there, or its calls were recorded as sums"
    )]
    NoSamples,
    /// Sums cannot be cut. This is the first rank with sums.
    #[error(
        "--from, --to: rank {0} has sums in place of records there, which cannot be cut in time (LBPROF_MODE=profile, or past \
         LBPROF_LIMIT)"
    )]
    Profile(u32),
}

fn no_log_of(ranks: &str) -> String {
    match ranks.parse::<u32>() {
        Ok(rank) => format!("there is no log of rank {rank}"),
        Err(_) if ranks.is_empty() => "none of these ranks did record: LBPROF_RANKS left them out".to_owned(),
        Err(_) => format!("there is no log of any of the ranks {ranks}"),
    }
}
