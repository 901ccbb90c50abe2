//! The rank outside of the judged group for whose computation that group waits.

use std::collections::BTreeMap;

use lbprof_analysis::metrics::blocking::CauseClass;
use lbprof_analysis::read::definitions::WHOLE_PROGRAM;
use lbprof_collector::{CoreState, StateGroup};
use lbprof_thresholds::verdict::{
    MIN_EXCESS_ASLEEP, MIN_LOSS_TO_COORDINATOR, MIN_POLLING_OF_COORDINATOR, MIN_SLEEP_BETWEEN_POLLS_S,
};

use crate::Report;
use crate::finding::FindingPlace;
use crate::losses::LossAt;
use crate::phrases::functions::function_and_caller;
use crate::phrases::names::region_name;

/// Most requests that one answer may be for.
const MAX_REQUESTS_PER_ANSWER: u64 = 4;

/// A rank that others wait for, and whose work is not judged with theirs.
#[derive(Clone, Debug, PartialEq)]
pub struct AwaitedCoordinator {
    /// The rank.
    pub rank: u32,
    /// Seconds of the mean judged rank's time in which it waits for the coordinator's computation.
    pub waited_s: f64,
    /// Seconds of the coordinator's computation.
    pub computation_s: f64,
    /// Requests that it answers, or messages that it takes without an answer.
    pub messages: u64,
    /// True if it answers.
    pub answers: bool,
    /// True if it asks for messages again and again, and sleeps in between.
    pub sleeps_between_polls: bool,
    /// Path of the region in which it computes most of what is waited for.
    pub region: String,
}

/// Finds the coordinator for which the judged ranks wait for most of what they lose.
pub fn find_coordinator(report: &Report) -> Option<AwaitedCoordinator> {
    by_computation(report).or_else(|| by_polls(report))
}

/// Finds a coordinator that alone asks for messages again and again, with long times in between, which count as waiting: messages that come meanwhile lie there.
fn by_polls(report: &Report) -> Option<AwaitedCoordinator> {
    let judged = report.verdict.cluster.as_ref().map_or(&[][..], |cluster| &cluster.ranks);
    let polls = &report.data.polls;
    let gap_s = polls.waiting_s / polls.polls.max(1) as f64;
    let mut polling = report.ranks.iter().filter(|row| polls_at_all(report, row.rank));
    let (only, others) = (polling.next()?, polling.next());
    let is_idle = polls.waiting_s >= MIN_POLLING_OF_COORDINATOR * report.data.elapsed_s;
    let is_it = others.is_none() && !judged.contains(&only.rank) && is_idle && gap_s >= MIN_SLEEP_BETWEEN_POLLS_S;
    is_it.then(|| AwaitedCoordinator {
        rank: only.rank,
        waited_s: report.verdict.communication_s,
        computation_s: polls.waiting_s,
        messages: polls.polls,
        answers: false,
        sleeps_between_polls: true,
        region: WHOLE_PROGRAM.to_owned(),
    })
}

/// Finds the coordinator whose computation others wait for.
fn by_computation(report: &Report) -> Option<AwaitedCoordinator> {
    let cluster = report.verdict.cluster.as_ref()?;
    let table = report.blocking.as_ref()?;
    let mut by_rank: BTreeMap<u32, BTreeMap<&str, f64>> = BTreeMap::new();
    for row in &table.causes {
        let is_computation = matches!(row.cause.class, CauseClass::Imbalance | CauseClass::Control);
        if is_computation && !cluster.ranks.contains(&row.cause.rank) {
            *by_rank.entry(row.cause.rank).or_default().entry(&row.region).or_default() += row.cause.caused_s;
        }
    }
    let sums = by_rank.into_iter().map(|(rank, regions)| (rank, regions.values().sum::<f64>(), regions));
    let (rank, caused_s, regions) = sums.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let waited_s = (caused_s / cluster.ranks.len().max(1) as f64).min(report.verdict.lost_s);
    let region = regions.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(region, _)| region.to_owned())?;
    let row = report.ranks.iter().find(|row| row.rank == rank)?;
    let [sent, received] =
        ["send", "recv"].map(|end| calls_of(report, rank, |operation| operation.to_ascii_lowercase().ends_with(end)));
    let answers = sent >= received / MAX_REQUESTS_PER_ANSWER;
    let found = AwaitedCoordinator {
        rank,
        waited_s,
        computation_s: row.computation_s,
        messages: if answers { sent } else { received },
        answers,
        sleeps_between_polls: polls_at_all(report, rank) && is_asleep(report, rank),
        region,
    };
    (waited_s >= MIN_LOSS_TO_COORDINATOR * report.verdict.lost_s).then_some(found)
}

/// Returns the number of a rank's calls of the operations that are meant.
fn calls_of(report: &Report, rank: u32, is_meant: impl Fn(&str) -> bool) -> u64 {
    let rows = report.call_sites.iter().filter(|row| is_meant(&row.operation));
    rows.flat_map(|row| &row.callers).filter(|(caller, _)| *caller == rank).map(|(_, calls)| calls).sum()
}

/// Returns whether a rank asks whether messages are there.
fn polls_at_all(report: &Report, rank: u32) -> bool {
    calls_of(report, rank, is_poll) > 0
}

/// Returns whether a rank sleeps for most of its computation.
fn is_asleep(report: &Report, rank: u32) -> bool {
    let row = report.ranks.iter().find(|row| row.rank == rank);
    let times = row.and_then(|row| row.core_states);
    times.is_some_and(|times| {
        let asleep_s = times.in_group(StateGroup::Asleep) - times.get(CoreState::Stopped);
        asleep_s >= MIN_EXCESS_ASLEEP * times.seconds.iter().sum::<f64>()
    })
}

/// Returns where a coordinator computes: the function by which it makes others wait longest, else the code between calls.
pub fn coordinator_place(report: &Report, found: &AwaitedCoordinator) -> FindingPlace {
    let rows = report.functions.iter().flat_map(|table| &table.delaying_ranks).filter(|one| one.rank == found.rank);
    let functions = rows.flat_map(|one| &one.functions);
    let longest = functions.max_by(|a, b| {
        let [a_s, b_s] = [a, b].map(|one| one.caused_s.unwrap_or(one.cpu_s));
        a_s.total_cmp(&b_s)
    });
    let region = FindingPlace {
        region: Some(found.region.clone()),
        ..FindingPlace::in_words(format!("rank {} in {}", found.rank, region_name(&found.region)))
    };
    match longest {
        _ if found.region == WHOLE_PROGRAM => polling_place(report, found.rank).unwrap_or(region),
        Some(one) => FindingPlace {
            text: format!("rank {} in {}", found.rank, function_and_caller(&one.name, one.caller.as_deref())),
            ..region.with_function(&one.name, one.caller.as_deref())
        },
        None => region,
    }
}

/// Returns the call by which a rank asks for messages.
fn polling_place(report: &Report, rank: u32) -> Option<FindingPlace> {
    let mut polls = report.call_sites.iter().filter(|row| is_poll(&row.operation));
    let row = polls.find(|row| row.callers.iter().any(|(caller, _)| *caller == rank))?;
    Some(FindingPlace::from_call(&LossAt { operation: row.operation.clone(), place: row.place.clone(), share: None }))
}

/// Returns whether an operation asks whether messages are there, without waiting.
fn is_poll(operation: &str) -> bool {
    operation.starts_with("Test") || matches!(operation, "Iprobe" | "Improbe")
}
