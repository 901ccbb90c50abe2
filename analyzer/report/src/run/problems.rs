//! Missing and doubtful data, from the logs and from the figures ([`lbprof_analysis::metrics::findings`]), a row per kind.

use std::collections::{BTreeMap, BTreeSet};

use lbprof_collector::ProblemKind;
use serde::Serialize;

use lbprof_analysis::model::Model;

/// A kind of problem, all ranks together.
#[derive(Clone, Debug, Serialize, crate::JsonSchema)]
pub struct ProblemRow {
    /// The kind.
    #[serde(flatten, serialize_with = "crate::rows::serial::written_as::<_, ProblemKindRow, _>")]
    #[schemars(with = "ProblemKindRow")]
    pub kind: ProblemKind,
    /// Number of ranks with the problem; 0: the whole run.
    pub rank_count: usize,
    /// Ranks with the problem; the first 1,000 unless `--full` is given.
    pub ranks: Vec<u32>,
    /// Number of occurrences, or of records, bytes or ranks.
    pub count: u64,
    /// Places and circumstances; the first few that differ.
    pub details: Vec<String>,
}

/// The description of a kind of problem.
#[derive(Serialize, crate::JsonSchema)]
struct ProblemKindRow {
    /// Name of the kind.
    kind: &'static str,
    /// `note`: worth knowing; `partial`: data are missing; `doubtful`: figures may be misleading.
    severity: &'static str,
    /// Description of the problem, as a sentence.
    meaning: &'static str,
    /// Advice on the problem.
    advice: &'static str,
}

impl From<&ProblemKind> for ProblemKindRow {
    fn from(kind: &ProblemKind) -> ProblemKindRow {
        ProblemKindRow {
            kind: kind.name(),
            severity: kind.severity().name(),
            meaning: kind.meaning(),
            advice: kind.advice(),
        }
    }
}

impl ProblemRow {
    pub(crate) fn is_of_cores(&self) -> bool {
        matches!(self.kind, ProblemKind::NoCore | ProblemKind::Preempted)
    }
}

/// Returns the problems by kind, the worst first.
pub(crate) fn problem_rows(model: &Model) -> Vec<ProblemRow> {
    /// A row under construction, with ranks in a set for fast lookups.
    #[derive(Default)]
    struct ProblemDraft {
        ranks: BTreeSet<u32>,
        count: u64,
        details: Vec<String>,
    }
    let mut all: BTreeMap<ProblemKind, ProblemDraft> = BTreeMap::new();
    let recorded = model.problems.iter().map(|problem| (problem, true));
    let found = model.found.iter().map(|problem| (problem, false));
    for (problem, is_recorded) in recorded.chain(found) {
        let row = all.entry(problem.kind).or_default();
        // Figures repeat problems that a rank's log has counted.
        if is_recorded || problem.rank.is_none_or(|rank| !row.ranks.contains(&rank)) {
            row.count = row.count.saturating_add(problem.count);
        }
        row.ranks.extend(problem.rank);
        if !problem.detail.is_empty() && row.details.len() < MAX_DETAILS && !row.details.contains(&problem.detail) {
            row.details.push(problem.detail.clone());
        }
    }
    let rows = all.into_iter().map(|(kind, ProblemDraft { ranks, count, details })| ProblemRow {
        kind,
        rank_count: ranks.len(),
        ranks: ranks.into_iter().collect(),
        count,
        details,
    });
    let mut rows: Vec<ProblemRow> = rows.collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.kind.severity()));
    rows
}

const MAX_DETAILS: usize = 64;
