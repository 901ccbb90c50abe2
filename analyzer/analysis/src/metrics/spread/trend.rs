//! The shape of a series over the iterations of a run: first iterations that take longer than the rest, and a trend.
//!
//! The test of the trend goes by order and not by size, so that nothing is assumed of how times are distributed, and a few iterations that the system
//! disturbed prove nothing. A series without any order shows a trend in less than [`MAX_CHANCE_OF_TREND`] of cases.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

use super::median::median_of;
use lbprof_thresholds::metrics::{MAX_BLOCKS_OF_TREND, MAX_CHANCE_OF_TREND, MIN_ITERATIONS_OF_TREND};

/// The shape of a series; nothing where it has fewer than [`MIN_ITERATIONS_OF_TREND`] values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeriesShape {
    /// First iterations that are much longer than those that follow.
    pub warm_up: Option<WarmUp>,
    /// Growth or decline over the run.
    pub trend: Option<SeriesTrend>,
}

/// First iterations that are much longer than those that follow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WarmUp {
    /// Number of iterations.
    pub iterations: usize,
    /// By how much, their mean.
    #[serde(rename = "excess_s")]
    pub excess: f64,
}

/// Growth or decline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeriesTrend {
    /// Change from one iteration to the next.
    #[serde(rename = "slope_s")]
    pub slope: f64,
    /// Median of the first 24th of the iterations.
    #[serde(rename = "first_s")]
    pub first: f64,
    /// Median of the last.
    #[serde(rename = "last_s")]
    pub last: f64,
    /// Probability of as much by chance, below 0.0001.
    pub p_value: f64,
}

/// The shape of `values`, one for each iteration, in their order.
pub fn series_shape(values: &[f64]) -> SeriesShape {
    if values.len() < MIN_ITERATIONS_OF_TREND || values.iter().any(|value| !value.is_finite()) {
        return SeriesShape::default();
    }
    let warm_up = warm_up(values);
    SeriesShape { warm_up, trend: series_trend(&values[warm_up.map_or(0, |warm_up| warm_up.iterations)..]) }
}

/// Growth or decline of `values` by the test of Mann and Kendall on the medians of [`MAX_BLOCKS_OF_TREND`] blocks, two-sided; `None` where it is
/// not significant.
pub fn series_trend(values: &[f64]) -> Option<SeriesTrend> {
    let n = values.len();
    if n < MIN_ITERATIONS_OF_TREND {
        return None;
    }
    let blocks = n.min(MAX_BLOCKS_OF_TREND);
    let (mut level, mut middle) = (Vec::new(), Vec::new());
    for block in 0..blocks {
        let bounds = block * n / blocks..(block + 1) * n / blocks;
        middle.push((bounds.start + bounds.end - 1) as f64 / 2.0);
        level.push(typical_of(&values[bounds]));
    }
    let (mut slopes, mut score) = (Vec::new(), 0);
    for late in 0..blocks {
        for early in 0..late {
            slopes.push((level[late] - level[early]) / (middle[late] - middle[early]));
            score += order_sign(level[early], level[late]);
        }
    }
    let z = (score.abs() - 1).max(0) as f64 / kendall_variance(&level).max(f64::MIN_POSITIVE).sqrt();
    let p_value = 2.0 * Normal::standard().sf(z);
    let (slope, first, last) = (typical_of(&slopes), level[0], level[blocks - 1]);
    (p_value < MAX_CHANCE_OF_TREND).then_some(SeriesTrend { slope, first, last, p_value })
}

fn order_sign(early: f64, late: f64) -> i64 {
    i64::from(late > early) - i64::from(late < early)
}

/// Variance of Kendall's score of values without order, equal ones accounted for.
fn kendall_variance(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let ties: f64 = sorted.chunk_by(|a, b| a == b).map(|equal| kendall_term(equal.len())).sum();
    (kendall_term(values.len()) - ties) / 18.0
}

/// Returns n·(n−1)·(2n+5), which a series of n values adds to the variance, and n equal values take from it.
fn kendall_term(n: usize) -> f64 {
    (n * (n - 1) * (2 * n + 5)) as f64
}

/// First values that are longer than nearly all of those that follow: by a fifth of their median and by 6 standard deviations, these
/// taken from the median distance to the median.
fn warm_up(values: &[f64]) -> Option<WarmUp> {
    const MOST: usize = 50;
    let most = (values.len() / 10).clamp(3, MOST);
    let following = &values[most..values.len().min(6 * most + 10)];
    let typical = typical_of(following);
    let distances: Vec<f64> = following.iter().map(|value| (value - typical).abs()).collect();
    let limit = typical + (6.0 * 1.4826 * typical_of(&distances)).max(0.2 * typical.abs());
    let iterations = values.iter().take_while(|value| **value > limit).count();
    // More of them than were looked at are no start but a different part of the run.
    (0 < iterations && iterations < most).then(|| WarmUp {
        iterations,
        excess: values[..iterations].iter().map(|value| value - typical).sum::<f64>() / iterations as f64,
    })
}

/// The median; 0 of none.
fn typical_of(values: &[f64]) -> f64 {
    median_of(values).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Numbers in 0..1 without order, the same for the same seed.
    fn noise(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        move || {
            // SplitMix64.
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (mixed ^ (mixed >> 31)) as f64 / u64::MAX as f64
        }
    }

    const LENGTHS: [usize; 6] = [10, 13, 37, 100, 400, 1000];

    #[test]
    fn noise_shows_nothing() {
        for seed in 0..100 {
            let mut next = noise(seed);
            for n in LENGTHS {
                let even: Vec<f64> = (0..n).map(|_| 10.0 + next()).collect();
                assert_eq!(series_shape(&even), SeriesShape::default(), "{n} values of seed {seed}");
                // As disturbed as a machine may be: most are quick, some take very much longer.
                let heavy: Vec<f64> = (0..n).map(|_| 10.0 + 0.1 / (1.0 - next()).max(1e-6)).collect();
                let found = series_shape(&heavy);
                assert!(found.trend.is_none(), "{n} values of seed {seed}: {found:?}");
            }
        }
    }

    #[test]
    fn noise_that_lasts_for_some_iterations_shows_nothing() {
        for seed in 0..100 {
            let mut next = noise(seed);
            let mut level = 0.0;
            let values: Vec<f64> = (0..1000)
                .map(|_| {
                    level = 0.8 * level + next() - 0.5;
                    10.0 + level
                })
                .collect();
            let found = series_shape(&values);
            assert!(found.trend.is_none(), "seed {seed}: {found:?}");
        }
    }

    #[test]
    fn a_constant_series_shows_nothing() {
        assert_eq!(series_shape(&[3.0; 500]), SeriesShape::default());
        assert_eq!(series_shape(&[0.0; 500]), SeriesShape::default());
        assert_eq!(series_shape(&[]), SeriesShape::default());
    }

    #[test]
    fn a_trend_is_found_through_noise_and_what_recurs() {
        let mut next = noise(11);
        let values: Vec<f64> =
            (0..500).map(|at| 2.0 + 0.01 * f64::from(at) + next() + if at % 10 == 0 { 12.0 } else { 0.0 }).collect();
        let found = series_shape(&values);
        let trend = found.trend.unwrap();
        assert!((trend.slope - 0.01).abs() < 5e-4, "{trend:?}");
        assert!((trend.first - 2.6).abs() < 0.3 && (trend.last - 7.4).abs() < 0.3, "{trend:?}");
    }

    #[test]
    fn growth_need_not_be_even() {
        let values: Vec<f64> = (0..200).map(|at| 1.05_f64.powi(at)).collect();
        let trend = series_shape(&values).trend.unwrap();
        assert!(trend.slope > 0.0 && trend.first < 1.3 && trend.last > 1e4, "{trend:?}");
    }

    #[test]
    fn outliers_are_no_trend() {
        let mut values: Vec<f64> = {
            let mut next = noise(5);
            (0..200).map(|_| 10.0 + next()).collect()
        };
        (values[60], values[110]) = (500.0, 400.0);
        assert_eq!(series_shape(&values), SeriesShape::default());
    }

    #[test]
    fn the_first_iterations_warm_up() {
        let mut values = vec![10.0; 100];
        (values[0], values[1]) = (40.0, 20.0);
        let found = series_shape(&values);
        assert_eq!(found.warm_up, Some(WarmUp { iterations: 2, excess: 20.0 }));
        assert_eq!(found.trend, None);
    }

    proptest! {
        #[test]
        fn a_known_slope_is_found_exactly(
            base in -1e3..1e3f64,
            slope in prop_oneof![1e-3..1e3f64, -1e3..-1e-3f64],
            n in 10..500usize,
        ) {
            let values: Vec<f64> = (0..n).map(|at| base + slope * at as f64).collect();
            let trend = series_trend(&values).unwrap();
            prop_assert!((trend.slope - slope).abs() <= 1e-9 * (slope.abs() + base.abs()), "{trend:?}");
        }

        #[test]
        fn any_series_is_judged_without_a_panic(values in prop::collection::vec(any::<f64>(), 0..200)) {
            series_shape(&values);
            series_trend(&values);
        }
    }
}
