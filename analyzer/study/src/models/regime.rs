//! Up to which size the linear law holds: the paper's runs follow T = δ·#op until the matrices no longer fit into memory, and take
//! longer and longer from there on (Lemeire et al. 2004, §5.1, Fig. 4).
//!
//! ```text
//!   T / #op                              x  ← leaves
//!      |                         x  ← leaves
//!      |  - - - - - - - - - - - - - - - - -    limit: 10 % above the median of the others, or 4 deviations
//!      |   x      x   x    x                   the regime: their law is δ
//!      +--------------------------------- #op
//! ```

use serde::Serialize;

use super::linear::{LinearLaw, law};
use super::validation::choose;
use super::{FitError, Point, different};
use lbprof_analysis::metrics::median::median;
use lbprof_thresholds::study::{MIN_DEPARTURE_FROM_LAW, MIN_DEVIATIONS_FROM_LAW, MIN_SIZES_OF_REGIME};

/// The range in which the linear law holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LinearRegime {
    /// Everywhere, or no polynomial predicts better: the law's error says which.
    Whole,
    /// Up to a size, from which on all points lie above it.
    Until {
        /// The largest x of the regime.
        x: f64,
        /// Indices of the points beyond it.
        beyond: Vec<usize>,
    },
    /// Nowhere: another curve predicts better, and the law is wrong by more than [`MIN_DEPARTURE_FROM_LAW`].
    Nowhere,
    /// Not known: there are less than four sizes.
    Unknown {
        /// Number of sizes.
        found: usize,
    },
}

/// The law of the points within its regime, and where that ends.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinearModel {
    /// The law of the points in the regime; of all points where there is no end of it.
    pub law: LinearLaw,
    /// The regime.
    pub regime: LinearRegime,
}

/// The linear law of `points`, and where it holds.
///
/// The regime is the largest part of the points, from the smallest x on, whose largest x is no longer above the law than [`limit`] allows,
/// while all points after it are. Medians decide, so that a disturbed run neither hides the end nor makes one.
pub fn linear_model(points: &[Point]) -> Result<LinearModel, FitError> {
    let law_of_all = law(points)?;
    let mut order: Vec<usize> = (0..points.len()).filter(|&i| points[i].0 > 0.0).collect();
    order.sort_by(|&a, &b| points[a].0.total_cmp(&points[b].0));
    let sorted: Vec<Point> = order.iter().map(|&i| points[i]).collect();
    let found = different(&sorted).len();
    if found <= MIN_SIZES_OF_REGIME {
        return Ok(LinearModel { law: law_of_all, regime: LinearRegime::Unknown { found } });
    }
    if let Some(end) = end_of_regime(&sorted) {
        let mut beyond = order[end..].to_vec();
        beyond.sort_unstable();
        let within: Vec<Point> = (0..points.len()).filter(|i| !beyond.contains(i)).map(|i| points[i]).collect();
        return Ok(LinearModel { law: law(&within)?, regime: LinearRegime::Until { x: sorted[end - 1].0, beyond } });
    }
    let regime = if holds(&law_of_all, points) { LinearRegime::Whole } else { LinearRegime::Nowhere };
    Ok(LinearModel { law: law_of_all, regime })
}

/// The number of points, ordered by x, within the regime if others are beyond it.
fn end_of_regime(sorted: &[Point]) -> Option<usize> {
    let ratios: Vec<f64> = sorted.iter().map(|(x, y)| y / x).collect();
    // Points of one x stay together.
    let ends: Vec<usize> = (1..sorted.len()).filter(|&i| sorted[i].0 > sorted[i - 1].0).collect();
    ends.iter().enumerate().skip(MIN_SIZES_OF_REGIME - 1).rev().map(|(at, &end)| (at, end)).find_map(|(at, end)| {
        let limit = limit(&ratios[..end]);
        let last = &ratios[ends[at - 1]..end];
        let is_end = ratios[end..].iter().all(|ratio| *ratio > limit) && median(last).is_some_and(|last| last <= limit);
        is_end.then_some(end)
    })
}

/// T / #op above which a point leaves the law of others that have `ratios`: their median, and [`MIN_DEPARTURE_FROM_LAW`] of that or four deviations,
/// the deviation being estimated by the median of the differences from the median.
fn limit(ratios: &[f64]) -> f64 {
    let middle = median(ratios).unwrap_or(0.0);
    let differences: Vec<f64> = ratios.iter().map(|ratio| (ratio - middle).abs()).collect();
    // Of a normal distribution the deviation is 1.4826 times that.
    middle
        + (MIN_DEPARTURE_FROM_LAW * middle).max(MIN_DEVIATIONS_FROM_LAW * 1.4826 * median(&differences).unwrap_or(0.0))
}

/// True if the law predicts points left out as well as a polynomial does, or with an error of at most [`MIN_DEPARTURE_FROM_LAW`].
fn holds(law: &LinearLaw, points: &[Point]) -> bool {
    let is_close = law.relative_error().is_none_or(|error| error <= MIN_DEPARTURE_FROM_LAW);
    is_close || choose(points).is_ok_and(|chosen| law.error <= chosen.error())
}

#[cfg(test)]
mod tests {
    use super::super::pseudo_random::NoiseGenerator;
    use super::*;

    /// δ = 0.25 µs, sizes as in the paper; beyond n = 3800 the machine swaps: 0.27 ms for each of the pages of 4 kB that do not fit.
    fn swapping(noise: f64, seed: u64) -> Vec<Point> {
        let mut noises = NoiseGenerator::new(seed);
        let sizes = [500.0, 1000.0, 1500.0, 2000.0, 2500.0, 3000.0, 3500.0, 3800.0, 4500.0, 5000.0, 6000.0_f64];
        let swapped = |n: f64| (24.0 * n * n - 24.0 * 3800.0 * 3800.0).max(0.0) / 4096.0;
        sizes
            .map(|n| {
                (n.powi(3), (0.25e-6 * n.powi(3) + 0.27e-3 * swapped(n) * n / 10.0) * (1.0 + noise * noises.normal()))
            })
            .into()
    }

    #[test]
    fn the_size_from_which_on_it_swaps_is_found() {
        for seed in 0..50 {
            let model = linear_model(&swapping(0.02, seed)).unwrap();
            assert_eq!(model.regime, LinearRegime::Until { x: 3800.0_f64.powi(3), beyond: vec![8, 9, 10] }, "{seed}");
            assert!((model.law.delta / 0.25e-6 - 1.0).abs() < 0.05, "{model:?}");
        }
    }

    #[test]
    fn the_order_of_runs_does_not_matter() {
        let mut points = swapping(0.0, 0);
        points.reverse();
        assert_eq!(
            linear_model(&points).unwrap().regime,
            LinearRegime::Until { x: 3800.0_f64.powi(3), beyond: vec![0, 1, 2] }
        );
    }

    #[test]
    fn noise_does_not_end_the_regime() {
        for seed in 0..200 {
            let mut noise = NoiseGenerator::new(seed);
            let points: Vec<Point> =
                (1..=12).map(|i| (f64::from(i), 2.0 * f64::from(i) * (1.0 + 0.02 * noise.normal()))).collect();
            assert_eq!(linear_model(&points).unwrap().regime, LinearRegime::Whole, "{seed}: {points:?}");
        }
    }

    #[test]
    fn a_disturbed_run_does_not_end_it_either() {
        let times = [1.0, 2.0, 4.5, 4.0, 5.0, 6.0];
        let points: Vec<Point> = times.iter().zip(1..).map(|(&y, x)| (f64::from(x), y)).collect();
        assert!(!matches!(linear_model(&points).unwrap().regime, LinearRegime::Until { .. }));
        // What has a fixed cost besides is above the law at its smallest sizes only.
        let fixed: Vec<Point> = (1..=10).map(|i| (f64::from(i * i), 0.5 + f64::from(i * i))).collect();
        assert_eq!(linear_model(&fixed).unwrap().regime, LinearRegime::Whole);
    }

    #[test]
    fn another_law_is_not_a_linear_one() {
        let points: Vec<Point> = (1..=8).map(|i| (f64::from(i), f64::from(i).powi(2))).collect();
        assert_eq!(linear_model(&points).unwrap().regime, LinearRegime::Nowhere);
        let flat: Vec<Point> = (1..=8).map(|i| (f64::from(i), 5.0)).collect();
        assert_eq!(linear_model(&flat).unwrap().regime, LinearRegime::Nowhere);
    }

    #[test]
    fn three_sizes_are_too_few() {
        let points = [(1.0, 1.0), (2.0, 2.0), (2.0, 2.1), (3.0, 9.0)];
        assert_eq!(linear_model(&points).unwrap().regime, LinearRegime::Unknown { found: 3 });
        // Runs on one rank, which communicate nothing, are no size.
        let points = [(0.0, 0.1), (1.0, 1.0), (2.0, 2.0), (3.0, 9.0)];
        assert_eq!(linear_model(&points).unwrap().regime, LinearRegime::Unknown { found: 3 });
    }
}
