//! The findings of both sides, matched by their kind.

use std::collections::BTreeMap;

use lbprof_report::findings::part_in_words;
use lbprof_report::losses::finding::Finding;

use super::{ChangeJudge, ComparisonSides, FigureChange};
use crate::RunMetrics;

/// The change of a thing that runs lose time by.
#[derive(Clone, Debug, PartialEq)]
pub struct FindingChange {
    /// The finding's words in the first new run that has it, or else in the first base run: `because rank 1 has twice the average work`.
    pub words: String,
    /// Seconds of the mean rank's time that it explains in each run, 0 in runs without it.
    pub seconds: FigureChange,
}

/// Returns the changes of findings that are parts of the loss, the largest first; none if a run has no findings, since it comes from a study.
pub(super) fn finding_changes(sides: &ComparisonSides, judge: &ChangeJudge) -> Vec<FindingChange> {
    let runs: Vec<&RunMetrics> = sides.new.runs.iter().chain(&sides.base.runs).map(|named| &named.run).collect();
    if runs.iter().any(|run| run.findings.is_empty()) {
        return Vec::new();
    }
    let mut by_kind: BTreeMap<&str, &Finding> = BTreeMap::new();
    for finding in runs.iter().flat_map(|run| &run.findings).filter(|finding| finding.is_part()) {
        by_kind.entry(finding.kind).or_insert(finding);
    }
    let mut changes: Vec<FindingChange> = Vec::new();
    for (kind, finding) in by_kind {
        let [base, new] = [&sides.base, &sides.new].map(|side| side.values(|run| seconds_of_kind(run, kind)));
        changes.push(FindingChange { words: part_in_words(finding, false), seconds: FigureChange::new(base, new) });
    }
    judge.judge(&mut changes.iter_mut().map(|change| &mut change.seconds).collect::<Vec<_>>());
    changes.sort_by(|a, b| b.seconds.change_s.abs().total_cmp(&a.seconds.change_s.abs()));
    changes
}

fn seconds_of_kind(run: &RunMetrics, kind: &str) -> f64 {
    run.findings.iter().filter(|finding| finding.kind == kind).map(|finding| finding.seconds).sum()
}
