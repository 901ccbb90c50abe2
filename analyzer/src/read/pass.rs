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

use lbprof_collector::format::Header;
use lbprof_collector::reader::Item;
use lbprof_collector::{Problem, ProblemKind};
use rayon::prelude::*;

use crate::read::open::Run;

/// What a rank's log is folded into, item by item, in the log's order.
pub trait RankPass {
    /// What remains of the rank.
    type Output: Merge + Send;

    /// Takes the next item of the log.
    fn item(&mut self, item: Item);

    /// The rank's part, at the log's end.
    fn end(self) -> Self::Output;
}

/// A part of a run that can be joined with the part of higher ranks. Joining is associative.
pub trait Merge: Sized {
    /// This part and that of higher ranks as one.
    fn merge(self, higher: Self) -> Self;
}

/// What is reported while a fold runs, from any thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// So many more records were read.
    Records(u64),
    /// One more rank is done.
    Rank,
}

/// Folds all ranks of `run` and merges the parts in the order of ranks; `None` where no log could be opened again.
///
/// `start` makes the pass of the rank that a header is of.
pub fn fold<P: RankPass>(
    run: &Run,
    start: impl Fn(&Header) -> P + Sync,
    progress: impl Fn(Progress) + Sync,
) -> Option<P::Output> {
    let part = |header: &Header| {
        let mut pass = start(header);
        match run.log(header) {
            Ok(mut log) => {
                while let Some(item) = log.next_item() {
                    if let Item::Records { records, .. } = &item {
                        progress(Progress::Records(records.len() as u64));
                    }
                    pass.item(item);
                }
            }
            Err(error) => pass.item(Item::Problem(Problem {
                kind: ProblemKind::Damaged,
                rank: Some(header.rank),
                count: 1,
                detail: error.to_string(),
            })),
        }
        progress(Progress::Rank);
        pass.end()
    };
    run.headers.par_iter().map(part).reduce_with(Merge::merge)
}
