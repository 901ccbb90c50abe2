//! T_seq, the time on one rank, of which overheads, efficiency and speedup are shares (docs/metrics.md §3): the same in tables and models.

use super::RunMetrics;
use lbprof_analysis::metrics::spread::median::median_of;

/// True if `other` is a complete run on one rank of the same program with the same parameters.
pub fn is_on_one_rank(other: &RunMetrics, run: &RunMetrics) -> bool {
    other.n_ranks == 1 && other.complete && other.program() == run.program() && other.params == run.params
}

/// T_seq of `run` in seconds: the median elapsed time of the runs among `all` that are the same on one rank; `None` where none is. Who
/// asks leaves out of `all` what is not to be compared, as runs under another MPI library.
pub fn t_seq_s<'a>(run: &RunMetrics, all: impl IntoIterator<Item = &'a RunMetrics>) -> Option<f64> {
    let alone = all.into_iter().filter(|other| is_on_one_rank(other, run));
    let elapsed_s: Vec<f64> = alone.map(|other| other.times.elapsed_s).filter(|value| value.is_finite()).collect();
    median_of(&elapsed_s)
}
