//! Doubts in words.

use crate::Report;
use crate::findings::phrases::ranks::{capitalize_text, named_ranks};
use crate::findings::phrases::working_pool::find_working_pool;
use crate::rows::words::{format_count, format_percent, format_plural, seconds_like};
use crate::run::doubts::{CrowdedCores, DoubtedRanks};
use lbprof_analysis::metrics::sampled::sleep_time::SleepTime;
use lbprof_thresholds::wording::{MIN_MOST_ASLEEP, MIN_NEARLY_ALL_ASLEEP};

/// Returns all doubts in one or two sentences each, the most serious first.
pub fn doubt_sentences(report: &Report) -> Vec<String> {
    let failed = report.doubts.failed.iter();
    let failed =
        failed.map(|(status, ranks)| format!("{} ended with exit status {status}.", capitalized_rank_list(ranks)));
    let others = [
        fewer_cores(report),
        no_core_to_compute(report),
        no_core(report),
        asleep_ranks(report),
        unclear_polls(report),
        other_threads(report),
        few_calls(report),
    ];
    failed.chain(others.into_iter().flatten()).collect()
}

/// Reports ranks with more threads than cores, and how to bind them.
pub fn fewer_cores(report: &Report) -> Option<String> {
    let DoubtedRanks { worst_rank, worst: CrowdedCores { threads, cores }, ranks } =
        report.doubts.fewer_cores.as_ref()?;
    let alike = match ranks.len() {
        0 | 1 => String::new(),
        n => format!(" ({} in all)", format_plural(n as u64, "such rank")),
    };
    Some(format!(
        "Rank {worst_rank} has {} and {}{alike}: bind each rank to as many cores as it has threads, or to none ({}). Then measure again.",
        format_plural(u64::from(*threads), "thread"),
        format_plural(u64::from(*cores), "core"),
        binding_options(&report.facts.abi, *threads),
    ))
}

fn no_core_to_compute(report: &Report) -> Option<String> {
    let DoubtedRanks { worst_rank, worst, ranks } = report.doubts.no_core_to_compute.as_ref()?;
    let how = if worst.certain { "at least" } else { "about" };
    let alike = match ranks.len() - 1 {
        0 => String::new(),
        1 => ", and a third or more of another rank's".to_owned(),
        more => format!(", and a third or more of {} other ranks'", format_count(more as u64)),
    };
    Some(format!(
        "Ranks shared cores: {how} {} of the {} of rank {worst_rank}'s computation is waiting for a core{alike}.",
        seconds_like(worst.delayed_s, report.verdict.elapsed_s),
        seconds_like(worst.computation_s, report.verdict.elapsed_s),
    ))
}

fn no_core(report: &Report) -> Option<String> {
    let share = format_percent(report.doubts.no_core?);
    Some(format!(
        "Ranks shared cores: on average they had none for {share} of the time. Give each a core of its own, and measure again."
    ))
}

fn asleep_ranks(report: &Report) -> Option<String> {
    let DoubtedRanks { worst_rank, worst, ranks } =
        report.doubts.asleep.as_ref().filter(|_| find_working_pool(report).is_none())?;
    let are_all = ranks.len() == report.ranks.len();
    let who = if are_all && ranks.len() > 1 { "All ranks".to_owned() } else { capitalized_rank_list(ranks) };
    let others = if are_all { "" } else { "; others less, as far as is known" };
    Some(format!(
        "{who} {} in {} of what counts as computation (at least {} of rank {worst_rank}'s {} used no CPU){others}.",
        if worst.is_stopped() { "stood still, stopped from outside," } else { "slept or waited for I/O" },
        asleep_amount(worst),
        seconds_like(worst.asleep_s, report.verdict.elapsed_s),
        seconds_like(worst.computation_s, report.verdict.elapsed_s),
    ))
}

fn unclear_polls(report: &Report) -> Option<String> {
    let polls = report.doubts.unclear_polls?;
    Some(format!(
        "Ranks poll, and it is not clear what {} of their time between polls is, waiting or computation: parallel efficiency is \
         from {} to {}. If you know which it is, use --polling waiting or --polling computation.",
        seconds_like(polls.unclear_s, report.verdict.elapsed_s),
        format_percent(polls.efficiency.0),
        format_percent(polls.efficiency.1),
    ))
}

fn other_threads(report: &Report) -> Option<String> {
    let DoubtedRanks { worst_rank, worst: seconds, ranks } = report.doubts.other_threads.as_ref()?;
    Some(format!(
        "Other threads of {} work, too ({} on rank {worst_rank}), and are no part of these figures.",
        named_ranks(ranks),
        seconds_like(*seconds, report.verdict.elapsed_s),
    ))
}

/// Reports that ranks make hardly any calls.
pub fn few_calls(report: &Report) -> Option<String> {
    let time = seconds_like(report.verdict.elapsed_s, report.verdict.elapsed_s);
    Some(match report.doubts.few_calls? {
        0 => format!(
            "As far as its calls show, the program did nothing but start and end MPI: it made none in the {time} between MPI_Init and MPI_Finalize."
        ),
        n => format!(
            "The ranks made {} of MPI in {time}: too few to say how they depend on each other.",
            format_plural(n, "call")
        ),
    })
}

/// Describes how much of a rank's computation is sleep, e.g. `most of it asleep or waiting for I/O`.
pub fn asleep_in_words(found: &SleepTime) -> String {
    format!("{} of it {}", asleep_amount(found), idle_state(found.is_stopped()))
}

/// Describes a rank that neither runs nor needs a core.
pub fn idle_state(is_stopped: bool) -> &'static str {
    if is_stopped { "stopped from outside" } else { "asleep or waiting for I/O" }
}

fn asleep_amount(found: &SleepTime) -> &'static str {
    match found.asleep_s / found.computation_s {
        share if share >= MIN_NEARLY_ALL_ASLEEP => "nearly all",
        share if share >= MIN_MOST_ASLEEP => "most",
        _ => "much",
    }
}

/// Returns launcher options that bind each rank to `cores`, by the ABI of the MPI library.
fn binding_options(abi: &str, cores: u32) -> String {
    let own = match abi {
        "open-mpi" => format!("mpirun --map-by slot:PE={cores} or --bind-to none"),
        _ => format!("mpiexec -bind-to core:{cores} or -bind-to none"),
    };
    format!("{own}; under Slurm srun --cpus-per-task={cores}")
}

/// Formats ranks, e.g. `Rank 3` or `Ranks 0-3, 7`.
fn capitalized_rank_list(ranks: &[u32]) -> String {
    capitalize_text(&named_ranks(ranks))
}
