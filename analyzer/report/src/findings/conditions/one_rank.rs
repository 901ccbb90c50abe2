//! There is one rank, which shows nothing about balance.

use crate::Report;
use crate::findings::phrases::ranks::computing_share;
use crate::findings::phrases::working_pool::find_working_pool;
use crate::losses::finding::{Finding, FindingAdvice};
use crate::rows::words::seconds_like;

/// Detects that there is one rank, without threads.
pub fn find_single_rank(report: &Report, _: &[Finding]) -> Option<Finding> {
    if report.verdict.is_of_nothing()
        || report.facts.n_ranks != 1
        || report.threads.is_some()
        || find_working_pool(report).is_some()
    {
        return None;
    }
    let elapsed_s = report.verdict.efficiency.times.elapsed_s;
    let (elapsed, computes) = (seconds_like(elapsed_s, elapsed_s), computing_share(report));
    let sentence = format!("There is one rank, so there is no balance to judge: it computes {computes} of {elapsed}.");
    Some(Finding {
        advice: Some(FindingAdvice::Try("record more ranks: mpirun -n 4 lb-run PROGRAM".to_owned())),
        ..Finding::condition("one rank", sentence)
    })
}
