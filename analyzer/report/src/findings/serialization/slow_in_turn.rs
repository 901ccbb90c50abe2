//! In each iteration another rank is the slowest.

use super::turns::{each_gains, is_lasting};
use crate::Report;
use crate::finding::{Finding, FindingAdvice, FindingCause};
use crate::findings::loss_parts::{LossParts, loss_of};
use crate::findings::{gain, place};
use crate::loss_kind::LossKind;

/// Most ranks that are named.
const MAX_RANKS: usize = 3;

/// Detects that ranks are slow in turn.
pub fn detect(report: &Report, parts: &LossParts) -> Option<Finding> {
    if parts.slow_in_turn_s <= 0.0 || is_lasting(report) {
        return None;
    }
    let ranks = first_ranks(report);
    let because = format!("in each iteration another rank is the slowest{ranks}, and the others wait for it");
    Some(Finding {
        place: place::of_serialization(report, LossKind::SlowInTurn),
        gain: gain::of_each_iteration(report),
        advice: Some(advice(report)),
        ..Finding::part("slow in turn", parts.slow_in_turn_s, FindingCause::Because(because))
    })
}

/// The ranks that cause most of the loss: ` (ranks 3, 0, 2)`. Empty if many ranks do.
fn first_ranks(report: &Report) -> String {
    let loss = loss_of(report, LossKind::SlowInTurn);
    let ranks = loss.map_or(&[][..], |loss| loss.ranks.as_slice());
    let shown: Vec<String> =
        ranks.iter().filter(|(_, share)| *share >= 0.005).map(|(rank, _)| rank.to_string()).collect();
    match shown.len() {
        0 | 1 => String::new(),
        n if n <= MAX_RANKS => format!(" (ranks {})", shown.join(", ")),
        _ => format!(" (most often ranks {} …)", shown[..MAX_RANKS].join(", ")),
    }
}

fn advice(report: &Report) -> FindingAdvice {
    match each_gains(report) {
        Some(true) => FindingAdvice::Try(
            "balance the work within each iteration (dynamic scheduling, smaller tasks), or let ranks wait for each other less often; a better \
             static partition will not help"
                .to_owned(),
        ),
        None => FindingAdvice::LookAt(
            "how the work could be balanced within each iteration; a better static partition will not help".to_owned(),
        ),
        Some(false) => FindingAdvice::LookAt(
            "how ranks depend on each other: balancing each iteration alone would save nothing".to_owned(),
        ),
    }
}
