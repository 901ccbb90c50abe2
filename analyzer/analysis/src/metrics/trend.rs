//! The shape of a series over the iterations of a run: first iterations that are unlike the rest, iterations that recur, and a trend.
//!
//! ```text
//!   ▇▂▁▁▁▁▁▁▁▃▁▁▁▁▁▁▁▁▁▃▂▂▂▂▂▂▂▂▂▄▂▂▂▂▂▂▂▂▂▄▃▃▃▃▃▃▃▃▃▅        the first takes longest: warm-up
//!            └── every 10th ──┘                            every 10th is longer, and all get longer over the run
//! ```
//!
//! All tests go by order and not by size, so that nothing is assumed of how times are distributed, and a few iterations that the
//! system disturbed prove nothing. A series without any order shows a pattern in less than [`MAX_CHANCE_OF_TREND`] of
//! cases, all tests together that look for the same.

use serde::Serialize;
use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal};

use super::median::median_of;
use lbprof_thresholds::metrics::{
    MAX_BLOCKS_OF_TREND, MAX_CHANCE_OF_TREND, MAX_PERIOD, MIN_HITS_OF_RECURRENCE, MIN_ITERATIONS_OF_TREND,
    MIN_RECURRENCES,
};

/// The shape of a series; nothing where it has fewer than [`MIN_ITERATIONS_OF_TREND`] values.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeriesShape {
    /// First iterations that are much longer than those that follow.
    pub warm_up: Option<WarmUp>,
    /// Recurring patterns; a longer period is a multiple of that before it.
    pub periods: Vec<RecurringPeriod>,
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

/// The way in which recurring iterations differ from the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RecurringChange {
    /// A value in each period that is higher than the others.
    Peak,
    /// A value in each period that is lower than the others.
    Trough,
    /// The values go up and down.
    Wave,
}

/// Something that recurs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecurringPeriod {
    /// Number of iterations after which it recurs.
    pub length: usize,
    /// Number of the first iteration.
    pub first: usize,
    /// In which way.
    pub kind: RecurringChange,
    /// By how much: median of the recurring values less the median of the others; of a wave, highest less lowest.
    #[serde(rename = "size_s")]
    pub size: f64,
    /// Probability of as much by chance, below 0.0001.
    pub p_value: f64,
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
    let periods = recurring_periods(values);
    let mut rest = values.to_vec();
    for period in periods.iter() {
        flatten_period(&mut rest, period);
    }
    let warm_up = warm_up(&rest);
    let trend = series_trend(&rest[warm_up.map_or(0, |warm_up| warm_up.iterations)..]);
    SeriesShape { warm_up, periods, trend }
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

/// Finds the recurring patterns in `values`: the shortest period, then what recurs among those that it picks, and so on.
fn recurring_periods(values: &[f64]) -> Vec<RecurringPeriod> {
    let Some(period) = strongest_period(values) else { return Vec::new() };
    let mut found = vec![period];
    if period.kind != RecurringChange::Wave {
        let picked: Vec<f64> = values.iter().skip(period.first).step_by(period.length).copied().collect();
        let among = if picked.len() >= MIN_ITERATIONS_OF_TREND { recurring_periods(&picked) } else { Vec::new() };
        found.extend(among.into_iter().filter(|longer| longer.kind == period.kind).map(|longer| RecurringPeriod {
            length: longer.length * period.length,
            first: longer.first * period.length + period.first,
            ..longer
        }));
    }
    found
}

/// The most significant period, where one is.
///
/// A period of length q with its peak at place j: in all of its turns the value at j + k·q is the largest of those around it, q/2 to
/// either side. In a series without order that is so in at most 1/q of the turns, so the number of turns in which it is follows a
/// binomial law. Troughs are peaks of the negated series; a wave is a peak of the differences from one value to the next.
fn strongest_period(values: &[f64]) -> Option<RecurringPeriod> {
    let negated: Vec<f64> = values.iter().map(|value| -value).collect();
    let rises: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
    use RecurringChange::{Peak, Trough, Wave};
    let mut found: Vec<RecurringPeriod> = Vec::new();
    for (kind, series, shift) in [(Peak, values, 0), (Trough, &negated, 0), (Wave, &rises, 1)] {
        let Some((length, first, p_value)) = strongest_peaks(series) else { continue };
        let p_value = (p_value * 3.0).min(1.0);
        if p_value < MAX_CHANCE_OF_TREND {
            found.push(RecurringPeriod { length, first: (first + shift) % length, kind, size: 0.0, p_value });
        }
    }
    // A recurring peak also rises as a wave does: a wave counts only where there is neither peak nor trough.
    let period = found.into_iter().min_by(|a, b| {
        let [a_is_wave, b_is_wave] = [a, b].map(|one| one.kind == RecurringChange::Wave);
        a_is_wave.cmp(&b_is_wave).then(a.p_value.total_cmp(&b.p_value))
    })?;
    Some(RecurringPeriod { size: period_size(values, &period), ..period })
}

/// The period of the most significant peaks: length, place of the first, and probability, corrected for all that were tried.
///
/// Values that are the largest within half a period to either side lie more than that apart, so that there are at most 2·n/q of them
/// and all periods together take time in the order of n·log n.
fn strongest_peaks(values: &[f64]) -> Option<(usize, usize, f64)> {
    let n = values.len();
    let longest = (n / MIN_RECURRENCES).min(MAX_PERIOD);
    let lower = lower_around(values);
    let mut highest = highest_first(&lower, longest / 2);
    let mut best: Option<(usize, usize, f64)> = None;
    for length in 2..=longest {
        let half = length / 2;
        // The surroundings of the first and last values are not all known.
        let judged = half..n - half;
        highest.truncate(highest.partition_point(|&at| lower[at] >= half));
        let mut hits = vec![0_u32; length];
        // Places are below 2^32: as such numbers they are divided in half the time.
        for &at in highest.iter().filter(|at| judged.contains(at)) {
            hits[(at as u32 % length as u32) as usize] += 1;
        }
        let tried = (longest - 1) as f64 * length as f64;
        for (place, hits) in hits.into_iter().enumerate().filter(|(_, hits)| *hits > 0) {
            let first = half + (place + length - half % length) % length;
            let turns = judged.end.saturating_sub(first).div_ceil(length);
            if turns + 1 < MIN_RECURRENCES || f64::from(hits) < MIN_HITS_OF_RECURRENCE * turns as f64 {
                continue;
            }
            let Ok(law) = Binomial::new(1.0 / length as f64, turns as u64) else { continue };
            let p_value = (tried * law.sf(u64::from(hits) - 1)).min(1.0);
            if best.is_none_or(|(.., least)| p_value < least) {
                best = Some((length, place, p_value));
            }
        }
    }
    best
}

/// The places whose number in `lower` is above 0, the largest first; those from `most` on count as equal.
fn highest_first(lower: &[usize], most: usize) -> Vec<usize> {
    // There are few numbers and maybe millions of places, which are therefore counted and not compared.
    let mut begins = vec![0; most + 2];
    for &number in lower.iter().filter(|number| **number > 0) {
        begins[most - number.min(most) + 1] += 1;
    }
    for rank in 1..begins.len() {
        begins[rank] += begins[rank - 1];
    }
    let mut sorted = vec![0; begins[most + 1]];
    for (at, &number) in lower.iter().enumerate().filter(|(_, number)| **number > 0) {
        let next = &mut begins[most - number.min(most)];
        sorted[*next] = at;
        *next += 1;
    }
    sorted
}

fn lower_around(values: &[f64]) -> Vec<usize> {
    let left = lower_before(values.iter().copied());
    let right = lower_before(values.iter().rev().copied());
    left.into_iter().zip(right.into_iter().rev()).map(|(left, right)| left.min(right)).collect()
}

/// For each value, how many right before it are all lower; `usize::MAX` where all are.
fn lower_before(values: impl ExactSizeIterator<Item = f64>) -> Vec<usize> {
    let mut higher: Vec<(usize, f64)> = Vec::new();
    let mut distances = Vec::with_capacity(values.len());
    for (at, value) in values.enumerate() {
        while higher.last().is_some_and(|&(_, before)| before < value) {
            higher.pop();
        }
        distances.push(higher.last().map_or(usize::MAX, |&(before, _)| at - before - 1));
        higher.push((at, value));
    }
    distances
}

fn period_size(values: &[f64], period: &RecurringPeriod) -> f64 {
    match period.kind {
        RecurringChange::Wave => {
            let levels = period_levels(values, period.length);
            let low = levels.iter().copied().fold(f64::INFINITY, f64::min);
            levels.into_iter().fold(f64::NEG_INFINITY, f64::max) - low
        }
        RecurringChange::Peak | RecurringChange::Trough => {
            let (mut recurring, mut others) = (Vec::new(), Vec::new());
            for (at, &value) in values.iter().enumerate() {
                if at % period.length == period.first { recurring.push(value) } else { others.push(value) }
            }
            (typical_of(&recurring) - typical_of(&others)).abs()
        }
    }
}

fn period_levels(values: &[f64], length: usize) -> Vec<f64> {
    let places = (0..length).map(|first| values.iter().skip(first).step_by(length).copied().collect::<Vec<f64>>());
    places.map(|values| typical_of(&values)).collect()
}

fn flatten_period(values: &mut [f64], period: &RecurringPeriod) {
    let levels = match period.kind {
        RecurringChange::Wave => period_levels(values, period.length),
        RecurringChange::Peak | RecurringChange::Trough => {
            let sign = if period.kind == RecurringChange::Peak { 1.0 } else { -1.0 };
            (0..period.length).map(|at| if at == period.first { sign * period.size } else { 0.0 }).collect()
        }
    };
    let base = typical_of(&levels);
    for (at, value) in values.iter_mut().enumerate() {
        *value -= levels[at % period.length] - base;
    }
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
                assert!(found.trend.is_none() && found.periods.is_empty(), "{n} values of seed {seed}: {found:?}");
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
            assert!(found.trend.is_none() && found.periods.is_empty(), "seed {seed}: {found:?}");
        }
    }

    #[test]
    fn a_constant_series_shows_nothing() {
        assert_eq!(series_shape(&[3.0; 500]), SeriesShape::default());
        assert_eq!(series_shape(&[0.0; 500]), SeriesShape::default());
        assert_eq!(series_shape(&[]), SeriesShape::default());
    }

    #[test]
    fn every_tenth_is_longer() {
        let values: Vec<f64> = (0..100).map(|at| if at % 10 == 3 { 22.0 } else { 10.0 }).collect();
        let [period] = series_shape(&values).periods[..] else { panic!("one period") };
        assert_eq!((period.length, period.first, period.kind, period.size), (10, 3, RecurringChange::Peak, 12.0));
        assert_eq!(series_shape(&values).trend, None);
        assert_eq!(series_shape(&values).warm_up, None);
    }

    #[test]
    fn every_tenth_is_longer_in_noise_and_every_hundredth_even_more() {
        let mut next = noise(7);
        let values: Vec<f64> = (0..2000)
            .map(|at| {
                next()
                    + if at % 100 == 0 {
                        50.0
                    } else if at % 10 == 0 {
                        5.0
                    } else {
                        0.0
                    }
                    + 10.0
            })
            .collect();
        let found = series_shape(&values);
        let lengths: Vec<usize> = found.periods.iter().map(|period| period.length).collect();
        assert_eq!(lengths, [10, 100]);
        assert!((found.periods[0].size - 5.0).abs() < 0.3 && (found.periods[1].size - 45.0).abs() < 0.3);
        assert_eq!((found.trend, found.warm_up), (None, None));
    }

    #[test]
    fn every_fourth_is_shorter() {
        let values: Vec<f64> = (0..60).map(|at| if at % 4 == 1 { 4.0 } else { 10.0 }).collect();
        let [period] = series_shape(&values).periods[..] else { panic!("one period") };
        assert_eq!((period.length, period.first, period.kind, period.size), (4, 1, RecurringChange::Trough, 6.0));
    }

    #[test]
    fn what_goes_up_and_down_for_several_iterations_is_a_wave() {
        let mut next = noise(3);
        let values: Vec<f64> = (0..400).map(|at| 0.5 * next() + if at % 50 < 20 { 14.0 } else { 10.0 }).collect();
        let [period] = series_shape(&values).periods[..] else { panic!("one period") };
        assert_eq!((period.length, period.first, period.kind), (50, 0, RecurringChange::Wave));
        assert!((period.size - 4.0).abs() < 0.6, "{}", period.size);
        assert_eq!(series_shape(&values).trend, None);
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
        assert_eq!(found.periods.len(), 1);
        assert_eq!(found.periods[0].length, 10);
    }

    #[test]
    fn growth_need_not_be_even() {
        let values: Vec<f64> = (0..200).map(|at| 1.05_f64.powi(at)).collect();
        let trend = series_shape(&values).trend.unwrap();
        assert!(trend.slope > 0.0 && trend.first < 1.3 && trend.last > 1e4, "{trend:?}");
    }

    #[test]
    fn one_outlier_is_no_trend_and_two_are_no_period() {
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
        assert_eq!((found.trend, found.periods.len()), (None, 0));
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
        fn a_known_period_is_found_exactly(
            length in 2..60usize,
            first in 0..60usize,
            turns in 12..20usize,
            size in 1.0..100.0f64,
            slope in -0.01..0.01f64,
            seed in 0..1000u64,
        ) {
            let first = first % length;
            let mut next = noise(seed);
            // The shorter the period, the more often it must recur to be no chance.
            let n = length * turns.max(100 / length);
            let values: Vec<f64> = (0..n).map(|at| (10.0 + slope * at as f64 + if at % length == first { 1.0 + size } else { 0.0 }) + 0.5 * next()).collect();
            let found = series_shape(&values);
            prop_assert_eq!(found.periods.len(), 1, "{:?}", found);
            let period = found.periods[0];
            prop_assert_eq!((period.length, period.kind), (length, if length == 2 { period.kind } else { RecurringChange::Peak }));
            prop_assert!(length == 2 || period.first == first);
            prop_assert!((period.size - size - 1.0).abs() < 0.6 + 0.01 * n as f64, "{:?}", period);
        }

        #[test]
        fn scaling_all_values_scales_what_is_found(scale in 1e-6..1e6f64) {
            let values: Vec<f64> = (0..100).map(|at| scale * if at % 10 == 3 { 22.0 } else { 10.0 }).collect();
            let [period] = series_shape(&values).periods[..] else { panic!("one period") };
            prop_assert!((period.size - 12.0 * scale).abs() <= 1e-9 * scale);
        }

        #[test]
        fn any_series_is_judged_without_a_panic(values in prop::collection::vec(any::<f64>(), 0..200)) {
            series_shape(&values);
            series_trend(&values);
        }
    }
}
