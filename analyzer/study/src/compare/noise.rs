//! Judges whether a difference is more than chance.
//!
//! Where the runs show their noise, that is with at least three in all and two on a side, a difference of means is beyond it if the
//! two-sided t-test says so at [`MAX_CHANCE_OF_DIFFERENCE`]: Welch's where both sides have two runs or more, else Student's, which takes the single
//! run to scatter as the others do. If several figures are tested together, the probabilities are corrected by Holm's method, so that
//! among many parts of equal runs still none is taken for a change in 95 of 100 cases; parts that hardly take time are left out. Differences too small to matter
//! ([`NoiseLimits::relevant_s`]) are never reported.
//!
//! With one run a side nothing is known of the noise, and a difference counts from [`NoiseLimits::assumed_s`] on.
//!
//! Sources: Welch, "The generalization of 'Student's' problem when several different population variances are involved",
//! Biometrika 34 (1947); Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6 (1979).

use lbprof_thresholds::study::{MAX_CHANCE_OF_DIFFERENCE, MIN_DIFFERENCE_OF_SINGLE_RUNS_S, MIN_DIFFERENCE_OF_TIMES};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The limits of noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseLimits {
    /// Share of the base's elapsed time that is taken for noise where nothing is known of it.
    pub share: f64,
}

impl Default for NoiseLimits {
    fn default() -> Self {
        NoiseLimits { share: 0.02 }
    }
}

impl NoiseLimits {
    /// Seconds from which on a difference counts where nothing is known of the noise of runs of `elapsed_s` seconds.
    pub fn assumed_s(&self, elapsed_s: f64) -> f64 {
        (self.share * elapsed_s).max(MIN_DIFFERENCE_OF_SINGLE_RUNS_S)
    }

    /// Seconds from which on a difference matters where the noise is known.
    pub fn relevant_s(&self, elapsed_s: f64) -> f64 {
        MIN_DIFFERENCE_OF_TIMES.min(self.share) * elapsed_s
    }
}

/// Returns whether these numbers of runs are enough to measure the noise.
pub fn is_known(n_base: usize, n_new: usize) -> bool {
    n_base > 0 && n_new > 0 && n_base + n_new > 2
}

/// The probability that means of samples from one distribution differ as much as these: of a two-sided t-test, 0..=1.
///
/// `None` where the noise is not known ([`is_known`]). Without any scatter, 1 if all samples are equal, else 0.
pub fn chance_of_difference(base: &[f64], new: &[f64]) -> Option<f64> {
    if !is_known(base.len(), new.len()) {
        return None;
    }
    let difference = mean_of(new) - mean_of(base);
    let (error, freedom) = match base.len().min(new.len()) {
        1 => pooled_error(base, new),
        _ => welch_error(base, new),
    };
    if error <= 1e-12 * (mean_of(base).abs() + mean_of(new).abs()) {
        return Some(if difference.abs() <= 1e-9 * mean_of(base).abs() { 1.0 } else { 0.0 });
    }
    let distribution = StudentsT::new(0.0, 1.0, freedom).ok()?;
    Some(2.0 * distribution.sf((difference / error).abs()))
}

/// Decides which of several tests reject together at [`MAX_CHANCE_OF_DIFFERENCE`], by Holm's method: one entry per test.
pub fn reject_together(probabilities: &[f64]) -> Vec<bool> {
    let mut ordered: Vec<(usize, f64)> = probabilities.iter().copied().enumerate().collect();
    ordered.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut rejected = vec![false; probabilities.len()];
    for (rank, (idx, probability)) in ordered.into_iter().enumerate() {
        if probability > MAX_CHANCE_OF_DIFFERENCE / (probabilities.len() - rank) as f64 {
            break;
        }
        rejected[idx] = true;
    }
    rejected
}

/// The mean; 0 of nothing.
pub fn mean_of(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

pub(super) fn sum_of_deviations(values: &[f64]) -> f64 {
    let mean = mean_of(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// Standard error of the difference of means, and degrees of freedom, where both sides scatter alike.
fn pooled_error(base: &[f64], new: &[f64]) -> (f64, f64) {
    let freedom = (base.len() + new.len() - 2) as f64;
    let variance = (sum_of_deviations(base) + sum_of_deviations(new)) / freedom;
    ((variance * (1.0 / base.len() as f64 + 1.0 / new.len() as f64)).sqrt(), freedom)
}

/// Compares sides that scatter differently (Welch's t-test); each side has at least two values.
fn welch_error(base: &[f64], new: &[f64]) -> (f64, f64) {
    // Squared standard errors of the means.
    let [base_error, new_error] = [base, new].map(|values| {
        let n = values.len() as f64;
        sum_of_deviations(values) / (n - 1.0) / n
    });
    let parts = base_error.powi(2) / (base.len() as f64 - 1.0) + new_error.powi(2) / (new.len() as f64 - 1.0);
    ((base_error + new_error).sqrt(), ((base_error + new_error).powi(2) / parts).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two samples of sizes 5 and 6, whose t, degrees of freedom and probability follow by hand: means 20 and 25, variances 2.5
    /// and 3.5, error sqrt(0.5 + 0.58333) = 1.04083, t = 4.8038, freedom 1.17361 / (0.0625 + 0.068056) = 8.9894.
    #[test]
    fn welchs_test_is_as_by_hand() {
        let base = [18.0, 19.0, 20.0, 21.0, 22.0];
        let new = [22.5, 23.5, 24.5, 25.5, 26.5, 27.5];
        let (error, freedom) = welch_error(&base, &new);
        assert!((error - 1.040833).abs() < 1e-6 && (freedom - 8.98936).abs() < 1e-4, "{error} {freedom}");
        // Student's distribution with 8.99 degrees of freedom beyond 4.8038, twice: 0.00097.
        let probability = chance_of_difference(&base, &new).unwrap();
        assert!((0.0009..0.0011).contains(&probability), "{probability}");
    }

    #[test]
    fn a_single_run_is_judged_by_the_scatter_of_the_others() {
        assert_eq!(chance_of_difference(&[1.0], &[2.0]), None);
        // Variance 0.01, error sqrt(0.01 · 4/3), t = 10/sqrt(4/3) = 8.66 on 2 degrees of freedom: 0.0131.
        let far = chance_of_difference(&[1.0, 1.1, 0.9], &[2.0]).unwrap();
        assert!((far - 0.0131).abs() < 0.0002, "{far}");
        assert!(chance_of_difference(&[1.0, 1.1, 0.9], &[1.1]).unwrap() > 0.4);
    }

    #[test]
    fn without_scatter_any_difference_is_certain() {
        assert_eq!(chance_of_difference(&[1.0, 1.0], &[1.0, 1.0]), Some(1.0));
        assert_eq!(chance_of_difference(&[1.0, 1.0], &[1.1, 1.1]), Some(0.0));
    }

    #[test]
    fn of_many_tests_more_is_asked_for() {
        assert_eq!(reject_together(&[0.04]), [true]);
        assert_eq!(reject_together(&[0.04, 0.5]), [false, false]);
        assert_eq!(reject_together(&[0.04, 0.01]), [true, true], "after the first, one is left");
        assert_eq!(reject_together(&[]), [false; 0]);
    }
}
