//! The run's situation: the one answer that the first screen gives, as data. Its words are in [`text`](crate::text).

use std::collections::BTreeMap;

use serde::Serialize;

use super::loss_kind::LossKind;
use super::losses::EfficiencyLoss;
use super::verdict::{LongestRank, VerdictKind};
use super::{Report, ReportDoubt};
use crate::functions::ExplainedExcess;
use crate::iteration::IterationRow;
use lbprof_analysis::model::waits::WaitState;
use lbprof_analysis::read::definitions::WHOLE_PROGRAM;
use lbprof_collector::{Activity, ProblemKind};
use lbprof_thresholds::verdict::{
    GOOD_CORE_EFFICIENCY, MAX_BYTES_OF_SMALL_MESSAGE, MAX_RUN_OF_SET_UP, MAX_WORK_OF_OTHERS,
    MIN_BYTES_OF_LARGE_MESSAGE, MIN_EXCESS_ASLEEP, MIN_ITERATIONS_OF_TURN, MIN_LONG_REDUCTION_S, MIN_LOSS_OF_ONE_RANK,
    MIN_LOSS_TO_LOCKED_CODE, MIN_LOSS_TO_WINDOWS, MIN_MANY_CALLS, MIN_REGAINED_BY_EVEN_WORK, MIN_WAITING_FOR_LOCKS,
    MIN_WAITING_FOR_TARGETS,
};

/// The answer to what a run loses most by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RunSituation {
    /// The run has not ended: a rank computes, or waits in a call.
    #[serde(rename = "still running")]
    StillRunning,
    /// Ranks did not end by themselves.
    #[serde(rename = "ended early")]
    EndedEarly,
    /// No rank computes, or nothing is known.
    #[serde(rename = "nothing")]
    Nothing,
    /// There are too few calls to judge.
    #[serde(rename = "few calls")]
    FewCalls,
    /// There is one rank.
    #[serde(rename = "one rank")]
    OneRank,
    /// Ranks had no cores of their own.
    #[serde(rename = "no cores")]
    NoCores,
    /// Most of the run lies outside of `MPI_Init` … `MPI_Finalize`.
    #[serde(rename = "set-up")]
    SetUp,
    /// Threads idle outside of MPI.
    #[serde(rename = "threads")]
    Threads,
    /// Nearly all time is computation, but asleep.
    #[serde(rename = "asleep")]
    Asleep,
    /// The time between polls may be waiting or computation.
    #[serde(rename = "unclear polls")]
    UnclearPolls,
    /// A master hands out work and is idle, and nearly all time of the others is computation.
    #[serde(rename = "master and workers")]
    MasterAndWorkers,
    /// Workers wait for the last tasks of one of them, because no tasks are left.
    #[serde(rename = "last task")]
    LastTask,
    /// A group of ranks computes longer than others, which run different code.
    #[serde(rename = "uneven groups")]
    UnevenGroups,
    /// Nearly all time is computation.
    #[serde(rename = "balanced")]
    Balanced,
    /// A rank has more work than the others.
    #[serde(rename = "static excess")]
    StaticExcess,
    /// A rank works while the others have nothing to do.
    #[serde(rename = "serial code")]
    SerialCode,
    /// A rank sleeps or waits for I/O, while the others wait for it.
    #[serde(rename = "asleep rank")]
    AsleepRank,
    /// A rank spends time in the kernel, by page faults or system calls, while the others wait for it.
    #[serde(rename = "kernel rank")]
    KernelRank,
    /// Ranks access files, or wait for those that do.
    #[serde(rename = "file access")]
    FileAccess,
    /// MPI calls functions of the program, as for a user-defined reduction.
    #[serde(rename = "called by MPI")]
    CalledByMpi,
    /// First one rank has more work, then another.
    #[serde(rename = "moving rank")]
    MovingRank,
    /// In each iteration another rank is the slowest.
    #[serde(rename = "slow in turn")]
    SlowInTurn,
    /// In each part of an iteration another rank is the slowest.
    #[serde(rename = "slow in parts")]
    SlowInParts,
    /// Ranks wait for one another in chains.
    #[serde(rename = "chains")]
    Chains,
    /// Ranks wait for one another; it is not known how.
    #[serde(rename = "serialization")]
    Serialization,
    /// Many small messages.
    #[serde(rename = "small messages")]
    SmallMessages,
    /// Large messages.
    #[serde(rename = "large messages")]
    LargeMessages,
    /// Large messages that were started in time and are waited for: they may move in MPI calls alone.
    #[serde(rename = "late progress")]
    LateProgress,
    /// Ranks wait for access to the memory of a rank that computes meanwhile.
    #[serde(rename = "busy target")]
    BusyTarget,
    /// Ranks compute while they hold a lock of a window that others wait for.
    #[serde(rename = "held lock")]
    HeldLock,
    /// Communication of another kind.
    #[serde(rename = "communication")]
    Communication,
}

impl RunSituation {
    /// Returns the situation of a run.
    pub fn new(report: &Report) -> RunSituation {
        if let Some(situation) = ended(report) {
            return situation;
        }
        let is_nothing = report.verdict.kind == VerdictKind::Nothing;
        beyond_figures(report).filter(|_| !is_nothing).unwrap_or_else(|| RunSituation::from_figures(report))
    }

    /// The situation by the figures alone, even if there is a reason to doubt them.
    pub fn from_figures(report: &Report) -> RunSituation {
        match report.verdict.kind {
            kind if kind.is_of_waiting() && waits_for_targets(report) => RunSituation::BusyTarget,
            kind if kind.is_of_waiting() && waits_for_locks(report) => RunSituation::HeldLock,
            VerdictKind::Nothing => RunSituation::Nothing,
            VerdictKind::Threads => RunSituation::Threads,
            VerdictKind::Good | VerdictKind::Doubtful => well_used(report),
            VerdictKind::Imbalance => imbalance(report),
            VerdictKind::SlowInTurn if is_lasting(report) => RunSituation::MovingRank,
            VerdictKind::SlowInTurn => RunSituation::SlowInTurn,
            VerdictKind::SlowInParts => RunSituation::SlowInParts,
            VerdictKind::DependencyChains => RunSituation::Chains,
            VerdictKind::Serialization => RunSituation::Serialization,
            VerdictKind::Communication => communication(report),
        }
    }

    /// The situation by the figures alone, if they are only a note to the answer; otherwise the situation itself.
    pub fn beside_figures(self, report: &Report) -> RunSituation {
        use RunSituation::{EndedEarly, NoCores, SetUp, StillRunning};
        match self {
            EndedEarly | NoCores | SetUp | StillRunning => RunSituation::from_figures(report),
            other => other,
        }
    }

    /// Returns whether messages cost most.
    pub fn is_of_network(self) -> bool {
        use RunSituation::{Communication, LargeMessages, LateProgress, SmallMessages};
        matches!(self, Communication | LargeMessages | LateProgress | SmallMessages)
    }

    /// Returns whether the run is judged by the losses in its efficiencies.
    pub fn is_of_losses(self) -> bool {
        use RunSituation::{
            Asleep, Balanced, EndedEarly, FewCalls, MasterAndWorkers, NoCores, Nothing, OneRank, SetUp, StillRunning,
            Threads, UnclearPolls,
        };
        !matches!(
            self,
            StillRunning
                | EndedEarly
                | Nothing
                | FewCalls
                | OneRank
                | NoCores
                | SetUp
                | Threads
                | Asleep
                | UnclearPolls
                | MasterAndWorkers
                | Balanced
        )
    }
}

/// Returns the situation of a run that was interrupted or still runs.
fn ended(report: &Report) -> Option<RunSituation> {
    let is_unended = report.ranks.iter().any(|row| row.end_reason.is_none());
    match (is_unended, report.facts.seen_at_s.is_some()) {
        (true, true) => Some(RunSituation::StillRunning),
        (true, false) => Some(RunSituation::EndedEarly),
        (false, _) => None,
    }
}

/// Returns the situation of a run whose efficiencies are not the answer.
fn beyond_figures(report: &Report) -> Option<RunSituation> {
    let selected = &report.facts.selected;
    let is_mostly_set_up = report
        .lifetime
        .as_ref()
        .is_some_and(|table| table.described_share < MAX_RUN_OF_SET_UP && table.set_up_s() > report.data.elapsed_s);
    let has_few_calls = report.doubts.iter().any(|doubt| matches!(doubt, ReportDoubt::FewCalls { .. }));
    match () {
        () if has_few_calls => Some(RunSituation::FewCalls),
        () if overturned_by_lack_of_cores(report) => Some(RunSituation::NoCores),
        () if report.facts.n_ranks == 1 && report.threads.is_none() => Some(RunSituation::OneRank),
        () if selected.is_all() && is_mostly_set_up => Some(RunSituation::SetUp),
        () => None,
    }
}

/// Returns whether the answer would be wrong because ranks had no cores. Without a core in MPI, a rank waits longer there: that overturns only what
/// is said of communication.
fn overturned_by_lack_of_cores(report: &Report) -> bool {
    report.doubts.iter().any(|doubt| match doubt {
        ReportDoubt::NoCore { .. } => RunSituation::from_figures(report).is_of_network(),
        other => other.is_of_cores(),
    })
}

/// Returns whether most of what is lost is time in calls on windows, much of it waiting for targets, which move nothing while they compute.
///
/// Ranks that would wait for the same target's work anyway, in a barrier after their accesses, gain nothing by faster answers: even work regains
/// most of what they lose, and is the answer.
///
/// ```text
///   target    |========= work =========|lock|put|unlock|barrier|
///   origin    |== work ==|lock|put|unlock ..|barrier ..........|    an answer at once would only move the wait to the barrier
/// ```
fn waits_for_targets(report: &Report) -> bool {
    let lost_s = report.verdict.lost_s * report.ranks.len() as f64;
    let calls = report.call_sites.iter().filter(|row| row.activity == Activity::OneSided);
    let in_calls_s: f64 = calls.map(|row| row.sum.seconds).sum();
    let for_target_s = waited_s(report, WaitState::Target);
    in_calls_s >= MIN_LOSS_TO_WINDOWS * lost_s
        && for_target_s >= MIN_WAITING_FOR_TARGETS * lost_s
        && for_target_s >= waited_s(report, WaitState::Lock)
        && regained_by_even_work_s(report) * (report.ranks.len() as f64) < MIN_REGAINED_BY_EVEN_WORK * lost_s
}

/// Returns the seconds that the run would be shorter with work that is divided in another way, by the prediction that saves most; 0 if there is none.
fn regained_by_even_work_s(report: &Report) -> f64 {
    let best = report.what_if.best().filter(|row| row.scenario.is_redistribution());
    best.map_or(0.0, |row| row.saved_s)
}

/// Returns whether code that runs while a rank holds a lock of a window causes most of what is lost: because others wait for the lock, or for those who do.
fn waits_for_locks(report: &Report) -> bool {
    let lost_s = report.verdict.lost_s * report.ranks.len() as f64;
    let by_locked_code_s = report.blocking.as_ref().map_or(0.0, |table| table.by_locked_code_s);
    lost_s > 0.0
        && by_locked_code_s >= MIN_LOSS_TO_LOCKED_CODE * lost_s
        && waited_s(report, WaitState::Lock) >= MIN_WAITING_FOR_LOCKS * lost_s
}

/// Returns how long all ranks wait in a state.
fn waited_s(report: &Report, state: WaitState) -> f64 {
    let times = report.blocking.as_ref().and_then(|table| table.sums.states.get(&state));
    times.map_or(0.0, |times| times.blocked_s())
}

/// Returns the situation of a run that computes nearly all of the time.
fn well_used(report: &Report) -> RunSituation {
    let polls = report.doubts.iter().find_map(|doubt| match doubt {
        ReportDoubt::Polling { efficiency, .. } => Some(efficiency.0),
        _ => None,
    });
    match () {
        () if report.idle_master.is_some() => RunSituation::MasterAndWorkers,
        () if polls.is_some_and(|least| least < GOOD_CORE_EFFICIENCY) => RunSituation::UnclearPolls,
        () if report.doubts.iter().any(ReportDoubt::is_of_sleep) => RunSituation::Asleep,
        () => RunSituation::Balanced,
    }
}

/// Returns the situation of a run with load imbalance.
fn imbalance(report: &Report) -> RunSituation {
    let Some(worst) = &report.verdict.worst else { return RunSituation::StaticExcess };
    // What does not run may also wait for a core.
    let has_core = worst.preempted.is_none() && !report.doubts.iter().any(ReportDoubt::is_of_cores);
    let excess = worst.explained.as_ref();
    let asleep = excess.and_then(|excess| excess.certain_asleep_share(has_core));
    let in_kernel = excess.and_then(ExplainedExcess::kernel_share);
    match () {
        () if report.awaited_task.is_some() => RunSituation::LastTask,
        () if report.uneven_groups.is_some() => RunSituation::UnevenGroups,
        () if asleep.is_some_and(|share| share >= MIN_EXCESS_ASLEEP) => RunSituation::AsleepRank,
        () if in_kernel.is_some_and(|share| share >= MIN_EXCESS_ASLEEP) => RunSituation::KernelRank,
        () if is_working_alone(report, worst) => RunSituation::SerialCode,
        () => RunSituation::StaticExcess,
    }
}

/// Returns whether the rank that computes longest has nearly all of the computation where most of its excess lies.
fn is_working_alone(report: &Report, worst: &LongestRank) -> bool {
    let Some(region) = worst.region.as_ref().filter(|region| region.path != WHOLE_PROGRAM) else { return false };
    let row = report.regions.iter().find(|row| row.path == region.path);
    let means = row.map(|row| row.mean_in_s(Activity::Computation));
    let n_ranks = report.verdict.cluster.as_ref().map_or(report.ranks.len(), |cluster| cluster.ranks.len()) as f64;
    // What it has more than the mean is all but its own part of the mean, if it has all.
    let is_most = region.excess_s >= 0.5 * worst.over_mean_s;
    // Others may work elsewhere meanwhile.
    let is_alone = report.overheads.figures.alone.as_ref().is_none_or(|alone| alone.alone_s >= 0.5 * region.excess_s);
    is_most
        && is_alone
        && means.is_some_and(|mean_s| mean_s * (n_ranks - 1.0) <= region.excess_s * (1.0 + MAX_WORK_OF_OTHERS))
}

/// Returns whether the slowest rank usually stays the same for several iterations.
fn is_lasting(report: &Report) -> bool {
    let turns = turns_of_slowest(report);
    let known: usize = turns.iter().map(|turn| turn.iterations).sum();
    !turns.is_empty() && known >= MIN_ITERATIONS_OF_TURN * turns.len()
}

/// Iterations one after another in which a rank is the slowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowestTurn {
    /// The rank.
    pub rank: u32,
    /// The first of the iterations.
    pub first: u32,
    /// The last.
    pub last: u32,
    /// Number of known iterations.
    pub iterations: usize,
}

/// Lists the turns in which ranks are the slowest, in the order of the iterations. A single iteration within the turn of another rank is no turn.
pub fn turns_of_slowest(report: &Report) -> Vec<SlowestTurn> {
    let rows: &[IterationRow] = report.iterations.as_ref().map_or(&[], |iterations| &iterations.rows);
    let mut turns: Vec<SlowestTurn> = Vec::new();
    for row in crate::course::measured_iterations(rows) {
        match turns.last_mut().filter(|turn| turn.rank == row.slowest_rank) {
            Some(turn) => (turn.last, turn.iterations) = (row.iteration, turn.iterations + 1),
            None => turns.push(SlowestTurn {
                rank: row.slowest_rank,
                first: row.iteration,
                last: row.iteration,
                iterations: 1,
            }),
        }
    }
    without_interruptions(turns)
}

/// Joins the turns of a rank that single iterations of other ranks interrupt.
fn without_interruptions(turns: Vec<SlowestTurn>) -> Vec<SlowestTurn> {
    let mut joined: Vec<SlowestTurn> = Vec::new();
    for turn in turns {
        let n = joined.len();
        let goes_on = n >= 2 && {
            let (before, between) = (joined[n - 2], joined[n - 1]);
            before.rank == turn.rank && between.iterations == 1 && before.iterations.min(turn.iterations) > 1
        };
        if goes_on {
            joined.pop();
            let before = &mut joined[n - 2];
            (before.last, before.iterations) = (turn.last, before.iterations + turn.iterations);
        } else {
            joined.push(turn);
        }
    }
    joined
}

/// Returns the situation of a run that loses most to communication.
fn communication(report: &Report) -> RunSituation {
    if report.losses.first().is_some_and(|loss| loss.kind == LossKind::FileAccess) {
        return RunSituation::FileAccess;
    }
    if is_mostly_called(report) {
        return RunSituation::CalledByMpi;
    }
    let Some(calls) = report
        .losses
        .iter()
        .find(|loss| loss.kind == LossKind::Communication && loss.ranks.is_empty())
        .and_then(|loss| CallAmounts::new(report, loss))
    else {
        return RunSituation::Communication;
    };
    match calls.bytes_each {
        0..MAX_BYTES_OF_SMALL_MESSAGE if calls.calls_each >= MIN_MANY_CALLS && calls.carries_data => {
            RunSituation::SmallMessages
        }
        MIN_BYTES_OF_LARGE_MESSAGE.. if calls.completes => RunSituation::LateProgress,
        MIN_BYTES_OF_LARGE_MESSAGE.. => RunSituation::LargeMessages,
        _ => RunSituation::Communication,
    }
}

/// Returns whether functions of the program that MPI calls cost at least as much as communication besides them.
fn is_mostly_called(report: &Report) -> bool {
    let [called_s, besides_s] = [LossKind::CalledByMpi, LossKind::Communication].map(|kind| {
        let loss = report.losses.iter().find(|loss| loss.kind == kind);
        loss.map_or(0.0, |loss| loss.lost_s)
    });
    called_s > 0.0 && called_s >= besides_s
}

/// Number of calls that a loss is attributed to, and the bytes that they carry.
#[derive(Clone, Debug, PartialEq)]
pub struct CallAmounts {
    /// The ranks that make them, of those that the verdict is about, ascending.
    pub callers: Vec<u32>,
    /// Calls of a rank, the mean over the callers.
    pub calls_each: u64,
    /// Bytes sent or received by a call, whichever are more.
    pub bytes_each: u64,
    /// True if there are bytes at all.
    pub carries_data: bool,
    /// True if it completes what another call began.
    pub completes: bool,
    /// Time in a call, waiting included.
    pub seconds_each: f64,
}

impl CallAmounts {
    /// Adds up the calls of a loss, or returns `None` if they are not known.
    pub fn new(report: &Report, loss: &EfficiencyLoss) -> Option<CallAmounts> {
        let at = loss.at.as_ref()?;
        let (mut calls, mut sent, mut received, mut seconds) = (0, 0, 0, 0.0);
        let cluster = report.verdict.cluster.as_ref();
        let mut callers: BTreeMap<u32, u64> = BTreeMap::new();
        for row in report.call_sites.iter().filter(|row| row.operation == at.operation && row.place == at.place) {
            calls += row.sum.calls;
            sent += row.sum.sent;
            received += row.sum.received;
            seconds += row.sum.seconds;
            for &(rank, own) in &row.callers {
                if cluster.is_none_or(|cluster| cluster.ranks.contains(&rank)) {
                    *callers.entry(rank).or_default() += own;
                }
            }
        }
        // In a broadcast the root sends once what all others receive.
        let bytes = sent.max(received);
        (calls > 0).then(|| CallAmounts {
            calls_each: callers.values().sum::<u64>() / callers.len().max(1) as u64,
            callers: callers.into_keys().collect(),
            bytes_each: bytes / calls,
            carries_data: bytes > 0,
            completes: at.operation.starts_with("Wait") || at.operation.starts_with("Test"),
            seconds_each: seconds / calls as f64,
        })
    }
}

/// Returns whether ranks may compute in the call of a loss: in a reduction of few bytes that takes long without waiting for any rank. The program's own
/// reduction function (`MPI_Op_create`) runs there; no log says whether there is one.
pub fn may_compute(report: &Report, loss: &EfficiencyLoss) -> bool {
    // Of a run that was killed or hung, the last call says only that it did not return.
    let is_meant = loss.kind == LossKind::Communication && !report.is_only_described();
    let Some(at) = loss.at.as_ref().filter(|_| is_meant) else { return false };
    if !["reduce", "Reduce", "scan", "Scan"].iter().any(|part| at.operation.contains(part)) {
        return false;
    }
    let (Some(share), Some(amounts)) = (at.share, CallAmounts::new(report, loss)) else { return false };
    let seconds_each = loss.lost_s * share / amounts.calls_each.max(1) as f64;
    let is_known = report.losses.iter().any(|loss| loss.kind == LossKind::CalledByMpi);
    let has_cores = !report.doubts.iter().any(ReportDoubt::is_of_cores)
        && !report.problems.iter().any(|row| matches!(row.kind, ProblemKind::NoCore | ProblemKind::Preempted));
    !is_known && has_cores && amounts.bytes_each < MAX_BYTES_OF_SMALL_MESSAGE && seconds_each >= MIN_LONG_REDUCTION_S
}

/// Returns the one rank that causes a loss, if there is one.
pub fn single_cause(loss: &EfficiencyLoss) -> Option<u32> {
    loss.ranks.first().filter(|(_, share)| *share >= MIN_LOSS_OF_ONE_RANK).map(|&(rank, _)| rank)
}

#[cfg(test)]
mod tests {
    use super::{SlowestTurn, without_interruptions};

    fn turn(rank: u32, first: u32, last: u32) -> SlowestTurn {
        SlowestTurn { rank, first, last, iterations: (last - first + 1) as usize }
    }

    #[test]
    fn a_single_iteration_of_another_rank_ends_no_turn() {
        let turns = vec![turn(1, 1, 178), turn(3, 179, 179), turn(1, 180, 299)];
        let joined = SlowestTurn { iterations: 298, ..turn(1, 1, 299) };
        assert_eq!(without_interruptions(turns), [joined]);
        // Ranks that are slow in turn stay so.
        let in_turn: Vec<SlowestTurn> = (0..6).map(|at| turn(at % 2, at, at)).collect();
        assert_eq!(without_interruptions(in_turn.clone()), in_turn);
        let moving = vec![turn(0, 0, 9), turn(1, 10, 11), turn(0, 12, 19)];
        assert_eq!(without_interruptions(moving.clone()), moving);
    }
}
