//! What is missing or doubtful: what the logs tell and what the figures show ([`crate::metrics::findings`]), one row a kind.

use std::collections::{BTreeMap, BTreeSet};

use lbprof_collector::ProblemKind;

use crate::model::Model;

/// A kind of problem, all ranks together.
#[derive(Clone, Debug)]
pub struct ProblemRow {
    /// The kind.
    pub kind: ProblemKind,
    /// Ranks that it concerns; empty: the run.
    pub ranks: Vec<u32>,
    /// How often, or how many records, bytes or ranks.
    pub count: u64,
    /// Where and how: different texts, the first few.
    pub details: Vec<String>,
}

/// Problems from the logs and those that the figures show, by kind, the worst first.
pub(super) fn rows(model: &Model) -> Vec<ProblemRow> {
    /// A row while it is made: its ranks are looked up, and there may be many.
    #[derive(Default)]
    struct Row {
        ranks: BTreeSet<u32>,
        count: u64,
        details: Vec<String>,
    }
    let mut all: BTreeMap<ProblemKind, Row> = BTreeMap::new();
    let told = model.problems.iter().map(|problem| (problem, true));
    let found = model.found.iter().map(|problem| (problem, false));
    for (problem, is_told) in told.chain(found) {
        let row = all.entry(problem.kind).or_default();
        // What a rank's log has counted itself the figures only show once more.
        if is_told || problem.rank.is_none_or(|rank| !row.ranks.contains(&rank)) {
            row.count = row.count.saturating_add(problem.count);
        }
        row.ranks.extend(problem.rank);
        if !problem.detail.is_empty() && row.details.len() < MAX_DETAILS && !row.details.contains(&problem.detail) {
            row.details.push(problem.detail.clone());
        }
    }
    let row =
        |(kind, Row { ranks, count, details })| ProblemRow { kind, ranks: ranks.into_iter().collect(), count, details };
    let mut rows: Vec<ProblemRow> = all.into_iter().map(row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.kind.severity()));
    rows
}

/// Most different details of one kind of problem that a report shows.
const MAX_DETAILS: usize = 64;
