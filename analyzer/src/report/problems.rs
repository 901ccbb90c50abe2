//! What is missing or doubtful: what the logs tell and what the figures show, one row a kind.

use std::collections::{BTreeMap, BTreeSet};

use lbprof_collector::{Activity, Problem, ProblemKind};

use crate::metrics::preemption::{Preemption, preemption};
use crate::model::{Model, RankModel};
use crate::open::n_recorded;

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
    let told = model.problems.iter().cloned().map(|problem| (problem, true));
    let is_not_closed = |one: &&Problem| one.kind == ProblemKind::NotClosed;
    let not_closed: BTreeSet<u32> = model.problems.iter().filter(is_not_closed).filter_map(|one| one.rank).collect();
    // Those that lost most to others come first, for only the first are shown.
    let mut by_loss: Vec<(Option<Preemption>, &RankModel)> =
        model.ranks.iter().map(|rank| (preemption(rank), rank)).collect();
    let delayed_s = |lost: &Option<Preemption>| lost.map_or(0.0, |lost| lost.delayed_s);
    by_loss.sort_by(|a, b| delayed_s(&b.0).total_cmp(&delayed_s(&a.0)));
    let seen = by_loss.into_iter().flat_map(|(lost, rank)| {
        let ended_early = rank.end_reason.is_none() && not_closed.contains(&rank.rank);
        seen_in_figures(model, rank, lost, ended_early)
    });
    for (problem, is_told) in told.chain(seen.chain(seen_in_all(model)).map(|problem| (problem, false))) {
        let row = all.entry(problem.kind).or_default();
        // What a rank's log has counted itself the figures only show once more.
        if is_told || problem.rank.is_none_or(|rank| !row.ranks.contains(&rank)) {
            row.count = row.count.saturating_add(problem.count);
        }
        row.ranks.extend(problem.rank);
        if !problem.detail.is_empty() && row.details.len() < MAX_DETAILS && !row.details.contains(&problem.detail) {
            row.details.push(problem.detail);
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

/// Share of its time from which on a rank's recorder disturbs what it records.
const DISTURBING: f64 = 0.05;

/// Share of the run from which on pauses that differ between ranks matter.
const UNEVEN: f64 = 0.01;

/// Problems of the run that no log states.
fn seen_in_all(model: &Model) -> Vec<Problem> {
    let problem = |kind, count, detail| Problem { kind, rank: None, count, detail };
    let mut found = Vec::new();
    let n_recorded = n_recorded(&model.facts.recorded_ranks, model.facts.n_ranks);
    if n_recorded < u64::from(model.facts.n_ranks) && model.facts.selected.ranks.is_none() {
        let detail = format!("{n_recorded} of {} recorded", model.facts.n_ranks);
        found.push(problem(ProblemKind::LeftOut, u64::from(model.facts.n_ranks) - n_recorded, detail));
    }
    let paused = || model.ranks.iter().map(|rank| rank.paused_s);
    let (least, most) = (paused().fold(f64::INFINITY, f64::min), paused().fold(0.0, f64::max));
    if most - least > UNEVEN * model.elapsed_s() {
        found.push(problem(ProblemKind::UnevenPause, 1, format!("from {least:.3} s to {most:.3} s")));
    }
    found
}

/// Problems of a rank that its log does not state. `lost`: what it lost to other users of its core.
fn seen_in_figures(model: &Model, rank: &RankModel, lost: Option<Preemption>, ended_early: bool) -> Vec<Problem> {
    let problem = |kind, count, detail| Problem { kind, rank: Some(rank.rank), count, detail };
    let mut found = Vec::new();
    if ended_early {
        let begin = model.window_s().0;
        let detail =
            format!("rank {}: last seen at {:.3} s of {:.3} s", rank.rank, rank.end_s - begin, model.elapsed_s());
        found.push(problem(ProblemKind::NotClosed, 1, detail));
    }
    let recorder_s = rank.inclusive(0)[Activity::Recorder as usize];
    if recorder_s > DISTURBING * (rank.end_s - rank.begin_s) {
        let detail = format!("rank {}: {recorder_s:.3} s of {:.3} s", rank.rank, rank.end_s - rank.begin_s);
        found.push(problem(ProblemKind::Disturbed, 1, detail));
    }
    if let Some(lost) = lost {
        let detail = format!(
            "rank {}: {} {:.2} s of {:.2} s of computation, pushed off {:.0} times a second",
            rank.rank,
            if lost.certain { "at least" } else { "about" },
            lost.delayed_s,
            lost.computation_s,
            lost.switches_per_s,
        );
        let count = rank.usage.map_or(1, |usage| usage.thread_involuntary);
        found.push(problem(ProblemKind::Preempted, count, detail));
    }
    if rank.other_threads > 0 {
        let detail = format!(
            "rank {}: {} more thread{}, {:.3} s in MPI",
            rank.rank,
            rank.other_threads,
            if rank.other_threads == 1 { "" } else { "s" },
            rank.other_threads_mpi_s
        );
        found.push(problem(ProblemKind::OtherThreads, u64::from(rank.other_threads), detail));
    }
    if rank.paused_s > 0.0 {
        found.push(problem(ProblemKind::Paused, 1, format!("rank {}: {:.3} s", rank.rank, rank.paused_s)));
    }
    found
}
