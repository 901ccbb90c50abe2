//! Folds over a run's ranks, in parallel.
//!
//! A rank's log is streamed into one [`RankPass`], and the parts that the passes return are merged in the order of ranks. So the records of
//! a rank are never in memory together, and one rank, many threads or many nodes are the same code.
//!
//! ```text
//!   rank 0   items ─→ pass ─→ part ─┐
//!   rank 1   items ─→ pass ─→ part ─┴─ merge ─┐
//!   rank 2   items ─→ pass ─→ part ───────────┴─ merge ─→ the run's part
//! ```

use lbprof_collector::format::LogHeader;
use lbprof_collector::reader::LogItem;
use lbprof_collector::{Problem, ProblemKind};
use rayon::prelude::*;

use crate::partial_result::PartialResult;
use crate::read::open::RecordedRun;

/// A fold over a rank's log, item by item, in the log's order.
pub trait RankPass {
    /// The result for the rank.
    type Output: PartialResult + Send;

    /// Takes the next item of the log.
    fn item(&mut self, item: LogItem);

    /// Returns the rank's part, at the log's end.
    fn end(self) -> Self::Output;
}

/// The progress of a fold, reported from any thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldProgress {
    /// This number of further records was read.
    Records(u64),
    /// A further rank is done.
    Rank,
}

/// The receiver of a pass's progress.
pub type ProgressReport<'a> = &'a (dyn Fn(FoldProgress) + Sync);

/// Folds the ranks of `run` with these headers, and merges the parts in their order. `start` makes the pass of the rank with a header.
/// Returns `None` if there are no ranks.
pub(crate) fn fold_ranks<P: RankPass>(
    run: &RecordedRun,
    headers: &[LogHeader],
    start: impl Fn(&LogHeader) -> P + Sync,
    progress: ProgressReport,
) -> Option<P::Output> {
    headers.par_iter().map(|header| fold_rank(run, header, start(header), progress)).reduce_with(PartialResult::merge)
}

fn fold_rank<P: RankPass>(run: &RecordedRun, header: &LogHeader, mut pass: P, progress: ProgressReport) -> P::Output {
    match run.items(header) {
        Ok(mut log) => {
            while let Some(item) = log.next_item() {
                if let LogItem::Records { records, .. } = &item {
                    progress(FoldProgress::Records(records.len() as u64));
                }
                pass.item(item);
            }
        }
        Err(error) => pass.item(LogItem::Problem(Problem {
            kind: ProblemKind::Damaged,
            rank: Some(header.rank),
            count: 1,
            detail: error.to_string(),
        })),
    }
    progress(FoldProgress::Rank);
    pass.end()
}
