//! First one rank has more work, then another.

use super::turns::{SlowestTurn, advice_on_turns, is_lasting, turns_of_slowest};
use crate::Report;
use crate::findings::shared::loss_parts::LossParts;
use crate::findings::shared::{gain, place};
use crate::losses::finding::{Finding, FindingCause};

/// Most turns of slowest ranks that are named.
const MAX_TURNS: usize = 3;

/// Detects that the slowest rank stays the same for several iterations, then is another one.
pub fn find_moving_rank(report: &Report, parts: &LossParts) -> Option<Finding> {
    let turns = turns_of_slowest(report);
    let mut ranks: Vec<u32> = turns.iter().map(|turn| turn.rank).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let change = "rebalance the work again and again during the run; a better static partition will not help";
    is_lasting(&turns).then(|| Finding {
        ranks,
        place: place::of_serialization(report, report.loss_facts.slow_in_turn.as_ref()),
        gain: gain::of_each_iteration(report, parts.slow_in_turn_s),
        advice: Some(advice_on_turns(report, change)),
        ..Finding::part("moving rank", parts.slow_in_turn_s, FindingCause::Because(cause_of_moving_rank(&turns)))
    })
}

/// Describes the turns in which ranks are the slowest.
fn cause_of_moving_rank(turns: &[SlowestTurn]) -> String {
    let named = turns.iter().take(MAX_TURNS).map(|turn| match turn.first == turn.last {
        true => format!("rank {} in iteration {}", turn.rank, turn.first),
        false => format!("rank {} in iterations {}-{}", turn.rank, turn.first, turn.last),
    });
    let named: Vec<String> = named.collect();
    if let [only] = turns {
        return format!(
            "rank {} has more work in nearly all iterations, other ranks outside of them, and each time the others wait",
            only.rank
        );
    }
    let more = if turns.len() > MAX_TURNS { " …" } else { "" };
    format!("one rank at a time has more work ({}{more}), and the others wait for it", named.join(", "))
}
