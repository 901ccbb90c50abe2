//! Threads that do not call MPI do the work, while the thread that calls MPI waits for them outside of it, or polls.

use lbprof_thresholds::verdict::{GOOD_CORE_EFFICIENCY, MIN_EXCESS_OF_POOL, MIN_WORK_OF_POOLS};

use crate::Report;
use crate::findings::phrases::functions::function_and_caller;
use crate::findings::phrases::ranks::{factor_in_words, is_mostly_asleep, short_percent};
use crate::findings::phrases::working_pool::{find_starved_pool, find_working_pool};
use crate::findings::shared::place;
use crate::losses::finding::{Finding, FindingAdvice, FindingPlace, FindingTone};
use crate::losses::names::LONGEST_NAME;
use crate::rows::words::{escape_name, format_plural, shorten_text};
use crate::threads::thread_pools::ThreadPoolRow;

/// Detects that nearly all time of the ranks counts as computation, but is waiting for a pool of threads, or that ranks poll until these have worked.
pub fn find_idle_thread_pool(report: &Report) -> Option<Finding> {
    let polls = polls_for_pools(report);
    let pool = find_working_pool(report).filter(|_| report.verdict.is_good() || polls)?;
    let utilization = pool.program.utilization?;
    let waits = if polls { "polls until they have" } else { "waits for them" };
    let sentence = format!(
        "The work is done by threads that do not call MPI: {} compute {} of their time, while the thread of each rank that calls MPI {waits}.",
        pool_in_words(pool),
        short_percent(utilization)
    );
    let idle = match utilization < GOOD_CORE_EFFICIENCY {
        true => {
            "why these threads have no work for the rest of the time (few or long tasks, fewer cores than threads), and "
        }
        false => "",
    };
    let balance = uneven_pool(pool).unwrap_or_else(|| "whether all ranks give them equally much to do".to_owned());
    let advice = format!(
        "{idle}{balance}: the figures of ranks describe the threads that call MPI alone (lb-report --full: Pools of threads)"
    );
    Some(Finding { place: pool_place(report), ..pool_finding("thread pool", pool, sentence, advice) })
}

/// Detects that threads which were started once have no work for most of the time, although next to none is lost in MPI: the thread that calls MPI prepares it.
pub fn find_starved_thread_pool(report: &Report) -> Option<Finding> {
    let pool = find_starved_pool(report).filter(|_| report.verdict.is_good())?;
    let utilization = pool.program.utilization?;
    let is_busy = !is_mostly_asleep(report);
    let (meanwhile, advice) = match is_busy {
        true => (
            "works alone",
            "what the thread that calls MPI does before it hands out work: whether these threads can share it, or work meanwhile on what was prepared before",
        ),
        false => (
            "sleeps, or waits for I/O or for them",
            "what the thread that calls MPI waits for outside of MPI before it hands out work (files, sleep(), locks, devices): these threads wait for it",
        ),
    };
    let sentence = format!(
        "Little is lost in MPI, but {} compute {} of their time: for the rest they have no work, while the thread of each rank that calls MPI {meanwhile}.",
        pool_in_words(pool),
        short_percent(utilization)
    );
    Some(Finding {
        place: place::of_all_ranks(report).filter(|_| is_busy),
        ..pool_finding("starved pool", pool, sentence, advice.to_owned())
    })
}

fn pool_finding(kind: &'static str, pool: &ThreadPoolRow, sentence: String, advice: String) -> Finding {
    let utilization = pool.program.utilization.unwrap_or_default();
    Finding {
        advice: Some(FindingAdvice::LookAt(advice)),
        evidence: vec![("threads", pool.threads as f64), ("utilization", utilization)],
        ..Finding::of_whole(kind, FindingTone::Unclear, sentence)
    }
}

/// Returns whether ranks spend most of what they lose in polls.
fn polls_for_pools(report: &Report) -> bool {
    let lost_s = report.verdict.lost_s * report.ranks.len() as f64;
    report.data.polls.waiting_s > MIN_WORK_OF_POOLS * lost_s
}

/// Returns the threads of a pool: `8 threads of work`.
pub fn pool_in_words(pool: &ThreadPoolRow) -> String {
    format!("{} of {}", format_plural(pool.threads, "thread"), shorten_text(&escape_name(&pool.name), LONGEST_NAME))
}

/// Returns on which rank a pool works longer than on average: `why those of rank 0 work 1.5 times the average`.
pub fn uneven_pool(pool: &ThreadPoolRow) -> Option<String> {
    let mean_s = pool.program.working_s() / pool.ranks.max(1) as f64;
    let factor = pool.longest_s / mean_s;
    (factor >= MIN_EXCESS_OF_POOL).then(|| {
        format!(
            "how work is divided: the threads of rank {} work {} the average",
            pool.longest_rank,
            factor_in_words(factor)
        )
    })
}

/// Returns the function in which threads that do not call MPI spend most CPU time.
pub fn pool_place(report: &Report) -> Option<FindingPlace> {
    let others = report.functions.iter().flat_map(|table| &table.other_threads).filter(|row| !row.call_mpi);
    let functions = others.flat_map(|row| &row.program.functions).filter(|row| !row.name.waits_for_threads());
    let Some(longest) = functions.max_by(|a, b| a.mean_s.total_cmp(&b.mean_s)) else {
        return report.thread_pools.first().map(|pool| FindingPlace::in_words(pool_in_words(pool)));
    };
    let text = format!("threads in {}", function_and_caller(&longest.name, &longest.call));
    Some(FindingPlace::in_words(text).with_function(&longest.name, &longest.call))
}
