//! Advises a change that is known to help, else a place to look at.

use super::phrases::{named_ranks, short_percent, sleep_of_ranks};
use super::{AnswerLabel, AnswerLine};
use crate::functions::ExplainedExcess;
use crate::kernel_work::kernel_work_of_slowest;
use crate::loss_kind::LossKind;
use crate::situation::{RunSituation, may_compute, single_cause};
use crate::storage::{self, StorageAccess};
use crate::text::losses;
use crate::verdict::UndividedReason;
use crate::{Report, ReportDoubt};
use lbprof_analysis::metrics::sleep_time::SleepTime;
use lbprof_thresholds::wording::{MIN_GAIN_OF_BALANCE, MIN_INSTRUCTIONS_OF_EXCESS};

/// The advice, or `None` if there is none.
pub(super) fn line(report: &Report, situation: RunSituation) -> Option<AnswerLine> {
    let (label, text) = advice(report, situation)?;
    Some(AnswerLine::new(label, text))
}

fn advice(report: &Report, situation: RunSituation) -> Option<(AnswerLabel, String)> {
    use AnswerLabel::{LookAt, Try};
    match situation {
        RunSituation::NoCores => return without_cores(report),
        RunSituation::OneRank => return fixed(Try, "record more ranks: mpirun -n 4 lb-run PROGRAM"),
        RunSituation::SetUp => {
            return fixed(
                LookAt,
                "what the program does before MPI_Init and after MPI_Finalize (imports, reading input, other start-up)",
            );
        }
        RunSituation::Asleep if sleep_of_ranks(report).is_some_and(SleepTime::is_stopped) => {
            return stopper("the ranks");
        }
        RunSituation::Asleep => {
            return fixed(LookAt, "what the ranks wait for outside of MPI: files, sleep(), locks, devices");
        }
        RunSituation::MasterAndWorkers => return of_idle_master(report),
        RunSituation::UnclearPolls => {
            return fixed(
                LookAt,
                "what the program does between polls; then --polling waiting or --polling computation says so",
            );
        }
        _ if report.is_only_described() || !situation.is_of_losses() => return None,
        _ => {}
    }
    match situation {
        RunSituation::StaticExcess => of_excess(report),
        RunSituation::LastTask => fixed(
            Try,
            match report.awaited_task.is_some_and(|task| task.is_long()) {
                true => "start the longest tasks first, or divide them into smaller ones",
                false => "divide the work into more and smaller tasks",
            },
        ),
        RunSituation::UnevenGroups => {
            let slow = report.uneven_groups.as_ref().map_or_else(String::new, |groups| named_ranks(&groups.slow.ranks));
            Some((
                LookAt,
                format!("how ranks are divided among these codes: give that of {slow} more ranks, or less work"),
            ))
        }
        RunSituation::SerialCode => match access_of_slowest(report) {
            Some(verb) => Some((
                Try,
                format!(
                    "if this time goes to files, {verb} them in parallel (MPI-IO, a file for each rank), or in the background while ranks compute; else \
                     share this code among the ranks"
                ),
            )),
            None => fixed(Try, "share this code among the ranks, or let the others work meanwhile"),
        },
        RunSituation::AsleepRank => {
            let ranks = report.verdict.worst.as_ref()?.with_equals();
            let (wait, have) = if ranks.len() > 1 { ("wait", "have") } else { ("waits", "has") };
            let slow = named_ranks(&ranks);
            if report.verdict.worst.as_ref()?.explained.as_ref().is_some_and(ExplainedExcess::is_stopped) {
                return stopper(&slow);
            }
            if let Some(verb) = access_of_slowest(report) {
                return Some((
                    LookAt,
                    format!(
                        "whether {slow} {wait} for files: then {verb} them in parallel (MPI-IO, a file for each rank), or in the background while ranks \
                         compute"
                    ),
                ));
            }
            Some((
                LookAt,
                format!(
                    "what {slow} {wait} for outside of MPI (files, sleep(), locks, devices), and whether {slow} {have} more of it to do than the others"
                ),
            ))
        }
        RunSituation::KernelRank => Some((LookAt, kernel_work_of_slowest(report).advice().to_owned())),
        RunSituation::FileAccess => {
            match report.losses.iter().find(|loss| loss.kind == LossKind::FileAccess).and_then(single_cause) {
                Some(_) => fixed(
                    Try,
                    "let all ranks access files together, or one of them in the background; a better network saves nothing",
                ),
                None => {
                    fixed(LookAt, "how often files are accessed, and in which pieces; a better network saves nothing")
                }
            }
        }
        RunSituation::BusyTarget => fixed(
            Try,
            "let MPI answer while that rank computes: call MPI there more often, or use the library's asynchronous progress (MPICH_ASYNC_PROGRESS=1); \
             or keep the window on a rank that does not compute",
        ),
        RunSituation::HeldLock => fixed(
            Try,
            "compute before the lock is taken or after it is given back; or divide the data among several windows or targets; or use operations that \
             need no exclusive lock (MPI_Accumulate, MPI_Fetch_and_op)",
        ),
        RunSituation::CalledByMpi => {
            fixed(Try, "make that function faster, or reduce less often; a better network saves nothing")
        }
        RunSituation::MovingRank if each_gains(report) == Some(true) => fixed(
            Try,
            "move work between ranks during the run, again and again; a better static partition will not help",
        ),
        RunSituation::SlowInTurn if each_gains(report) == Some(true) => fixed(
            Try,
            "balance the work within each iteration (dynamic scheduling, smaller tasks), or let ranks wait for each other less often; a better \
             static partition will not help",
        ),
        RunSituation::MovingRank | RunSituation::SlowInTurn if each_gains(report).is_none() => fixed(
            LookAt,
            "how the work could be balanced within each iteration; a better static partition will not help",
        ),
        RunSituation::MovingRank | RunSituation::SlowInTurn => {
            fixed(LookAt, "how ranks depend on each other: balancing each iteration alone would save nothing")
        }
        RunSituation::SlowInParts => fixed(
            Try,
            "divide the work of each of these parts evenly by itself: even totals alone leave ranks waiting in each part",
        ),
        RunSituation::Chains if report.what_if.balance_gains(MIN_GAIN_OF_BALANCE) => fixed(
            Try,
            "shorten the chains, or let their steps overlap (smaller blocks, the next sweep before the last one ends)",
        ),
        RunSituation::Chains => fixed(
            Try,
            "shorten the chains, or let their steps overlap (smaller blocks, the next sweep before the last one ends); even work will not help",
        ),
        RunSituation::Serialization => fixed(
            LookAt,
            match report.verdict.undivided {
                Some(UndividedReason::UnsureLoop) => {
                    "which loop is the main one: mark its iterations (LBPROF_ITERATION_BEGIN), or name a call that ends one (--loop CALLSITE); then \
                     the report says whether ranks are slow in turn or wait in chains"
                }
                _ => {
                    "which loop is the main one: mark its iterations (LBPROF_ITERATION_BEGIN); then the report says whether ranks are slow in \
                     turn or wait in chains"
                }
            },
        ),
        _ => communication(report, situation),
    }
}

/// Returns the verb for the access of the rank that computes longest, "write" or "read", where it accesses storage nearly alone.
fn access_of_slowest(report: &Report) -> Option<&'static str> {
    storage::of_slowest_rank(report).map(|sole| match sole.access {
        StorageAccess::Write => "write",
        StorageAccess::Read => "read",
    })
}

/// Advice on one rank's excess of work.
fn of_excess(report: &Report) -> Option<(AnswerLabel, String)> {
    let worst = report.verdict.worst.as_ref()?;
    let hardware = report.functions.as_ref().and_then(|table| table.program.hardware);
    let executes_more = hardware.is_some_and(|counts| {
        let sum_s = counts.more_instructions_s + counts.slower_instructions_s.max(0.0);
        sum_s > 0.0 && counts.more_instructions_s >= MIN_INSTRUCTIONS_OF_EXCESS * sum_s
    });
    let slow = worst.with_equals();
    let named = named_ranks(&slow);
    let does_get = if slow.len() > 1 { format!("do {named} get") } else { format!("does {named} get") };
    let (executes, it) = if slow.len() > 1 { ("execute", "them") } else { ("executes", "it") };
    Some(match executes_more {
        true => (
            AnswerLabel::Try,
            format!(
                "{named} {executes} more instructions: give {it} less work, by the program's own load balancing or parts weighted by cost"
            ),
        ),
        false => (
            AnswerLabel::LookAt,
            format!(
                "how the work is divided: {does_get} more of it, or does the same work take longer there (core, memory)?"
            ),
        ),
    })
}

/// Advice whose text does not depend on figures.
fn fixed(label: AnswerLabel, text: &str) -> Option<(AnswerLabel, String)> {
    Some((label, text.to_owned()))
}

/// The advice on ranks that are stopped from outside.
fn stopper(ranks: &str) -> Option<(AnswerLabel, String)> {
    let text = format!("what stops {ranks} (SIGSTOP: cpulimit, a batch system that suspends jobs, a debugger)");
    Some((AnswerLabel::LookAt, text))
}

/// Returns whether a replay predicts a gain from balance in each iteration, or `None` if there is no such replay.
fn each_gains(report: &Report) -> Option<bool> {
    let in_turn = report.losses.iter().find(|loss| loss.kind == LossKind::SlowInTurn)?;
    Some(losses::gains(in_turn.remedy.as_ref()?))
}

/// Advice to let an idle master work, with the maximum gain: that of one more worker.
fn of_idle_master(report: &Report) -> Option<(AnswerLabel, String)> {
    let master = report.idle_master.as_ref()?;
    let n_ranks = master.workers.len() + 1;
    let most = short_percent(1.0 / n_ranks as f64);
    let is_asleep = report.doubts.iter().any(ReportDoubt::is_of_sleep);
    let first =
        if is_asleep { "what the workers wait for outside of MPI: files, sleep(), locks, devices; and " } else { "" };
    let too = match master.hosts_counter {
        true => "take tasks, too",
        false => "work, too, while it hands out work",
    };
    let text = format!(
        "{first}whether rank {} can {too}: it is one of {n_ranks} ranks, so that the same work would take at most {most} less time",
        master.rank
    );
    Some((AnswerLabel::LookAt, text))
}

/// Advice for ranks without cores of their own.
fn without_cores(report: &Report) -> Option<(AnswerLabel, String)> {
    let of_threads = report.doubts.iter().find(|doubt| matches!(doubt, ReportDoubt::FewerCores { .. }));
    let text = match of_threads {
        Some(doubt) => crate::text::doubt(report, doubt),
        None => "measure again with one rank per core: as many ranks as cores at most, each bound to its own (mpirun --bind-to core, srun \
                 --cpu-bind=cores)"
            .to_owned(),
    };
    Some((AnswerLabel::Try, text))
}

/// Advice on communication.
fn communication(report: &Report, situation: RunSituation) -> Option<(AnswerLabel, String)> {
    if report.doubts.iter().any(ReportDoubt::is_of_cores) || report.has_unrecorded_partners() {
        return None;
    }
    let (label, text) = match situation {
        RunSituation::SmallMessages => {
            (AnswerLabel::Try, "put several messages into one, so that there are fewer calls")
        }
        RunSituation::LargeMessages => (
            AnswerLabel::LookAt,
            "whether less data would do, and whether it can move while ranks compute (MPI_Isend, MPI_Irecv, nonblocking collectives)",
        ),
        RunSituation::LateProgress => (
            AnswerLabel::LookAt,
            "whether messages move while ranks compute: many MPI libraries move large ones in MPI calls alone; an MPI_Test in the middle of the \
             computation, or the library's progress thread, shows",
        ),
        _ if report.losses.iter().any(|loss| loss.kind == LossKind::Communication && !loss.ranks.is_empty()) => (
            AnswerLabel::LookAt,
            "whether other ranks can take a part of what that rank sends and receives, or go on meanwhile",
        ),
        _ if report.losses.iter().any(|loss| may_compute(report, loss)) => (
            AnswerLabel::LookAt,
            "whether the reduction is a function of the program (MPI_Op_create): it computes within the call, and no network saves that",
        ),
        _ => (
            AnswerLabel::LookAt,
            "how often this call is needed, and whether ranks could compute meanwhile (nonblocking calls)",
        ),
    };
    Some((label, text.to_owned()))
}
