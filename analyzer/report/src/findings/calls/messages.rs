//! Parts that findings about messages share: the call with most of them, in words, and what an ideal network would save.

use crate::Report;
use crate::findings::phrases::ranks::named_ranks;
use crate::findings::shared::amounts::{CallAmounts, may_compute};
use crate::findings::shared::gain;
use crate::findings::shared::loss_parts::LossParts;
use crate::losses::LossAt;
use crate::losses::finding::{Finding, FindingAdvice, FindingCause, FindingGain, FindingPlace, FindingSubject};
use crate::rows::words::{format_bytes, format_plural, format_seconds, seconds_like};

/// Returns a finding about messages, in the calls that take longest.
pub fn message_finding(report: &Report, parts: &LossParts, kind: &'static str, to: &'static str) -> Finding {
    let loss = report.loss_facts.communication.as_ref();
    let at = loss.and_then(|loss| loss.at.as_ref());
    let amounts = parts.amounts.as_ref();
    let words = at.zip(amounts).map(|(at, amounts)| calls_in_words(report, at, amounts));
    let evidence = amounts.map(|amounts| {
        vec![
            ("calls_each", amounts.calls_each as f64),
            ("bytes_each", amounts.bytes_each as f64),
            ("seconds_each", amounts.seconds_each),
        ]
    });
    Finding {
        subject: FindingSubject::Messages,
        ranks: loss.map(|loss| loss.ranks.iter().map(|&(rank, _)| rank).collect()).unwrap_or_default(),
        place: at.map(FindingPlace::from_call),
        gain: gain_of_network(report),
        evidence: evidence.unwrap_or_default(),
        ..Finding::part(kind, parts.calls_s, FindingCause::To(to, words.unwrap_or_default()))
    }
}

/// Returns advice, unless ranks may spend the time on something else than messages.
pub fn certain_advice(report: &Report, advice: FindingAdvice) -> Option<FindingAdvice> {
    let is_doubtful = report.has_crowded_cores() || report.has_unrecorded_partners();
    (!is_doubtful).then_some(advice)
}

/// Returns what messages that take no time would save.
pub fn gain_of_network(report: &Report) -> Option<FindingGain> {
    gain::of_prediction(report, |row| row.is_asked && row.scenario.is_network()).or_else(|| {
        // It is then mostly that ranks have no core, that others are late of which nothing is known, or that they compute in the call.
        let is_unsure = report.has_crowded_cores() || report.has_unrecorded_partners() || may_compute(report);
        let row = report.loss_facts.communication.as_ref()?.remedy.as_ref().filter(|_| !is_unsure)?;
        let seconds = row.saved_share * report.data.elapsed_s;
        gain::at_most(report, seconds, "if messages took no time")
    })
}

/// Describes the call with most communication: how often it is made, the size of its messages and its time.
fn calls_in_words(report: &Report, at: &LossAt, amounts: &CallAmounts) -> String {
    let operation = format!("MPI_{}", at.operation);
    let size = match amounts.carries_data {
        true => format!(" of {}", format_bytes(amounts.bytes_each)),
        false => String::new(),
    };
    let calls = format_plural(amounts.calls_each.max(1), "call");
    let each = format_seconds(amounts.seconds_each);
    let spent = match amounts.calls_each {
        0 | 1 => format!("which takes {each}"),
        n => {
            let in_all = seconds_like(amounts.seconds_each * n as f64, report.verdict.elapsed_s);
            format!("which take {each} each, {in_all} in all")
        }
    };
    let is_all = amounts.callers.len() == report.ranks.len();
    match amounts.callers.as_slice() {
        [one] if !is_all => format!("rank {one} makes {calls} of {operation}{size}, {spent}"),
        some if !is_all => format!("{} each make {calls} of {operation}{size}, {spent}", named_ranks(some)),
        _ => format!("each rank makes {calls} of {operation}{size}, {spent}"),
    }
}
