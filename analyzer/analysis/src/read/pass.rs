//! Folds over a run's ranks, in parallel.
//!
//! A rank's log is streamed into one [`RankPass`]; the parts that these give are merged in the order of ranks. So nothing
//! ever holds the records of a rank, and one rank, many threads or many nodes are the same code.
//!
//! ```text
//!   rank 0   items ─→ pass ─→ part ─┐
//!   rank 1   items ─→ pass ─→ part ─┴─ merge ─┐
//!   rank 2   items ─→ pass ─→ part ───────────┴─ merge ─→ the run's part
//! ```

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bincode::{Decode, Encode};
use lbprof_collector::format::LogHeader;
use lbprof_collector::reader::LogItem;
use lbprof_collector::{Problem, ProblemKind};
use rayon::prelude::*;

use crate::read::distributed_run::RecordPass;
use crate::read::open::RecordedRun;
use crate::transport::TransportFailure;

/// A fold over a rank's log, item by item, in the log's order.
pub trait RankPass {
    /// The result for the rank.
    type Output: MergeHigher + Send;

    /// Takes the next item of the log.
    fn item(&mut self, item: LogItem);

    /// The rank's part, at the log's end.
    fn end(self) -> Self::Output;
}

/// A part of a run that can be joined with the part of higher ranks. Joining is associative.
pub trait MergeHigher: Sized {
    /// This part and that of higher ranks as one.
    fn merge(self, higher: Self) -> Self;
}

/// The progress of a fold, reported from any thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldProgress {
    /// So many more records were read.
    Records(u64),
    /// A further rank is done.
    Rank,
}

/// The receiver of a pass's progress.
pub type ProgressReport<'a> = &'a (dyn Fn(FoldProgress) + Sync);

/// Folds all ranks of `run` and merges the parts in the order of ranks; `None` where no log could be opened again. Where several processes
/// opened the run, each folds its ranks: `pass` is which one it is, `input` what the others have to know for it.
///
/// `start` makes the pass of the rank that a header is of.
///
/// Errors: a process failed.
pub(crate) fn fold<P: RankPass>(
    run: &RecordedRun,
    pass: RecordPass,
    input: impl FnOnce() -> Vec<u8>,
    start: impl Fn(&LogHeader) -> P + Sync,
    progress: ProgressReport,
) -> Result<Option<P::Output>, TransportFailure>
where
    P::Output: Encode + Decode<()>,
{
    let Some(together) = &run.together else { return Ok(fold_ranks(run, &run.headers, start, progress)) };
    // Another run was opened since: this process has to do the pass alone.
    let Some(team) = together.begin(pass, run.part(), input())? else {
        return Ok(fold_ranks(run, &run.headers, start, progress));
    };
    let own = run.own_headers();
    let scale = ProgressScale::new(own.len(), run.headers.len());
    let output = fold_ranks(run, own, &start, &|done| scale.show(done, progress));
    match team.reduce(Ok(PartialFold { output }), PartialFold::merge)? {
        Some(part) => Ok(part.output),
        None => Ok(fold_ranks(run, &run.headers, start, progress)),
    }
}

/// The partial result of a fold; nothing where it has no ranks.
#[derive(Encode, Decode)]
pub(crate) struct PartialFold<T> {
    pub(crate) output: Option<T>,
}

impl<T: MergeHigher> PartialFold<T> {
    pub(crate) fn merge(self, higher: PartialFold<T>) -> PartialFold<T> {
        let output = match (self.output, higher.output) {
            (Some(lower), Some(higher)) => Some(lower.merge(higher)),
            (lower, higher) => lower.or(higher),
        };
        PartialFold { output }
    }
}

/// Progress of one of several processes, shown as if the others were as far.
struct ProgressScale {
    own: u64,
    all: u64,
    done: AtomicU64,
}

impl ProgressScale {
    fn new(own: usize, all: usize) -> ProgressScale {
        ProgressScale { own: own.max(1) as u64, all: all as u64, done: AtomicU64::new(0) }
    }

    fn show(&self, done: FoldProgress, progress: ProgressReport) {
        match done {
            FoldProgress::Records(n) => progress(FoldProgress::Records(n.saturating_mul(self.all) / self.own)),
            FoldProgress::Rank => {
                let before = self.done.fetch_add(1, Relaxed);
                for _ in before * self.all / self.own..(before + 1) * self.all / self.own {
                    progress(FoldProgress::Rank);
                }
            }
        }
    }
}

/// Folds the ranks that `headers` are of, and merges the parts in their order.
pub(crate) fn fold_ranks<P: RankPass>(
    run: &RecordedRun,
    headers: &[LogHeader],
    start: impl Fn(&LogHeader) -> P + Sync,
    progress: ProgressReport,
) -> Option<P::Output> {
    headers.par_iter().map(|header| fold_rank(run, header, start(header), progress)).reduce_with(MergeHigher::merge)
}

/// Folds the rank that `header` is of.
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
