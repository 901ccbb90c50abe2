//! A few calls take long, at any time, and nearly all others are short.

use super::messages;
use crate::Report;
use crate::findings::phrases::ranks::named_ranks;
use crate::findings::shared::loss_parts::LossParts;
use crate::losses::finding::{Finding, FindingAdvice, FindingCause, FindingPlace, FindingSubject};
use crate::losses::rare_delays::RareDelays;
use crate::rows::words::{escape_name, format_count, format_plural, format_seconds, seconds_like};

/// Most hosts that are named.
const MAX_HOSTS: usize = 3;

/// Detects that most of the time in calls is a few long delays.
pub fn find_rare_call_delays(report: &Report, parts: &LossParts) -> Option<Finding> {
    let found = report.rare_delays.as_ref().filter(|_| !report.has_unrecorded_partners())?;
    // A long function that MPI calls has samples; one that sleeps has none.
    let may_be_called = report.loss_facts.called_by_mpi.is_some() || found.are_asleep != Some(false);
    let may_be_program = found.at.is_reduction() && may_be_called;
    let advice = match may_be_program {
        true => {
            "whether the reduction is a function of the program (MPI_Op_create) that sometimes sleeps, waits for I/O or computes long: it runs within \
             the call, and a faster network will not help; the timeline (--html) shows each of the delays"
        }
        false => {
            "the network and the nodes of these ranks (errors and retransmissions of links, other jobs there): record again on other nodes, and see \
             whether the delays stay with the ranks or with the nodes; the timeline (--html) shows each of them"
        }
    };
    Some(Finding {
        subject: FindingSubject::Messages,
        ranks: found.ranks.clone(),
        place: Some(FindingPlace::from_call(&found.at)),
        gain: messages::gain_of_network(report).filter(|_| !may_be_program),
        advice: messages::certain_advice(report, FindingAdvice::LookAt(advice.to_owned())),
        evidence: vec![
            ("delays", found.calls as f64),
            ("calls", found.all_calls as f64),
            ("delays_s", found.seconds),
            ("first_s", found.first_s),
            ("last_s", found.last_s),
        ],
        ..Finding::part("rare delays", parts.calls_s, FindingCause::To("rare delays", delays_in_words(report, found)))
    })
}

/// Describes delays: `8 of 3,200 calls of MPI_Waitall take 100 ms each on ranks 0-3, from 0.10 s to 1.60 s of the run; the others are short`.
fn delays_in_words(report: &Report, found: &RareDelays) -> String {
    let elapsed_s = report.verdict.elapsed_s;
    let calls = match found.places {
        1 => format!("calls of MPI_{}", found.at.operation),
        n => format!("MPI calls at {}", format_plural(n as u64, "place")),
    };
    let ranks = match found.ranks.as_slice() {
        [] => String::new(),
        some => format!(" on {}{}", named_ranks(some), hosts_in_words(report, some)),
    };
    let [first, last] = [found.first_s, found.last_s].map(|time_s| seconds_like(time_s, elapsed_s));
    let asleep = match found.at.is_reduction() && found.are_asleep == Some(true) {
        true => ", for most of which a rank sleeps",
        false => "",
    };
    format!(
        "{} of {} {calls} take {} each{ranks}, from {first} to {last} of the run{asleep}; the others are short",
        format_count(found.calls),
        format_count(found.all_calls),
        format_seconds(found.seconds / found.calls.max(1) as f64),
    )
}

/// Returns the hosts of ranks in a run on several: ` (node3)`. Empty if they are many.
fn hosts_in_words(report: &Report, ranks: &[u32]) -> String {
    let is_on_one = report.ranks.windows(2).all(|pair| pair[0].host == pair[1].host);
    let hosts = report.hosts_of(ranks);
    match hosts.len() {
        n if is_on_one || n > MAX_HOSTS => String::new(),
        _ => format!(" ({})", hosts.into_iter().map(escape_name).collect::<Vec<_>>().join(", ")),
    }
}
