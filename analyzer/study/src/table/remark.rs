//! Remarks that must be made beside a table.

use super::scaling_base::ScalingBase;

/// Something that a reader of the figures must know.
#[derive(Clone, Debug, PartialEq)]
pub enum TableRemark {
    /// The runs with the best balance or efficiency are not the shortest, though they have as many ranks: indices of columns.
    NotShortest {
        /// The shortest run.
        shortest: usize,
        /// The run with the best load balance, where it is another one.
        balance: Option<usize>,
        /// The run with the best parallel efficiency, likewise.
        efficiency: Option<usize>,
    },
    /// Origin of the ideal time: numbers of runs.
    Ideal {
        /// By a replay.
        replayed: Vec<u32>,
        /// Runs in which it is an estimate by phase profile.
        estimated: Vec<u32>,
        /// The estimate was above the elapsed time, so it is left out.
        left_out: Vec<u32>,
    },
    /// Origin of the time on one rank: numbers of the runs on one rank, and of the runs for which it is assumed.
    Sequential {
        /// Runs on one rank.
        measured: Vec<u32>,
        /// Runs whose own work is taken for it.
        assumed: Vec<u32>,
    },
    /// Reference of speedup and efficiency.
    Against {
        /// The base, where all columns have the same.
        base: Option<ScalingBase>,
        /// True if the work grows with the ranks.
        weak: bool,
    },
    /// There is nothing to compare with: all runs with the same parameters whose time is known have as many ranks.
    NoBase,
    /// Data of these runs are missing.
    Incomplete(Vec<u32>),
    /// Runs without a parameter that others of the program have.
    NoParam {
        /// The parameter.
        name: String,
        /// Their numbers.
        runs: Vec<u32>,
    },
    /// The main loop has not as many iterations in all runs, so that an iteration may not be the same: the columns' numbers.
    Iterations(Vec<Option<u64>>),
    /// Repeated runs are shown by their medians.
    Repeated,
}
