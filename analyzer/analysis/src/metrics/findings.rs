//! Problems that no log states: what the figures of all time and all regions show of the data.

use std::collections::BTreeSet;

use lbprof_collector::definition::EndReason;
use lbprof_collector::polling::PollGapRule;
use lbprof_collector::words::{CountedNoun, GroupedNumber, format_seconds, seconds_like};
use lbprof_collector::{Activity, Problem, ProblemKind};
use lbprof_thresholds::metrics::{MIN_DISTURBANCE, MIN_STANDARD_ERRORS, MIN_TIME_WITHOUT_CALLS_S, MIN_UNEVEN_PAUSES};

use crate::metrics::sampled::preemption::{PreemptionLoss, is_yielding, preemption_loss, without_core};
use crate::model::ranks::samples::CpuTime;
use crate::model::{Model, RankModel};
use crate::read::open::n_recorded;

/// Returns the findings about the ranks of `model`, starting with the rank that lost most: only the first are reported.
pub fn find_data_problems(model: &Model) -> Vec<Problem> {
    let not_closed: BTreeSet<u32> =
        model.problems.iter().filter(|one| one.kind == ProblemKind::NotClosed).filter_map(|one| one.rank).collect();
    let mut by_loss: Vec<(Option<PreemptionLoss>, &RankModel)> =
        model.ranks.iter().map(|rank| (preemption_loss(rank), rank)).collect();
    by_loss.sort_by(|(a, _), (b, _)| {
        let [a_s, b_s] = [a, b].map(|lost| lost.map_or(0.0, |lost| lost.delayed_s));
        b_s.total_cmp(&a_s)
    });
    // Found once: it takes a look at each rank.
    let window_s = model.window_s();
    let of_ranks = by_loss.into_iter().flat_map(|(lost, rank)| {
        let ended_early = rank.end_reason.is_none() && not_closed.contains(&rank.rank);
        of_rank(window_s, rank, lost, ended_early)
    });
    of_ranks.chain(of_run(model)).collect()
}

fn of_run(model: &Model) -> Vec<Problem> {
    let mut found = Vec::new();
    let n_recorded = n_recorded(&model.facts.recorded_ranks, model.facts.n_ranks);
    if n_recorded < u64::from(model.facts.n_ranks) && model.facts.selected.ranks.is_none() {
        let detail =
            format!("{} of {} recorded", GroupedNumber(n_recorded), GroupedNumber(u64::from(model.facts.n_ranks)));
        let count = u64::from(model.facts.n_ranks) - n_recorded;
        found.push(Problem { kind: ProblemKind::LeftOut, rank: None, count, detail });
    }
    // MPI_Finalize is a call, too, but says nothing of the program.
    let is_silent =
        model.ranks.iter().all(|rank| rank.calls <= u64::from(matches!(rank.end_reason, Some(EndReason::Finalize))))
            && model.facts.selected.is_all();
    if is_silent && model.elapsed_s() >= MIN_TIME_WITHOUT_CALLS_S {
        found.push(Problem { kind: ProblemKind::NothingSeen, rank: None, count: 1, detail: String::new() });
    }
    found.extend(polling_decided(model));
    let paused_s = model.ranks.iter().map(|rank| rank.paused_s);
    let (least_s, most_s) = (paused_s.clone().fold(f64::INFINITY, f64::min), paused_s.fold(0.0, f64::max));
    if most_s - least_s > MIN_UNEVEN_PAUSES * model.elapsed_s() {
        let detail = format!("from {} to {}", seconds_like(least_s, most_s), format_seconds(most_s));
        found.push(Problem { kind: ProblemKind::UnevenPause, rank: None, count: 1, detail });
    }
    found
}

/// Reports that the user's rule for the time between polls comes too late, because the recorder has applied one already.
fn polling_decided(model: &Model) -> Option<Problem> {
    let decided = model.ranks.iter().map(|rank| rank.polls.decided).fold(0, u64::saturating_add);
    let all = model.ranks.iter().map(|rank| rank.polls.polls).fold(0, u64::saturating_add);
    let detail =
        format!("{} of {}; --polling {}", GroupedNumber(decided), CountedNoun(all, "poll"), model.facts.polling);
    let is_asked = model.facts.polling != PollGapRule::Auto;
    let kind = ProblemKind::PollingDecided;
    (is_asked && decided > 0).then_some(Problem { kind, rank: None, count: decided, detail })
}

/// Describes how often a rank was preempted. The text is empty if its MPI waits by yielding the core again and again, which looks the same.
fn pushed_off(lost: &PreemptionLoss) -> String {
    match is_yielding(lost.switches_per_s) {
        true => String::new(),
        false => format!(", pushed off {} times per second", GroupedNumber(lost.switches_per_s.round() as u64)),
    }
}

fn rank_problem(rank: u32, kind: ProblemKind, count: u64, detail: String) -> Problem {
    Problem { kind, rank: Some(rank), count, detail }
}

/// Problems of a rank that its log does not state. `lost`: what it lost to other users of its core.
fn of_rank(window_s: (f64, f64), rank: &RankModel, lost: Option<PreemptionLoss>, ended_early: bool) -> Vec<Problem> {
    let mut found = Vec::new();
    if ended_early {
        let (seen_s, all_s) = (rank.end_s - window_s.0, (window_s.1 - window_s.0).max(0.0));
        let detail =
            format!("rank {}: last seen at {} of {}", rank.rank, seconds_like(seen_s, all_s), format_seconds(all_s));
        found.push(rank_problem(rank.rank, ProblemKind::NotClosed, 1, detail));
    }
    let all_s = rank.end_s - rank.begin_s;
    let recorder = recorder_cost(rank);
    if recorder.seconds - MIN_STANDARD_ERRORS * recorder.error_s() > MIN_DISTURBANCE * all_s {
        let writing_s = rank.inclusive(0)[Activity::Recorder as usize];
        let detail = format!(
            "rank {}: {} of {}, {} of that for writing the log",
            rank.rank,
            seconds_like(recorder.seconds, all_s),
            format_seconds(all_s),
            format_seconds(writing_s)
        );
        found.push(rank_problem(rank.rank, ProblemKind::Disturbed, 1, detail));
    }
    if let Some(lost) = lost {
        let detail = format!(
            "rank {}: {} {} of {} of computation{}",
            rank.rank,
            if lost.certain { "at least" } else { "about" },
            seconds_like(lost.delayed_s, lost.computation_s),
            format_seconds(lost.computation_s),
            pushed_off(&lost),
        );
        let count = rank.usage.map_or(1, |usage| usage.thread_involuntary);
        found.push(rank_problem(rank.rank, ProblemKind::Preempted, count, detail));
    } else if let Some(share) = without_core(rank) {
        let detail = format!("rank {}: {:.1} % of the time", rank.rank, 100.0 * share);
        found.push(rank_problem(rank.rank, ProblemKind::NoCore, 1, detail));
    }
    found.extend(other_threads(rank));
    if rank.paused_s > 0.0 {
        let detail = format!("rank {}: {}", rank.rank, format_seconds(rank.paused_s));
        found.push(rank_problem(rank.rank, ProblemKind::Paused, 1, detail));
    }
    found
}

/// Returns the cost of the recorder for a rank's first thread: the time of writing the log, and of its code in calls, by samples.
///
/// This is the cost in this program, with its caches. Time in the kernel is part of writing the log; taking samples is not included.
fn recorder_cost(rank: &RankModel) -> CpuTime {
    let mut cost = rank.samples.recorder;
    cost.seconds += rank.inclusive(0)[Activity::Recorder as usize];
    cost
}

/// Returns the note that threads of a rank other than its first call MPI, whether their calls are a part of its figures or not.
fn other_threads(rank: &RankModel) -> Option<Problem> {
    let beside = CountedNoun(u64::from(rank.other_threads), "more thread");
    let instead = CountedNoun(u64::from(rank.leading_threads), "more thread");
    let mut details = Vec::new();
    if rank.other_threads > 0 {
        details.push(format!("{beside}, {} in MPI", format_seconds(rank.other_threads_mpi_s)));
    }
    if rank.leading_threads > 0 {
        details.push(format!("{instead}, whose calls count as the first one's, which sleeps meanwhile"));
    }
    let count = u64::from(rank.other_threads) + u64::from(rank.leading_threads);
    let detail = format!("rank {}: {}", rank.rank, details.join("; "));
    (count > 0).then(|| rank_problem(rank.rank, ProblemKind::OtherThreads, count, detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the finding for a rank that ran for 10 s with this number of 5 ms samples in the recorder's code.
    fn found_with(samples: usize) -> Option<String> {
        let mut rank = RankModel { end_s: 10.0, ..RankModel::default() };
        for _ in 0..samples {
            rank.samples.recorder.add(&CpuTime::sample(0.005));
        }
        let found = of_rank((0.0, 0.0), &rank, None, false);
        found.into_iter().find(|one| one.kind == ProblemKind::Disturbed).map(|one| one.detail)
    }

    #[test]
    fn the_elapsed_time_is_found_once_for_100_000_ranks_that_were_killed() {
        // Found for each of them, it would take 40 billion looks at a rank.
        let n = 100_000;
        let rank = |rank| RankModel { rank, begin_s: 1.0, end_s: 3.0, ..RankModel::default() };
        let problems = (0..n).map(|rank| rank_problem(rank, ProblemKind::NotClosed, 1, String::new())).collect();
        let model = Model { ranks: (0..n).map(rank).collect(), problems, ..Model::default() };
        let found = find_data_problems(&model);
        let ended: Vec<&Problem> = found.iter().filter(|one| one.kind == ProblemKind::NotClosed).collect();
        assert_eq!(ended.len(), n as usize);
        assert_eq!(ended[5].detail, "rank 5: last seen at 2.00 s of 2.00 s");
    }

    #[test]
    fn a_recorder_that_takes_more_than_a_fiftieth_is_reported_if_that_is_certain() {
        // 100 samples are 0.5 ± 0.05 s.
        assert_eq!(found_with(100).as_deref(), Some("rank 0: 0.50 s of 10.00 s, 0.00 s of that for writing the log"));
        // 45 are 0.225 ± 0.034 s, which may be less than 0.2 s.
        assert_eq!(found_with(45), None);
        assert_eq!(found_with(0), None);
    }
}
