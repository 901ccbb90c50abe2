//! Patterns of an activity's times over the ranks of a region (docs/metrics.md §2; the paper's Figs 1, 2).

use lbprof_thresholds::metrics::MARGIN_OF_PATTERN;

/// The position of a rank's time in the range of the times of all ranks: the four colours of the paper's figures, and plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TimeLevel {
    /// The least time of all.
    Minimum,
    /// In the lower 15 % of the range.
    Lower,
    /// Between.
    Middle,
    /// In the upper 15 % of the range.
    Upper,
    /// The longest time of all.
    Maximum,
}

/// The level of each rank's time in an activity of a region; one entry a rank. All are in the middle where they are equal.
pub fn rank_pattern(times: &[f64]) -> Vec<TimeLevel> {
    let least = times.iter().copied().fold(f64::INFINITY, f64::min);
    let most = times.iter().copied().fold(0.0, f64::max);
    let margin = MARGIN_OF_PATTERN * (most - least);
    let levels = times.iter().map(|&time| match time {
        _ if margin <= 0.0 => TimeLevel::Middle,
        time if time == least => TimeLevel::Minimum,
        time if time == most => TimeLevel::Maximum,
        time if time <= least + margin => TimeLevel::Lower,
        time if time >= most - margin => TimeLevel::Upper,
        _ => TimeLevel::Middle,
    });
    levels.collect()
}
