//! A rank sleeps, waits for I/O or is stopped, while the others wait for it.

use super::slowest;
use crate::Report;
use crate::finding::{Finding, FindingAdvice};
use crate::findings::loss_parts::LossParts;
use crate::findings::whole::thread_pool::{pool_in_words, pool_place, uneven_pool};
use crate::phrases::doubts::idle_state;
use crate::phrases::functions::certain_asleep_share;
use crate::phrases::ranks::{named_ranks, possible_stopper};
use crate::phrases::working_pool::find_working_pool;
use crate::storage;
use crate::thread_pools::ThreadPoolRow;

/// Detects that the rank that computes longest does not run for most of what it takes longer.
pub fn find_asleep_rank(report: &Report, parts: &LossParts) -> Option<Finding> {
    let worst = report.verdict.worst.as_ref()?;
    let excess = worst.explained.as_ref()?;
    if !slowest::is_most(certain_asleep_share(report, excess)) {
        return None;
    }
    let is_stopped = excess.is_stopped();
    let pool = find_working_pool(report).filter(|_| !is_stopped);
    let state = if pool.is_some() { "waiting for other threads of the process" } else { idle_state(is_stopped) };
    let because = slowest::in_state(report, worst, state);
    let finding = slowest::slow_rank_finding(report, "asleep rank", parts.imbalance_s, because);
    Some(Finding {
        place: pool.and_then(|_| pool_place(report)).or(finding.place),
        advice: Some(FindingAdvice::LookAt(advice_on_sleep(report, &worst.with_equals(), is_stopped, pool))),
        ..finding
    })
}

pub fn advice_on_sleep(report: &Report, slow: &[u32], is_stopped: bool, pool: Option<&ThreadPoolRow>) -> String {
    let (wait, have) = if slow.len() > 1 { ("wait", "have") } else { ("waits", "has") };
    let named = named_ranks(slow);
    if let Some(pool) = pool {
        let whether = format!("whether {named} {have} more work for these threads");
        return format!("{} ({})", uneven_pool(pool).unwrap_or(whether), pool_in_words(pool));
    }
    match slow.iter().find_map(|&rank| storage::sole_access_of(report, rank)) {
        _ if is_stopped => possible_stopper(&named),
        Some(verb) => format!(
            "whether {named} {wait} for files: then {verb} them in parallel (MPI-IO, a file for each rank), or in the background while ranks \
             compute"
        ),
        None => format!(
            "what {named} {wait} for outside of MPI (files, sleep(), locks, devices), and whether {named} {have} more of it to do than the others"
        ),
    }
}
