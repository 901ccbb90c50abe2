//! There are too few calls to judge a run.

use crate::finding::Finding;
use crate::phrases::doubts;
use crate::{Report, ReportDoubt};

/// Detects that ranks make hardly any calls, though they compute.
pub fn detect(report: &Report, _: &[Finding]) -> Option<Finding> {
    let doubt = report.doubts.iter().find(|doubt| matches!(doubt, ReportDoubt::FewCalls { .. }))?;
    (!report.verdict.is_of_nothing()).then(|| Finding::condition("few calls", doubts::sentence(report, doubt)))
}
