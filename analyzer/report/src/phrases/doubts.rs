//! Doubts in words: what comes before the figures.

use crate::Report;
use crate::doubts::ReportDoubt;
use crate::words::{count, percent, plural, seconds_like};
use lbprof_analysis::metrics::sleep_time::SleepTime;
use lbprof_analysis::read::open::ranges;
use lbprof_thresholds::wording::{MIN_MOST_ASLEEP, MIN_NEARLY_ALL_ASLEEP};

/// A doubt as one or two sentences.
pub fn sentence(report: &Report, doubt: &ReportDoubt) -> String {
    let elapsed_s = report.verdict.elapsed_s;
    match doubt {
        ReportDoubt::Failed { status, ranks } => format!("{} ended with exit status {status}.", named(ranks)),
        ReportDoubt::FewerCores { rank, team, cores, ranks } => {
            let alike = match ranks.len() {
                0 | 1 => String::new(),
                n => format!(" ({} in all)", plural(n as u64, "such rank")),
            };
            format!(
                "Rank {rank} has {} and {}{alike}: bind each rank to as many cores as it has threads, or to none ({}). Then measure again.",
                plural(u64::from(*team), "thread"),
                plural(u64::from(*cores), "core"),
                binding(&report.facts.abi, *team),
            )
        }
        ReportDoubt::NoCoreToCompute { rank, lost, others } => {
            let how = if lost.certain { "at least" } else { "about" };
            let alike = match others {
                0 => String::new(),
                1 => ", and a third or more of another rank's".to_owned(),
                more => format!(", and a third or more of {} other ranks'", count(*more as u64)),
            };
            format!(
                "Ranks shared cores: {how} {} of the {} of rank {rank}'s computation is waiting for a core{alike}.",
                seconds_like(lost.delayed_s, elapsed_s),
                seconds_like(lost.computation_s, elapsed_s),
            )
        }
        ReportDoubt::NoCore { share } => {
            format!(
                "Ranks shared cores: on average they had none for {} of the time. Give each a core of its own, and measure again.",
                percent(*share)
            )
        }
        ReportDoubt::Asleep { rank, found, ranks } => {
            let (who, others) = match ranks.len() == report.ranks.len() && ranks.len() > 1 {
                true => ("All ranks".to_owned(), ""),
                false => (named(ranks), "; others less, as far as is known"),
            };
            format!(
                "{who} {} in {} of what counts as computation (at least {} of rank {rank}'s {} used no CPU){others}.",
                if found.is_stopped() { "stood still, stopped from outside," } else { "slept or waited for I/O" },
                asleep_amount(found),
                seconds_like(found.asleep_s, elapsed_s),
                seconds_like(found.computation_s, elapsed_s),
            )
        }
        ReportDoubt::Polling { unclear_s, efficiency: (low, high) } => format!(
            "Ranks poll, and it is not clear what {} of their time between polls is, waiting or computation: parallel efficiency is \
             from {} to {}. If you know which it is, use --polling waiting or --polling computation.",
            seconds_like(*unclear_s, elapsed_s),
            percent(*low),
            percent(*high),
        ),
        ReportDoubt::FewCalls { calls: 0 } => format!(
            "As far as its calls show, the program did nothing but start and end MPI: it made none in the {} between MPI_Init and MPI_Finalize.",
            seconds_like(elapsed_s, elapsed_s)
        ),
        ReportDoubt::OtherThreads { rank, seconds: found_s, ranks } => format!(
            "Other threads of {} work, too ({} on rank {rank}), and are no part of these figures.",
            named(ranks).to_lowercase(),
            seconds_like(*found_s, elapsed_s),
        ),
        ReportDoubt::FewCalls { calls } => {
            let calls = plural(*calls, "call");
            let time = seconds_like(elapsed_s, elapsed_s);
            format!("The ranks made {calls} of MPI in {time}: too few to say how they depend on each other.")
        }
    }
}

/// Returns the amount of a rank's computation that is sleep: `most of it asleep or waiting for I/O`.
pub fn asleep_in_words(found: &SleepTime) -> String {
    format!("{} of it {}", asleep_amount(found), idle_state(found.is_stopped()))
}

/// Returns the state of a rank that neither runs nor wants a core.
pub fn idle_state(is_stopped: bool) -> &'static str {
    if is_stopped { "stopped from outside" } else { "asleep or waiting for I/O" }
}

/// Returns the amount of a rank's computation that is sleep, in a word.
fn asleep_amount(found: &SleepTime) -> &'static str {
    match found.asleep_s / found.computation_s {
        share if share >= MIN_NEARLY_ALL_ASLEEP => "nearly all",
        share if share >= MIN_MOST_ASLEEP => "most",
        _ => "much",
    }
}

/// The options of launchers that give each rank so many cores, by the MPI library's binary interface.
fn binding(abi: &str, cores: u32) -> String {
    let own = match abi {
        "open-mpi" => format!("mpirun --map-by slot:PE={cores} or --bind-to none"),
        _ => format!("mpiexec -bind-to core:{cores} or -bind-to none"),
    };
    format!("{own}; under Slurm srun --cpus-per-task={cores}")
}

/// `Rank 3`, `Ranks 0-3, 7`, at the begin of a sentence.
fn named(ranks: &[u32]) -> String {
    match ranks {
        [one] => format!("Rank {one}"),
        many => format!("Ranks {}", ranges(many)),
    }
}
