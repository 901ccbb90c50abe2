//! Splits the waiting for ranks that compute into four parts (docs/metrics.md §3; Lemeire & Dirkx 2003, §3.3 and eq. 8).
//!
//! ```text
//!              start    iteration 0    iteration 1      At the start rank 0 alone computes for 2 s and 2 ranks wait:
//!   rank 0   |== 2 ==| |=== 3 ===|..| |=1=|.......|     Amdahl 2 · 2 = 4 s.
//!   rank 1   |.......| |=1=|........| |=== 3 ===|.|     T_p = 6, 4, 4; 3 · 6 − 14 = 4 s, all of it reported as Amdahl already:
//!   rank 2   |.......| |== 2 ==|....| |== 2 ==|...|     global 0 s.
//! ```
//!
//! By iteration the slowest ranks take 2 + 3 + 3 = 8 s, so that 3 · 8 − 14 = 10 s are waited, of which 6 s remain: temporal, for the
//! ranks take turns at being the slowest. That rank 0 is alone for the last second of iteration 0 is no serial work: it began together
//! with the others and only has more to do. [`crate::profile::concurrency`] distinguishes the two.
//!
//! Were the ideal time by replay 9 s, not 8, then ranks would also wait for each other within iterations: 3 · 1 s more, in chains
//! ([`crate::metrics::serialization`]). Where iterations are not known, or not for sure, 6 + 3 s are not separated.

/// Seconds that ranks wait for others that compute, summed over ranks, by why they do. None is negative.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ImbalanceSplit {
    /// Amdahl: while one rank does what no other can share. `None` where that time is not known.
    pub amdahl_s: Option<f64>,
    /// Global: because the ranks' computation differs in the sum. With Amdahl's part where that is not known.
    pub global_s: f64,
    /// Temporal: because it differs by iteration, though less in the sum. `None` where no iterations are known for sure.
    pub temporal_s: Option<f64>,
    /// Chains: because ranks depend on each other within iterations. `None` where iterations or the ideal time by replay are not known.
    pub chains_s: Option<f64>,
    /// Temporal or chains. `None` where these are known, or the ideal time is not.
    pub unsplit_s: Option<f64>,
}

/// Bounds and estimates of the ideal time, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IdealTimes {
    /// Σ_k max_p t_pk with what lies outside of iterations.
    pub by_iteration_s: Option<f64>,
    /// By replay.
    pub replay_s: Option<f64>,
    /// True if iterations are known for sure: else what the estimate says depends on which loop was found.
    pub is_sure: bool,
}

/// Splits the waiting that follows from imbalance.
///
/// - `computation[p]`: T_p, seconds that rank p computes; one entry a rank.
/// - `ideal`: T_ideal by both ways, as far as they are known.
/// - `serial_s`: seconds in which one rank works alone and no other has anything to do, where that is known.
///
/// Amdahl = (P−1)·serial, global = P·max T_p − Σ T_p − Amdahl, temporal = P·Σ_k max_p t_pk − Σ T_p − Amdahl − global, chains = what is
/// left of P·T_ideal by replay − Σ T_p; each at least 0. An estimate above the replay counts as far as it holds up the run.
/// Source: docs/metrics.md §3; with P ranks and a serial fraction s, Amdahl / T_seq is (P−1)·s (2003, eq. 8).
pub fn split_imbalance(computation: &[f64], ideal: IdealTimes, serial_s: Option<f64>) -> ImbalanceSplit {
    let n = computation.len() as f64;
    let sum: f64 = computation.iter().sum();
    let max = computation.iter().copied().fold(0.0, f64::max);
    let amdahl_s = serial_s.map(|serial_s| (n - 1.0).max(0.0) * serial_s);
    let amdahl = amdahl_s.unwrap_or(0.0);
    let global_s = (n * max - sum - amdahl).max(0.0);
    let replay_s = ideal.replay_s.unwrap_or(f64::INFINITY);
    let counted = [sum, amdahl, global_s];
    let by_iteration_s = ideal.by_iteration_s.filter(|_| ideal.is_sure);
    let temporal_s = by_iteration_s.map(|by_iteration_s| remainder_s(n * by_iteration_s.min(replay_s), counted));
    let chains_s =
        temporal_s.zip(ideal.replay_s).map(|(temporal_s, replay_s)| remainder_s(n * replay_s, counted) - temporal_s);
    let ideal_s = ideal.replay_s.or(ideal.by_iteration_s).filter(|_| temporal_s.is_none());
    let unsplit_s = ideal_s.map(|ideal_s| remainder_s(n * ideal_s, counted));
    ImbalanceSplit { amdahl_s, global_s, temporal_s, chains_s, unsplit_s }
}

/// Returns `all_s` without the parts that are counted already, at least 0.
fn remainder_s(all_s: f64, counted: [f64; 3]) -> f64 {
    counted.iter().fold(all_s, |rest_s, part_s| rest_s - part_s).max(0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn by_iteration(seconds: f64) -> IdealTimes {
        IdealTimes { by_iteration_s: Some(seconds), replay_s: None, is_sure: true }
    }

    /// The parts of waiting that are known without a replay.
    fn by_sums(amdahl_s: Option<f64>, global_s: f64, temporal_s: Option<f64>) -> ImbalanceSplit {
        ImbalanceSplit { amdahl_s, global_s, temporal_s, chains_s: None, unsplit_s: None }
    }

    #[test]
    fn the_example_at_the_head_of_this_file() {
        assert_eq!(split_imbalance(&[6.0, 4.0, 4.0], by_iteration(8.0), Some(2.0)), by_sums(Some(4.0), 0.0, Some(6.0)));
    }

    #[test]
    fn a_rank_that_always_has_more_is_global() {
        assert_eq!(split_imbalance(&[4.0, 1.0], by_iteration(4.0), Some(0.0)), by_sums(Some(0.0), 3.0, Some(0.0)));
    }

    #[test]
    fn what_is_not_known_is_reported_and_not_guessed() {
        assert_eq!(split_imbalance(&[4.0, 1.0], IdealTimes::default(), None), by_sums(None, 3.0, None));
    }

    #[test]
    fn one_rank_waits_for_nobody() {
        assert_eq!(split_imbalance(&[4.0], by_iteration(4.0), Some(4.0)), by_sums(Some(0.0), 0.0, Some(0.0)));
    }

    #[test]
    fn what_the_replay_takes_longer_than_the_iterations_is_chains() {
        // 2 ranks compute 1 s each in 2 iterations, rank 1 after rank 0: 4 s in all, so that each waits for 2 s.
        let ideal = IdealTimes { by_iteration_s: Some(2.0), replay_s: Some(4.0), is_sure: true };
        let parts = split_imbalance(&[2.0, 2.0], ideal, Some(0.0));
        assert_eq!((parts.temporal_s, parts.chains_s), (Some(0.0), Some(4.0)));
        // They meet less often than once an iteration: an estimate of 3 s, and a replay of 2.
        let ideal = IdealTimes { by_iteration_s: Some(3.0), replay_s: Some(2.0), is_sure: true };
        assert_eq!(split_imbalance(&[2.0, 2.0], ideal, Some(0.0)).temporal_s, Some(0.0));
    }

    #[test]
    fn what_depends_on_an_unsure_loop_is_not_split() {
        let ideal = IdealTimes { by_iteration_s: Some(3.0), replay_s: Some(4.0), is_sure: false };
        let parts = split_imbalance(&[2.0, 2.0], ideal, Some(0.0));
        assert_eq!((parts.temporal_s, parts.chains_s, parts.unsplit_s), (None, None, Some(4.0)));
        let estimate = IdealTimes { replay_s: None, ..ideal };
        assert_eq!(split_imbalance(&[2.0, 2.0], estimate, Some(0.0)).unsplit_s, Some(2.0));
    }

    proptest! {
        /// Work of 1 s of which a fraction s is serial and the rest is perfectly shared: Ovh = (P−1)·s, and with useful work
        /// (ratio 1) the speedup is Amdahl's, 1/(s + (1−s)/P).
        #[test]
        fn a_serial_fraction_gives_amdahls_law(n in 1..1000usize, serial in 0.0..1.0f64) {
            let shared = (1.0 - serial) / n as f64;
            let computation: Vec<f64> = (0..n).map(|rank| shared + if rank == 0 { serial } else { 0.0 }).collect();
            let parts = split_imbalance(&computation, by_iteration(serial + shared), Some(serial));
            let p = n as f64;
            let amdahl = parts.amdahl_s.unwrap();
            prop_assert!((amdahl - (p - 1.0) * serial).abs() <= 1e-9);
            prop_assert!(parts.global_s <= 1e-9 && parts.temporal_s.unwrap() <= 1e-9);
            let speedup = p / (1.0 + amdahl);
            prop_assert!((speedup - 1.0 / (serial + (1.0 - serial) / p)).abs() <= 1e-9 * p);
        }

        /// The parts add up to P·T_ideal − Σ T_p, unless more is waited alone than in all.
        #[test]
        fn the_parts_add_up(
            computation in prop::collection::vec(0.0..10.0f64, 1..50),
            longer in 0.0..10.0f64,
            share in 0.0..1.0f64,
            estimate in 0.0..2.0f64,
        ) {
            let n = computation.len() as f64;
            let max = computation.iter().copied().fold(0.0, f64::max);
            let waited = n * (max + longer) - computation.iter().sum::<f64>();
            let alone = share * waited / (n - 1.0).max(1.0);
            let (by_iteration_s, replay_s) = (Some(max + estimate * longer), Some(max + longer));
            let parts = split_imbalance(&computation, IdealTimes { by_iteration_s, replay_s, is_sure: true }, Some(alone));
            let sum = parts.amdahl_s.unwrap() + parts.global_s + parts.temporal_s.unwrap() + parts.chains_s.unwrap();
            prop_assert!(parts.global_s >= 0.0 && parts.temporal_s.unwrap() >= 0.0 && parts.chains_s.unwrap() >= 0.0);
            prop_assert!((sum - waited).abs() <= 1e-9 || n == 1.0);
            let unsure = split_imbalance(&computation, IdealTimes { by_iteration_s, replay_s, is_sure: false }, Some(alone));
            let sum = unsure.amdahl_s.unwrap() + unsure.global_s + unsure.unsplit_s.unwrap();
            prop_assert!((sum - waited).abs() <= 1e-9 || n == 1.0);
        }
    }
}
