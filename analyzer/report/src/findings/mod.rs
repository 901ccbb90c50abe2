//! Findings: the things that a run loses time by, or that make a run not worth judging. Each is a file: how it is detected, its seconds, ranks, place, gain, advice and words.
//!
//! ```text
//!   conditions/     the run has not ended, or its figures are not the answer: at most one holds
//!   whole/          statements about all that is lost: little, or by threads
//!   imbalance/      a rank has more work than others: at most one of them explains it
//!   serialization/  ranks wait for one another though none has that much more work
//!   outside/        ranks wait for a rank whose work is not judged with theirs
//!   files/          time in MPI calls that access files
//!   calls/          time in MPI calls besides these
//! ```
//!
//! Findings do not overlap: those that are parts add up to what is lost. The largest one is the answer of the first screen, with its own share, place, gain and advice, unless a
//! condition or a statement about all of the loss comes before it. To add one: its file, and its line in a list below.

mod answering;
mod calls;
mod conditions;
pub mod files;
mod imbalance;
mod outside;
pub mod phrases;
mod serialization;
mod shared;
mod whole;

pub use crate::losses::finding::{
    Finding, FindingAdvice, FindingCause, FindingGain, FindingPlace, FindingSubject, FindingTone,
};
pub use answering::answer::{AnswerLine, AnswerText, answer_in_words, named_findings, part_in_words, share_of_time};
pub use answering::row::FindingRow;
pub use imbalance::static_excess::rank_excess_in_words;
use shared::loss_parts::LossParts;
pub use shared::loss_parts::not_explained_s;

use crate::Report;

/// Detects a condition of a run; the findings by its figures are known.
type DetectCondition = fn(&Report, &[Finding]) -> Option<Finding>;

/// Detects a statement about all that a run loses.
type DetectWhole = fn(&Report) -> Option<Finding>;

/// Detects a part of what a run loses. A part of 0 s is no finding.
type DetectPart = fn(&Report, &LossParts) -> Option<Finding>;

/// The first that holds counts.
const CONDITIONS: &[DetectCondition] = &[
    conditions::unended::find_unended_run,
    conditions::few_calls::find_run_of_few_calls,
    conditions::no_cores::find_missing_cores,
    conditions::one_rank::find_single_rank,
    conditions::set_up::find_set_up_time,
];

/// The first that holds counts.
const WHOLE: &[DetectWhole] = &[
    whole::nothing::find_idle_program,
    whole::threads::find_core_losses,
    whole::thread_pool::find_starved_thread_pool,
    whole::thread_pool::find_idle_thread_pool,
    whole::master_and_workers::find_master_and_workers,
    whole::unclear_polls::find_unclear_polls,
    whole::asleep::find_sleeping_ranks,
    whole::balanced::find_balanced_run,
];

/// The first that holds explains that a rank computes longer than the mean.
const IMBALANCE: &[DetectPart] = &[
    imbalance::last_task::find_awaited_last_task,
    imbalance::emptied_ranks::find_emptied_rank_loss,
    imbalance::idle_ranks::find_idle_rank_loss,
    imbalance::uneven_groups::find_uneven_code_groups,
    imbalance::asleep_rank::find_asleep_rank,
    imbalance::rank_in_state::find_rank_in_state,
    imbalance::serial_code::find_serial_code_loss,
    imbalance::static_excess::find_static_excess,
];

/// The first that holds explains time in MPI calls.
const CALLS: &[DetectPart] = &[
    calls::rare_delays::find_rare_call_delays,
    calls::late_progress::find_late_progress,
    calls::large_messages::find_large_messages,
    calls::sleeping_polls::find_sleeping_polls,
    calls::rank_in_calls::find_rank_in_calls,
    calls::small_messages::find_small_messages,
    calls::communication::find_communication_loss,
];

/// The first that holds explains access to files.
const FILES: &[DetectPart] = &[files::late_progress::find_late_file_progress, files::access::find_file_access_loss];

/// Each that holds is a part of what is lost.
const OTHERS: &[DetectPart] = &[
    imbalance::outside_work::find_set_up_work,
    imbalance::outside_work::find_final_work,
    imbalance::control::find_control_loss,
    serialization::moving_rank::find_moving_rank,
    serialization::slow_in_turn::find_slow_in_turn,
    serialization::slow_in_parts::find_slow_in_parts,
    serialization::awaited_master::find_wait_for_master,
    serialization::chains::find_dependency_chains,
    serialization::undivided::find_undivided_serialization,
    outside::busy_coordinator::find_busy_coordinator,
    outside::sleeping_coordinator::find_sleeping_coordinator,
    calls::busy_target::find_busy_target,
    calls::held_lock::find_held_lock,
    calls::called_by_mpi::find_callbacks_of_mpi,
    calls::recorder::find_recorder_cost,
];

impl Report {
    /// Adds what the run loses time by: the answer first. There is at least one finding.
    pub(crate) fn with_findings(self) -> Report {
        let mut findings = by_figures(&self);
        if let Some(condition) = CONDITIONS.iter().find_map(|detect| detect(&self, &findings)) {
            findings.insert(0, condition);
        }
        Report { findings, ..self }
    }
}

/// Finds what the figures of a run say, whatever its conditions.
fn by_figures(report: &Report) -> Vec<Finding> {
    let parts = LossParts::new(report);
    let firsts = [IMBALANCE, CALLS, FILES].map(|list| list.iter().find_map(|detect| detect(report, &parts)));
    let mut findings: Vec<Finding> = firsts.into_iter().flatten().collect();
    findings.extend(OTHERS.iter().filter_map(|detect| detect(report, &parts)));
    findings.retain(|one| one.seconds > 0.0);
    if report.is_only_described() {
        findings = findings.into_iter().map(|one| Finding { advice: None, ..one }).collect();
    }
    // The recorder's time is no fault of the program.
    findings.sort_by(|a, b| {
        let [a_s, b_s] = [a, b].map(|one| (one.subject == FindingSubject::Recorder, -one.seconds));
        a_s.0.cmp(&b_s.0).then(a_s.1.total_cmp(&b_s.1))
    });
    if let Some(whole) = WHOLE.iter().find_map(|detect| detect(report)) {
        findings.insert(0, whole);
    }
    if findings.is_empty() {
        // Nothing is lost to anything that has a name.
        findings.push(whole::nothing::describe_unknown_calls());
    }
    findings
}
