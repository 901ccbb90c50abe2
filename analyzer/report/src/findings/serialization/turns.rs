//! The turns in which ranks are the slowest, and advice on them.

use lbprof_thresholds::verdict::MIN_ITERATIONS_OF_TURN;

use crate::Report;
use crate::losses::finding::FindingAdvice;
use crate::time::iteration::IterationRow;
use crate::waiting::what_if::PredictionRow;

/// Returns whether the slowest rank usually stays the same for several iterations.
pub fn is_lasting(turns: &[SlowestTurn]) -> bool {
    let known: usize = turns.iter().map(|turn| turn.iterations).sum();
    !turns.is_empty() && known >= MIN_ITERATIONS_OF_TURN * turns.len()
}

/// Iterations one after another in which a rank is the slowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowestTurn {
    /// The rank.
    pub rank: u32,
    /// The first of the iterations.
    pub first: u32,
    /// The last.
    pub last: u32,
    /// Number of known iterations.
    pub iterations: usize,
}

/// Lists the turns in which ranks are the slowest, in the order of the iterations. A single iteration within the turn of another rank is no turn.
pub fn turns_of_slowest(report: &Report) -> Vec<SlowestTurn> {
    let rows: &[IterationRow] = report.iterations.as_ref().map_or(&[], |iterations| &iterations.rows);
    let mut turns: Vec<SlowestTurn> = Vec::new();
    for row in crate::time::course::measured_iterations(rows) {
        match turns.last_mut().filter(|turn| turn.rank == row.slowest_rank) {
            Some(turn) => (turn.last, turn.iterations) = (row.iteration, turn.iterations + 1),
            None => turns.push(SlowestTurn {
                rank: row.slowest_rank,
                first: row.iteration,
                last: row.iteration,
                iterations: 1,
            }),
        }
    }
    without_interruptions(turns)
}

/// Joins the turns of a rank that single iterations of other ranks interrupt.
fn without_interruptions(turns: Vec<SlowestTurn>) -> Vec<SlowestTurn> {
    let mut joined: Vec<SlowestTurn> = Vec::new();
    for turn in turns {
        let n = joined.len();
        let goes_on = n >= 2 && {
            let (before, between) = (joined[n - 2], joined[n - 1]);
            before.rank == turn.rank && between.iterations == 1 && before.iterations.min(turn.iterations) > 1
        };
        if goes_on {
            joined.pop();
            let before = &mut joined[n - 2];
            (before.last, before.iterations) = (turn.last, before.iterations + turn.iterations);
        } else {
            joined.push(turn);
        }
    }
    joined
}

/// Returns advice by the replay of balance in each iteration: `change` if that gains.
pub fn advice_on_turns(report: &Report, change: &str) -> FindingAdvice {
    let remedy = report.loss_facts.slow_in_turn.as_ref().and_then(|loss| loss.remedy.as_ref());
    match remedy.map(PredictionRow::has_gain) {
        Some(true) => FindingAdvice::Try(change.to_owned()),
        None => FindingAdvice::LookAt(
            "how the work could be balanced within each iteration; a better static partition will not help".to_owned(),
        ),
        Some(false) => FindingAdvice::LookAt(
            "how ranks depend on each other: balancing each iteration alone would save nothing".to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::{SlowestTurn, without_interruptions};

    fn turn(rank: u32, first: u32, last: u32) -> SlowestTurn {
        SlowestTurn { rank, first, last, iterations: (last - first + 1) as usize }
    }

    #[test]
    fn a_single_iteration_of_another_rank_ends_no_turn() {
        let turns = vec![turn(1, 1, 178), turn(3, 179, 179), turn(1, 180, 299)];
        let joined = SlowestTurn { iterations: 298, ..turn(1, 1, 299) };
        assert_eq!(without_interruptions(turns), [joined]);
        // Ranks that are slow in turn stay so.
        let in_turn: Vec<SlowestTurn> = (0..6).map(|at| turn(at % 2, at, at)).collect();
        assert_eq!(without_interruptions(in_turn.clone()), in_turn);
        let moving = vec![turn(0, 0, 9), turn(1, 10, 11), turn(0, 12, 19)];
        assert_eq!(without_interruptions(moving.clone()), moving);
    }
}
