//! There are too few calls to judge a run.

use crate::Report;
use crate::findings::phrases::doubts;
use crate::losses::finding::Finding;

/// Detects that ranks make hardly any calls, though they compute.
pub fn find_run_of_few_calls(report: &Report, _: &[Finding]) -> Option<Finding> {
    let sentence = doubts::few_calls(report).filter(|_| !report.verdict.is_of_nothing())?;
    Some(Finding::condition("few calls", sentence))
}
