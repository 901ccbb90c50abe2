//! First one rank has more work, then another.

use super::turns::{each_gains, is_lasting, turns_of_slowest};
use crate::Report;
use crate::finding::{Finding, FindingAdvice, FindingCause};
use crate::findings::loss_parts::LossParts;
use crate::findings::{gain, place};
use crate::loss_kind::LossKind;

/// Most turns of slowest ranks that are named.
const MAX_TURNS: usize = 3;

/// Detects that the slowest rank stays the same for several iterations, then is another one.
pub fn detect(report: &Report, parts: &LossParts) -> Option<Finding> {
    (parts.slow_in_turn_s > 0.0 && is_lasting(report)).then(|| {
        let mut ranks: Vec<u32> = turns_of_slowest(report).iter().map(|turn| turn.rank).collect();
        ranks.sort_unstable();
        ranks.dedup();
        Finding {
            ranks,
            place: place::of_serialization(report, LossKind::SlowInTurn),
            gain: gain::of_each_iteration(report),
            advice: Some(advice(report)),
            ..Finding::part("moving rank", parts.slow_in_turn_s, FindingCause::Because(because(report)))
        }
    })
}

/// Describes the turns in which ranks are the slowest.
fn because(report: &Report) -> String {
    let turns = turns_of_slowest(report);
    let named = turns.iter().take(MAX_TURNS).map(|turn| match turn.first == turn.last {
        true => format!("rank {} in iteration {}", turn.rank, turn.first),
        false => format!("rank {} in iterations {}-{}", turn.rank, turn.first, turn.last),
    });
    let named: Vec<String> = named.collect();
    if let [only] = turns.as_slice() {
        return format!(
            "rank {} has more work in nearly all iterations, other ranks outside of them, and each time the others wait",
            only.rank
        );
    }
    let more = if turns.len() > MAX_TURNS { " …" } else { "" };
    format!("one rank at a time has more work ({}{more}), and the others wait for it", named.join(", "))
}

fn advice(report: &Report) -> FindingAdvice {
    match each_gains(report) {
        Some(true) => FindingAdvice::Try(
            "move work between ranks during the run, again and again; a better static partition will not help"
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
