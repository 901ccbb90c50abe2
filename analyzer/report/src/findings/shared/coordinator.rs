//! The ranks outside of the judged group for whose computation that group waits.

use std::collections::BTreeMap;

use lbprof_analysis::metrics::blocking::CauseClass;
use lbprof_analysis::model::replayed::replay_results::RequestServer;
use lbprof_analysis::model::replayed::waits::WaitState;
use lbprof_analysis::read::definitions::WHOLE_PROGRAM;
use lbprof_collector::{CoreState, StateGroup};
use lbprof_thresholds::verdict::{
    MAX_REQUESTS_PER_ANSWER, MIN_CAUSE_OF_MAJOR_RANK, MIN_EXCESS_ASLEEP, MIN_LOSS_TO_COORDINATOR,
};

use crate::Report;
use crate::findings::phrases::functions::function_and_caller;
use crate::findings::phrases::ranks::named_ranks;
use crate::losses::LossAt;
use crate::losses::finding::{FindingAdvice, FindingPlace};
use crate::losses::names::region_name;

/// A rank that others wait for, and whose work is not judged with theirs; or several that do the same.
#[derive(Clone, Debug, PartialEq)]
pub struct AwaitedCoordinator {
    /// The ranks, ascending.
    pub ranks: Vec<u32>,
    /// Seconds of the mean judged rank's time in which it waits for them.
    pub waited_s: f64,
    /// Seconds of their computation.
    pub computation_s: f64,
    /// Requests that they answer, or messages that they take without an answer; 0: the others wait for their work alone.
    pub messages: u64,
    /// True if they answer.
    pub answers: bool,
    /// True if they ask for messages again and again.
    pub polls: bool,
    /// True if they sleep in between.
    pub sleeps_between_polls: bool,
    /// Path of the region in which they compute most of what is waited for.
    pub region: String,
}

impl AwaitedCoordinator {
    /// Names what it works for.
    pub fn unit(&self) -> &'static str {
        if self.answers { "request" } else { "message" }
    }
}

/// Finds the coordinator for which the judged ranks wait for most of what they lose.
pub fn find_coordinator(report: &Report) -> Option<AwaitedCoordinator> {
    by_computation(report).or_else(|| by_polls(report))
}

/// Finds coordinators that ask for messages again and again, with long times in between, which count as waiting: messages that come meanwhile lie there.
fn by_polls(report: &Report) -> Option<AwaitedCoordinator> {
    let least_s = MIN_LOSS_TO_COORDINATOR * report.verdict.lost_s;
    let servers = report.clusters.servers.iter();
    let asleep: Vec<&RequestServer> =
        servers.filter(|server| server.unseen_s >= least_s && polls_at_all(report, server.rank)).collect();
    (!asleep.is_empty()).then(|| AwaitedCoordinator {
        waited_s: report.verdict.communication_s,
        sleeps_between_polls: true,
        ..AwaitedCoordinator::from_servers(report, &asleep, WHOLE_PROGRAM.to_owned())
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
    let caused: BTreeMap<u32, f64> =
        by_rank.iter().map(|(&rank, regions)| (rank, regions.values().sum::<f64>())).collect();
    let (&first, &most_s) = caused.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)))?;
    let least_s = MIN_CAUSE_OF_MAJOR_RANK * most_s;
    let servers = report.clusters.servers.iter();
    let servers: Vec<&RequestServer> =
        servers.filter(|server| caused.get(&server.rank).is_some_and(|&caused_s| caused_s >= least_s)).collect();
    let regions = by_rank.get(&first)?.iter();
    let region = regions.max_by(|a, b| a.1.total_cmp(b.1)).map(|(region, _)| (*region).to_owned())?;
    let found = match servers.iter().any(|server| server.rank == first) {
        true => AwaitedCoordinator::from_servers(report, &servers, region),
        false => AwaitedCoordinator::from_calls(report, first, region)?,
    };
    let all_s: f64 = found.ranks.iter().filter_map(|rank| caused.get(rank)).sum();
    // While it sleeps the others wait in calls for its calls.
    let calls = report.loss_facts.communication.as_ref().filter(|_| found.sleeps_between_polls);
    let is_in_calls = calls.and_then(|loss| loss.ranks.first()).is_some_and(|(rank, _)| found.ranks.contains(rank));
    let in_calls_s = if is_in_calls { report.verdict.communication_s } else { 0.0 };
    let waited_s = (all_s / cluster.ranks.len().max(1) as f64 + in_calls_s).min(report.verdict.lost_s);
    (waited_s >= MIN_LOSS_TO_COORDINATOR * report.verdict.lost_s).then_some(AwaitedCoordinator { waited_s, ..found })
}

impl AwaitedCoordinator {
    /// Describes ranks that answer requests.
    fn from_servers(report: &Report, servers: &[&RequestServer], region: String) -> AwaitedCoordinator {
        AwaitedCoordinator {
            ranks: servers.iter().map(|server| server.rank).collect(),
            waited_s: 0.0,
            computation_s: servers.iter().map(|server| server.computed_s).sum(),
            messages: servers.iter().map(|server| server.answers).sum(),
            answers: true,
            polls: servers.iter().all(|server| polls_at_all(report, server.rank)),
            sleeps_between_polls: servers.iter().all(|server| {
                // All that a rank does between a request and the answer is its work, asleep or not.
                let is_for_requests = server.handled_s >= MIN_EXCESS_ASLEEP * (server.computed_s + server.unseen_s);
                is_asleep_between_polls(report, server.rank) && !is_for_requests
            }),
            region,
        }
    }

    /// Describes a rank by the numbers of its calls. Where the others do not wait for its messages, but for its entry into collectives, they say nothing.
    fn from_calls(report: &Report, rank: u32, region: String) -> Option<AwaitedCoordinator> {
        let [sent, received] = ["send", "recv"]
            .map(|end| calls_of(report, rank, |operation| operation.to_ascii_lowercase().ends_with(end)));
        let answers = sent >= received / MAX_REQUESTS_PER_ANSWER;
        Some(AwaitedCoordinator {
            ranks: vec![rank],
            waited_s: 0.0,
            computation_s: report.ranks.iter().find(|row| row.rank == rank)?.computation_s,
            messages: match (are_messages_waited_for(report), answers) {
                (false, _) => 0,
                (true, true) => sent,
                (true, false) => received,
            },
            answers,
            polls: polls_at_all(report, rank),
            sleeps_between_polls: is_asleep_between_polls(report, rank),
            region,
        })
    }
}

/// Advises ranks that sleep between their polls to wait in MPI.
pub fn advice_on_sleep() -> FindingAdvice {
    FindingAdvice::Try(
        "wait for messages in MPI (MPI_Probe, MPI_Recv, MPI_Waitany) instead of polling and sleeping".to_owned(),
    )
}

/// Returns whether ranks wait longer for messages than for the last one in a barrier or another collective of all with all.
fn are_messages_waited_for(report: &Report) -> bool {
    report.blocking.as_ref().is_some_and(|table| {
        let states = table.sums.states.iter();
        let of_all = states.filter(|(state, _)| matches!(state, WaitState::Barrier | WaitState::NxN));
        of_all.map(|(_, times)| times.blocked_s()).sum::<f64>() <= 0.5 * table.sums.total_s
    })
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

/// Returns whether a rank asks whether messages are there, and sleeps for most of its computation.
pub fn is_asleep_between_polls(report: &Report, rank: u32) -> bool {
    let row = report.ranks.iter().find(|row| row.rank == rank);
    let times = row.and_then(|row| row.core_states);
    polls_at_all(report, rank)
        && times.is_some_and(|times| {
            let asleep_s = times.in_group(StateGroup::Asleep) - times.get(CoreState::Stopped);
            asleep_s >= MIN_EXCESS_ASLEEP * times.seconds.iter().sum::<f64>()
        })
}

/// Returns where a coordinator computes: the function by which it makes others wait longest, else the code between calls.
pub fn coordinator_place(report: &Report, found: &AwaitedCoordinator) -> FindingPlace {
    let ranks = &found.ranks;
    let tables = report.functions.iter().flat_map(|table| &table.delaying_ranks);
    let functions = tables.filter(|one| ranks.contains(&one.rank)).flat_map(|one| &one.functions);
    let longest = functions.filter(|one| one.name.function.is_some()).max_by(|a, b| {
        let [a_s, b_s] = [a, b].map(|one| one.caused_s.unwrap_or(one.cpu_s));
        a_s.total_cmp(&b_s)
    });
    let named = named_ranks(ranks);
    let region = FindingPlace {
        region: Some(found.region.clone()),
        ..FindingPlace::in_words(format!("{named} in {}", region_name(&found.region)))
    };
    match longest {
        _ if found.region == WHOLE_PROGRAM => {
            ranks.first().and_then(|&rank| polling_place(report, rank)).unwrap_or(region)
        }
        Some(one) => FindingPlace {
            text: format!("{named} in {}", function_and_caller(&one.name, &one.call)),
            ..region.with_function(&one.name, &one.call)
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
pub fn is_poll(operation: &str) -> bool {
    operation.starts_with("Test") || matches!(operation, "Iprobe" | "Improbe")
}
