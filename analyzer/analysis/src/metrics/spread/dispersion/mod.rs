//! Dispersion of the ranks (docs/metrics.md §2; "Load Imbalance in Parallel Programs" (2003), §§2–4): in which regions and activities
//! the ranks' times differ, and how much that matters.
//!
//! ```text
//!   barrier in region i    rank 0  |===== 3 s =====|      shares of the sum: 3/4, 1/4, 0, 0; balanced would be 1/4 each
//!                          rank 1  |= 1 =|                ID_ij = √((1/2)² + 0² + (1/4)² + (1/4)²) = 0.61
//!                          rank 2, rank 3  –
//! ```
//!
//! ID_ij lies in 0..=√(1 − 1/P), the largest where one rank has all the time. It does not say how long it all takes, so the
//! scaled indices weigh it with the share of the elapsed time.
//!
//! All times are exclusive: of a region without its inner ones, so that nothing counts twice. The recorder's own time is no
//! activity of the program and is left out. Means are over all ranks, those that never enter a region included, with time 0.

mod patterns;
mod ranks;
mod views;

use lbprof_collector::Activity;

use crate::model::{Model, RegionIdx};
pub use patterns::{TimeLevel, rank_pattern};
pub use ranks::{MostImbalanced, RankView, most_imbalanced, rank_deviations};
pub use views::{
    ActivityBreakdown, DispersionIndex, RegionExtremes, activity_breakdown, activity_view, dominant_activity,
    heaviest_region, region_extremes, region_s, region_view, severe_indices,
};

/// Something for each activity, at the index of its number; `None` where the activity is not performed.
pub type PerActivity<T> = [Option<T>; Activity::COUNT];

/// An activity in a region, all ranks together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ActivityCell {
    /// t_ij: mean over ranks, in seconds.
    pub mean_s: f64,
    /// ID_ij: index of dispersion, in 0..=√(1 − 1/P).
    pub id: f64,
}

/// The activities of a region: t_ij and ID_ij of one i.
pub type DispersionRow = PerActivity<ActivityCell>;

/// Seconds of each rank in each activity of one region, inner regions excluded: t_ijp of one i.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RegionTimes {
    /// By activity; one entry a rank, or none where no rank performs it.
    seconds: [Vec<f64>; Activity::COUNT],
}

impl RegionTimes {
    /// Collects the times of a region; one entry per rank of the model.
    pub fn from_model(model: &Model, region: RegionIdx) -> RegionTimes {
        let mut seconds: [Vec<f64>; Activity::COUNT] = Default::default();
        for (at, rank) in model.ranks.iter().enumerate() {
            for (of_activity, own) in seconds.iter_mut().zip(rank.exclusive(region)) {
                if own > 0.0 {
                    of_activity.resize(model.ranks.len(), 0.0);
                    of_activity[at] = own;
                }
            }
        }
        seconds[Activity::Recorder as usize].clear();
        RegionTimes { seconds }
    }

    /// Seconds of each rank in an activity; `None` where no rank performs it.
    pub fn activity(&self, activity: Activity) -> Option<&[f64]> {
        let seconds = &self.seconds[activity as usize];
        (!seconds.is_empty()).then_some(seconds)
    }

    /// Returns the number of ranks; 0 where none performs anything.
    pub fn n_ranks(&self) -> usize {
        self.seconds.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Seconds of one rank by activity.
    pub fn rank(&self, at: usize) -> [f64; Activity::COUNT] {
        self.seconds.each_ref().map(|ranks| ranks.get(at).copied().unwrap_or(0.0))
    }

    /// t_ij and ID_ij.
    pub fn row(&self) -> DispersionRow {
        self.seconds.each_ref().map(|ranks| {
            let mean_s = ranks.iter().sum::<f64>() / ranks.len().max(1) as f64;
            index_of_dispersion(ranks).map(|id| ActivityCell { mean_s, id })
        })
    }
}

/// ID_ij: the distance between the ranks' shares of their summed time and equal shares, √Σ_p (t_p / Σ_q t_q − 1/P)².
///
/// `times`: seconds of each rank in one activity of one region; one entry a rank, none negative. The result lies in
/// 0..=√(1 − 1/P), 0 where all ranks take equally long, the largest where one has all the time. `None` where no rank has any.
///
/// Source: docs/metrics.md §2, activity view.
pub fn index_of_dispersion(times: &[f64]) -> Option<f64> {
    let sum: f64 = times.iter().sum();
    let equal = 1.0 / times.len() as f64;
    (sum > 0.0).then(|| times.iter().map(|time| (time / sum - equal).powi(2)).sum::<f64>().sqrt())
}

/// The three views of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dispersion {
    /// T: the elapsed time that scaled indices are shares of, in seconds.
    pub elapsed_s: f64,
    /// t_ij and ID_ij, by region.
    pub rows: Vec<DispersionRow>,
    /// ID_C_i and SID_C_i, by region; `None` for regions in which no time is spent.
    pub regions: Vec<Option<DispersionIndex>>,
    /// ID_A_j and SID_A_j, by activity.
    pub activities: PerActivity<DispersionIndex>,
    /// The rank with the largest ID_P_ip, by region; `None` where there is no single one.
    pub most_imbalanced: Vec<Option<MostImbalanced>>,
    /// The most imbalanced ranks over all regions.
    pub ranks: RankView,
}

impl Dispersion {
    /// Computes the dispersion of a run. T is its elapsed time: t_ij are means over ranks, so all of them, with the ranks' idle and unrecorded
    /// time, sum to it, and SID is ID times the share of the elapsed time that reports print.
    pub fn from_model(model: &Model) -> Dispersion {
        let regions = (0..model.regions.len() as RegionIdx).map(|region| RegionTimes::from_model(model, region));
        Dispersion::new(regions, model.ranks.len(), model.elapsed_s())
    }

    /// Computes the dispersion of regions, each with the times of all `n_ranks` ranks, in a program that takes `elapsed_s`
    /// on the scale of means over ranks.
    pub fn new(regions: impl Iterator<Item = RegionTimes>, n_ranks: usize, elapsed_s: f64) -> Dispersion {
        let mut found = Dispersion { elapsed_s, ranks: RankView::new(n_ranks), ..Dispersion::default() };
        for times in regions {
            let row = times.row();
            let most_imbalanced = most_imbalanced(&times);
            found.ranks.add(most_imbalanced.as_ref());
            found.regions.push(region_view(&row, elapsed_s));
            found.rows.push(row);
            found.most_imbalanced.push(most_imbalanced);
        }
        found.activities = activity_view(&found.rows, elapsed_s);
        found
    }
}

#[cfg(test)]
mod tests;
