//! In each iteration a different rank is the slowest.

use super::turns::{advice_on_turns, is_lasting, turns_of_slowest};
use crate::Report;
use crate::findings::shared::loss_parts::LossParts;
use crate::findings::shared::{gain, place};
use crate::losses::finding::{Finding, FindingCause};

/// The change that helps where balance in each iteration gains.
const CHANGE: &str = "balance the work within each iteration (dynamic scheduling, smaller tasks), or let ranks wait for each other less often; a better \
                      static partition will not help";

/// Most ranks that are named.
const MAX_RANKS: usize = 3;

/// Detects that ranks are slow in turn.
pub fn find_slow_in_turn(report: &Report, parts: &LossParts) -> Option<Finding> {
    if is_lasting(&turns_of_slowest(report)) {
        return None;
    }
    let ranks = first_ranks(report);
    let because = format!("in each iteration a different rank is the slowest{ranks}, and the others wait for it");
    Some(Finding {
        place: place::of_serialization(report, report.loss_facts.slow_in_turn.as_ref()),
        gain: gain::of_each_iteration(report, parts.slow_in_turn_s),
        advice: Some(advice_on_turns(report, CHANGE)),
        ..Finding::part("slow in turn", parts.slow_in_turn_s, FindingCause::Because(because))
    })
}

/// The ranks that cause most of the loss: ` (ranks 3, 0, 2)`. Empty if many ranks do.
fn first_ranks(report: &Report) -> String {
    let loss = report.loss_facts.slow_in_turn.as_ref();
    let ranks = loss.map_or(&[][..], |loss| loss.ranks.as_slice());
    let shown: Vec<String> =
        ranks.iter().filter(|(_, share)| *share >= 0.005).map(|(rank, _)| rank.to_string()).collect();
    match shown.len() {
        0 | 1 => String::new(),
        n if n <= MAX_RANKS => format!(" (ranks {})", shown.join(", ")),
        _ => format!(" (most often ranks {} …)", shown[..MAX_RANKS].join(", ")),
    }
}
