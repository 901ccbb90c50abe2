//! Serialization (POP), micro load imbalance (Huck & Labarta 2010): what the ideal time exceeds the longest computation of a rank by.
//! Ranks wait for each other though none computes that long in the sum. There are two reasons, which call for different remedies:
//!
//! ```text
//!   slow in turn: a different rank is the slowest each time     a dependency chain: one computes what the next needs
//!
//!            iteration 0     iteration 1                              iteration 0                 iteration 1
//!   rank 0   |===3===|       |=1=|....|                     rank 0   |=1=|.......|               |=1=|.......|
//!   rank 1   |=1=|....|      |===3===|                      rank 1   |...|=1=|...|               |...|=1=|...|
//!                                                           rank 2   |.......|=1=|               |.......|=1=|
//!   max_p T_p = 4, Σ_k max_p t_pk = 6, replay 6:
//!   2 s are slow in turn, none chains                       max_p T_p = 2, Σ_k max_p t_pk = 2, replay 6: 4 s are chains
//! ```
//!
//! Where ranks wait for each other between the parts of an iteration, and each part has another slowest rank, the replay finds no chain either: it is
//! what the sums of the parts hide, and even work in each part by itself takes it away.
//!
//! ```text
//!              iteration 0                iteration 1
//!   rank 0   |===3===|=1=|....|         |===3===|=1=|....|         max_p T_p = 8, Σ_k max_p t_pk = 8, replay 12:
//!   rank 1   |=1=|....|===3===|         |=1=|....|===3===|         4 s are slow in parts
//! ```
//!
//! Where the iterations' slowest ranks do not hold up all others, because ranks meet less often than once an iteration, the sum over
//! iterations exceeds the replay. Then all of the serialization is ranks being slow in turn, as much of it as holds up the run.

/// Serialization and its parts, in seconds of elapsed time; none is negative.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SerializationTimes {
    /// Total serialization: T_ideal − max_p T_p.
    pub total_s: f64,
    /// Different ranks are slow in turn: Σ_k max_p t_pk − max_p T_p, at most all. `None` where no iterations are known for sure.
    pub slow_in_turn_s: Option<f64>,
    /// Ranks depend on each other in chains within iterations: T_ideal by replay − Σ_k max_p t_pk. `None` where iterations, likewise,
    /// or the replay are not known.
    pub chains_s: Option<f64>,
    /// Different ranks are slow in different parts of an iteration: what was counted as chains but would be saved by even work in every region. `None`
    /// where that replay was not made.
    pub slow_in_parts_s: Option<f64>,
}

impl SerializationTimes {
    /// Returns the serialization attributed to neither kind.
    pub fn undivided_s(&self) -> f64 {
        if self.slow_in_turn_s.is_none() { self.total_s } else { 0.0 }
    }

    /// Moves from the chains what even work in every region would save, `saved_s` by replay, beyond the imbalance of the ranks' totals, `imbalance_s`.
    /// Less than `least_s` stays a chain: the replay is not that exact.
    pub fn with_parts(self, saved_s: f64, imbalance_s: f64, least_s: f64) -> SerializationTimes {
        let Some(chains_s) = self.chains_s else { return self };
        let in_parts_s = (saved_s - imbalance_s).min(chains_s);
        let in_parts_s = if in_parts_s < least_s { 0.0 } else { in_parts_s };
        SerializationTimes { chains_s: Some(chains_s - in_parts_s), slow_in_parts_s: Some(in_parts_s), ..self }
    }
}

/// The serialization of ranks of which the longest computes `max_s`.
///
/// - `ideal_s`: T_ideal, by replay where `is_replay`, else estimated from iterations.
/// - `by_iteration_s`: Σ_k max_p t_pk with what lies outside of iterations, where iterations are known for sure: of another loop the
///   sum is another one.
///
/// Source: the denominator of docs/metrics.md §1, eq. 4, by both ways in which the section computes T_ideal.
pub fn serialization_times(
    max_s: f64,
    ideal_s: f64,
    is_replay: bool,
    by_iteration_s: Option<f64>,
) -> SerializationTimes {
    let total_s = (ideal_s - max_s).max(0.0);
    let slow_in_turn_s = by_iteration_s.map(|by_iteration_s| (by_iteration_s - max_s).clamp(0.0, total_s));
    let chains_s = slow_in_turn_s.filter(|_| is_replay).map(|slow_in_turn_s| total_s - slow_in_turn_s);
    SerializationTimes { total_s, slow_in_turn_s, chains_s, slow_in_parts_s: None }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Of 3 ranks in 2 iterations: seconds by iteration and rank, the ideal time by replay as drawn, and the two parts.
    fn assert_parts(iterations: [[f64; 3]; 2], replay_s: f64, slow_in_turn_s: f64, chains_s: f64) {
        let max_s = (0..3).map(|rank| iterations.iter().map(|ranks| ranks[rank]).sum::<f64>()).fold(0.0, f64::max);
        let by_iteration_s = iterations.iter().map(|ranks| ranks.iter().copied().fold(0.0, f64::max)).sum();
        let found = serialization_times(max_s, replay_s, true, Some(by_iteration_s));
        assert_eq!((found.slow_in_turn_s, found.chains_s), (Some(slow_in_turn_s), Some(chains_s)));
        assert_eq!(found.total_s, slow_in_turn_s + chains_s);
        assert_eq!(found.undivided_s(), 0.0);
    }

    #[test]
    fn ranks_that_are_slow_in_turn_are_no_chain() {
        // Rank 0 has 3 s, then rank 1, and a barrier ends each iteration: 3 + 3 s, and each computes 4 s at most.
        assert_parts([[3.0, 1.0, 1.0], [1.0, 3.0, 1.0]], 6.0, 2.0, 0.0);
    }

    #[test]
    fn equal_ranks_one_after_the_other_are_a_chain() {
        // Each computes 1 s in each iteration after the one before it has: 3 + 3 s.
        assert_parts([[1.0; 3]; 2], 6.0, 0.0, 4.0);
    }

    #[test]
    fn a_chain_of_ranks_that_are_slow_in_turn_is_both() {
        // One after the other: 5 + 5 s. Of 6 s over the longest rank's 4 s, 2 s come of rank 0 and 1 being slow in turn.
        assert_parts([[3.0, 1.0, 1.0], [1.0, 3.0, 1.0]], 10.0, 2.0, 4.0);
    }

    #[test]
    fn where_ranks_do_not_meet_in_each_iteration_there_is_no_chain() {
        // They meet after both iterations only: 4 s, as long as the longest computes; or a neighbour waits for 1 s of the 2.
        assert_parts([[3.0, 1.0, 1.0], [1.0, 3.0, 1.0]], 4.0, 0.0, 0.0);
        assert_parts([[3.0, 1.0, 1.0], [1.0, 3.0, 1.0]], 5.0, 1.0, 0.0);
    }

    #[test]
    fn without_iterations_or_a_replay_the_parts_are_not_known() {
        let replayed = serialization_times(4.0, 6.0, true, None);
        assert_eq!(replayed, SerializationTimes { total_s: 2.0, ..SerializationTimes::default() });
        assert_eq!(replayed.undivided_s(), 2.0);
        let estimated = serialization_times(4.0, 6.0, false, Some(6.0));
        let slow_in_turn_s = Some(2.0);
        assert_eq!(estimated, SerializationTimes { total_s: 2.0, slow_in_turn_s, ..SerializationTimes::default() });
        assert_eq!(estimated.undivided_s(), 0.0);
    }

    #[test]
    fn what_even_work_in_every_region_saves_is_no_chain() {
        // The drawing: 12 s by replay, even work in both parts takes 8 s, and all ranks have the same totals.
        let found = serialization_times(8.0, 12.0, true, Some(8.0));
        let with_parts = |saved_s: f64, imbalance_s: f64| {
            let times = found.with_parts(saved_s, imbalance_s, 0.1);
            (times.slow_in_parts_s, times.chains_s)
        };
        assert_eq!(with_parts(4.0, 0.0), (Some(4.0), Some(0.0)));
        assert_eq!(with_parts(4.0, 1.0), (Some(3.0), Some(1.0)), "a rank with more work in total is load imbalance");
        assert_eq!(with_parts(9.0, 1.0), (Some(4.0), Some(0.0)), "no more than there is");
        assert_eq!(with_parts(1.05, 1.0), (Some(0.0), Some(4.0)), "no more than the replay may be wrong by");
        assert_eq!(serialization_times(8.0, 12.0, true, None).with_parts(4.0, 0.0, 0.1).slow_in_parts_s, None);
    }

    proptest! {
        #[test]
        fn the_parts_add_up(max_s in 0.0..1e3f64, replay_s in 0.0..1e3f64, by_iteration_s in 0.0..1e3f64) {
            let found = serialization_times(max_s, replay_s, true, Some(by_iteration_s));
            let (slow_in_turn_s, chains_s) = (found.slow_in_turn_s.unwrap(), found.chains_s.unwrap());
            prop_assert!(slow_in_turn_s >= 0.0 && chains_s >= 0.0);
            prop_assert!((slow_in_turn_s + chains_s - found.total_s).abs() <= 1e-12 * replay_s);
        }
    }
}
