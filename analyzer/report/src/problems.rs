//! Missing and doubtful data: the findings in the logs and in the figures ([`lbprof_analysis::metrics::findings`]), a row per kind.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use lbprof_collector::ProblemKind;
use lbprof_collector::problem::Severity;
use serde::Serialize;

use super::bounds::{ListBounds, truncate};
use lbprof_analysis::model::Model;

/// A kind of problem, all ranks together.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProblemRow {
    /// The kind.
    #[serde(flatten, serialize_with = "super::serial::written_as::<_, ProblemKindRow, _>")]
    #[cfg_attr(feature = "schema", schemars(with = "ProblemKindRow"))]
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

/// The degree to which a problem misleads.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum ProblemSeverity {
    /// Worth knowing.
    Note,
    /// Data are missing.
    Partial,
    /// Figures may be misleading.
    Doubtful,
}

/// The description of a kind of problem.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ProblemKindRow {
    /// Name of the kind.
    kind: &'static str,
    /// Effect on the figures.
    severity: ProblemSeverity,
    /// Description of the problem, as a sentence.
    meaning: &'static str,
    /// Advice on the problem.
    advice: &'static str,
}

impl From<&ProblemKind> for ProblemKindRow {
    fn from(kind: &ProblemKind) -> ProblemKindRow {
        let severity = match kind.severity() {
            Severity::Note => ProblemSeverity::Note,
            Severity::Partial => ProblemSeverity::Partial,
            Severity::Doubtful => ProblemSeverity::Doubtful,
        };
        ProblemKindRow { kind: kind.name(), severity, meaning: kind.meaning(), advice: kind.advice() }
    }
}

impl ProblemRow {
    /// Returns whether ranks lacked a core.
    pub(super) fn is_of_cores(&self) -> bool {
        matches!(self.kind, ProblemKind::NoCore | ProblemKind::Preempted)
    }

    /// Returns `rows` with at most as many ranks in their lists as `bounds` allows.
    pub(super) fn bounded<'a>(rows: &'a [ProblemRow], bounds: &ListBounds) -> Cow<'a, [ProblemRow]> {
        if rows.iter().all(|row| row.ranks.len() <= bounds.numbers) {
            return Cow::Borrowed(rows);
        }
        let bounded =
            rows.iter().map(|row| ProblemRow { ranks: truncate(&row.ranks, bounds.numbers).to_vec(), ..row.clone() });
        Cow::Owned(bounded.collect())
    }
}

/// The problems in the logs and in the figures, by kind, the worst first.
pub(super) fn rows(model: &Model) -> Vec<ProblemRow> {
    /// A row while it is made: its ranks are looked up, and there may be many.
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
        // What a rank's log has counted itself the figures only show once more.
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

/// Most different details of one kind of problem that a report shows.
const MAX_DETAILS: usize = 64;
