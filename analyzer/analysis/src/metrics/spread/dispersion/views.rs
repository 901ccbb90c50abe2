//! The breakdown of the time, the activity view and the region view, from t_ij and ID_ij (docs/metrics.md §2; the paper's §§2, 3.2,
//! 3.3). They take no ranks, so that a printed table is enough.

use lbprof_collector::Activity;
use lbprof_thresholds::metrics::ROUNDING_OF_INDEX;

use super::{ActivityCell, DispersionRow, PerActivity};

/// T_j: seconds by activity, means over ranks, all regions together.
pub type ActivityBreakdown = PerActivity<f64>;

/// A region or an activity in its view.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DispersionIndex {
    /// t_i or T_j: its time, mean over ranks, in seconds.
    pub time_s: f64,
    /// ID_C_i or ID_A_j: the mean of its ID_ij, weighted with t_ij; in 0..=√(1 − 1/P).
    pub id: f64,
    /// SID_C_i or SID_A_j: that times the share of the elapsed time; `None` where no time elapses.
    pub sid: Option<f64>,
}

/// The regions between which an activity's time varies, as indices of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionExtremes {
    /// The region with most of its time.
    pub worst: usize,
    /// The region with least of its time, of those that perform it.
    pub best: usize,
}

/// T_j = Σ_i t_ij.
pub fn activity_breakdown(rows: &[DispersionRow]) -> ActivityBreakdown {
    Activity::ALL.map(|activity| {
        let times = rows.iter().filter_map(|row| row[activity as usize]).map(|cell| cell.mean_s);
        times.fold(None, |sum, time| Some(sum.unwrap_or(0.0) + time))
    })
}

/// t_i = Σ_j t_ij.
pub fn region_s(row: &DispersionRow) -> f64 {
    row.iter().flatten().map(|cell| cell.mean_s).sum()
}

/// The activity with the largest T_j, the first of several; `None` where there is none.
pub fn dominant_activity(breakdown: &ActivityBreakdown) -> Option<Activity> {
    let performed = Activity::ALL.into_iter().filter_map(|activity| Some((breakdown[activity as usize]?, activity)));
    performed.reduce(|most, next| if next.0 > most.0 { next } else { most }).map(|(_, activity)| activity)
}

/// The region with the largest t_i, the first of several; `None` where no time is spent.
pub fn heaviest_region(rows: &[DispersionRow]) -> Option<usize> {
    let times = rows.iter().map(region_s).enumerate().filter(|&(_, time)| time > 0.0);
    times.reduce(|most, next| if next.1 > most.1 { next } else { most }).map(|(at, _)| at)
}

/// The regions with most and with least time in an activity, of those that perform it; the first of several.
pub fn region_extremes(rows: &[DispersionRow], activity: Activity) -> Option<RegionExtremes> {
    let times = rows.iter().enumerate().filter_map(|(at, row)| Some((at, row[activity as usize]?.mean_s)));
    let worst = times.clone().reduce(|most, next| if next.1 > most.1 { next } else { most })?.0;
    let best = times.reduce(|least, next| if next.1 < least.1 { next } else { least })?.0;
    Some(RegionExtremes { worst, best })
}

/// ID_A_j = Σ_i (t_ij / T_j) · ID_ij and SID_A_j = (T_j / T) · ID_A_j, by activity.
///
/// `elapsed_s`: T, on the scale of means over ranks.
pub fn activity_view(rows: &[DispersionRow], elapsed_s: f64) -> PerActivity<DispersionIndex> {
    Activity::ALL.map(|activity| weighted_index(rows.iter().filter_map(|row| row[activity as usize]), elapsed_s))
}

/// ID_C_i = Σ_j (t_ij / t_i) · ID_ij and SID_C_i = (t_i / T) · ID_C_i of one region; `None` where no time is spent in it.
///
/// `elapsed_s`: T, on the scale of means over ranks.
pub fn region_view(row: &DispersionRow, elapsed_s: f64) -> Option<DispersionIndex> {
    weighted_index(row.iter().flatten().copied(), elapsed_s)
}

fn weighted_index(cells: impl Iterator<Item = ActivityCell>, elapsed_s: f64) -> Option<DispersionIndex> {
    let (time_s, spread_s) =
        cells.fold((0.0, 0.0), |(time, spread), cell| (time + cell.mean_s, spread + cell.mean_s * cell.id));
    let sid = (elapsed_s > 0.0).then(|| spread_s / elapsed_s);
    (time_s > 0.0).then(|| DispersionIndex { time_s, id: spread_s / time_s, sid })
}

/// Returns for each of `indices` whether it is the largest. One that is 0, or absent, never is; indices that differ by rounding alone are
/// equally large.
pub fn severe_indices(indices: &[Option<f64>]) -> Vec<bool> {
    let least = indices.iter().flatten().copied().reduce(f64::max).map(|largest| (1.0 - ROUNDING_OF_INDEX) * largest);
    indices.iter().map(|index| index.zip(least).is_some_and(|(index, least)| index > 0.0 && index >= least)).collect()
}
