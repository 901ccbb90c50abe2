//! A rank sleeps, waits for I/O or is stopped, while the others wait for it.

use super::slowest;
use crate::Report;
use crate::findings::files::sole_rank;
use crate::findings::phrases::doubts::idle_state;
use crate::findings::phrases::functions::certain_asleep_share;
use crate::findings::phrases::ranks::{named_ranks, possible_stopper};
use crate::findings::phrases::working_pool::find_working_pool;
use crate::findings::shared::loss_parts::LossParts;
use crate::findings::whole::thread_pool::{pool_in_words, pool_place, uneven_pool};
use crate::losses::finding::{Finding, FindingAdvice};
use crate::losses::longest_rank::LongestRank;
use crate::threads::thread_pools::ThreadPoolRow;

/// Detects that the rank that computes longest does not run for most of what it takes longer.
pub fn find_asleep_rank(report: &Report, parts: &LossParts) -> Option<Finding> {
    let worst = report.verdict.worst.as_ref()?;
    let sleep = SleepOfRank::find(report, worst)?;
    let because = slowest::in_state(report, worst, sleep.state());
    Some(sleep.explain(report, slowest::slow_rank_finding(report, "asleep rank", parts.imbalance_s, because)))
}

/// Sleep for most of what a rank takes longer than the mean.
pub struct SleepOfRank<'a> {
    /// True if the rank was stopped from outside.
    is_stopped: bool,
    /// The threads of the process that work meanwhile.
    pool: Option<&'a ThreadPoolRow>,
}

impl SleepOfRank<'_> {
    /// Returns the sleep of a rank that takes longest, or `None` if something else is most of what it takes longer.
    pub fn find<'a>(report: &'a Report, longest: &LongestRank) -> Option<SleepOfRank<'a>> {
        let excess = longest.explained.as_ref()?;
        let is_stopped = excess.is_stopped();
        slowest::is_most(certain_asleep_share(report, excess))
            .then(|| SleepOfRank { is_stopped, pool: find_working_pool(report).filter(|_| !is_stopped) })
    }

    /// Names it.
    pub fn state(&self) -> &'static str {
        match self.pool {
            Some(_) => "waiting for other threads of the process",
            None => idle_state(self.is_stopped),
        }
    }

    /// Adds advice on it to a finding about the rank, and the place of the threads that work meanwhile.
    pub fn explain(&self, report: &Report, found: Finding) -> Finding {
        Finding {
            place: self.pool.and_then(|_| pool_place(report)).or(found.place),
            advice: Some(FindingAdvice::LookAt(self.advice(report, &found.ranks))),
            ..found
        }
    }

    fn advice(&self, report: &Report, slow: &[u32]) -> String {
        let (wait, have) = if slow.len() > 1 { ("wait", "have") } else { ("waits", "has") };
        let named = named_ranks(slow);
        if let Some(pool) = self.pool {
            let whether = format!("whether {named} {have} more work for these threads");
            return format!("{} ({})", uneven_pool(pool).unwrap_or(whether), pool_in_words(pool));
        }
        match slow.iter().find_map(|&rank| sole_rank::sole_access_of(report, rank)) {
            _ if self.is_stopped => possible_stopper(&named),
            Some(verb) => format!(
                "whether {named} {wait} for files; if so, {verb} them in parallel (MPI-IO, a file for each rank), or in the background while ranks \
                 compute"
            ),
            None => format!(
                "what {named} {wait} for outside of MPI (files, sleep(), locks, devices), and whether {named} {have} more of it to do than the others"
            ),
        }
    }
}
