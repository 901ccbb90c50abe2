//! Computes the efficiencies of a job, recently and since its start.
//!
//! With `c` the computation of each rank in a period of length `t`:
//!
//! ```text
//!   parallel efficiency = mean c / t = load balance × communication efficiency = (mean c / max c) × (max c / t)
//! ```

use lbprof_analysis::metrics::spread::load_balance::EfficiencyTimes;

use super::rank_activity::RankActivity;
use super::time_slices::SLICE_NS;

/// Number of recent slices: ten seconds.
const LATELY: i64 = 20;

/// The load of a rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankLoad {
    pub rank: u32,
    pub lately_s: f64,
    /// Seconds of computation since it began.
    pub total_s: f64,
}

/// The load of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobLoad {
    /// Times of the recent slices, with an elapsed time of 0 if none is over.
    pub lately: EfficiencyTimes,
    /// Times since the first rank began.
    pub so_far: EfficiencyTimes,
    pub ranks: Vec<RankLoad>,
}

/// Returns the recent slices of a rank up to the last complete one, as the first and the end.
pub fn recent_slices(activity: &RankActivity) -> (i64, i64) {
    let end = activity.seen_ns.div_euclid(SLICE_NS);
    let begin_ns = activity.begin_ns.unwrap_or(activity.seen_ns);
    // The first slice entirely within the rank's window.
    let first = -(-begin_ns).div_euclid(SLICE_NS);
    ((end - LATELY).max(first), end)
}

impl JobLoad {
    pub fn new<'a>(activities: impl Iterator<Item = &'a RankActivity>) -> JobLoad {
        let mut ranks: Vec<RankLoad> = Vec::new();
        let (mut first_ns, mut last_ns) = (i64::MAX, i64::MIN);
        let mut period_s: f64 = 0.0;
        for activity in activities {
            let Some(begin_ns) = activity.begin_ns else { continue };
            let end_ns = activity.end_ns.unwrap_or(activity.seen_ns);
            (first_ns, last_ns) = (first_ns.min(begin_ns), last_ns.max(end_ns));
            let (first, last) = recent_slices(activity);
            let length_s = (last - first).max(0) as f64 * SLICE_NS as f64 / 1e9;
            period_s = period_s.max(length_s);
            ranks.push(RankLoad {
                rank: activity.header.rank,
                lately_s: (length_s - activity.mpi.sum(first, last)).clamp(0.0, length_s),
                total_s: ((end_ns - begin_ns) as f64 / 1e9 - activity.mpi.total()).max(0.0),
            });
        }
        let elapsed_s = last_ns.saturating_sub(first_ns).max(0) as f64 / 1e9;
        let (lately_s, total_s): (Vec<f64>, Vec<f64>) = ranks.iter().map(|load| (load.lately_s, load.total_s)).unzip();
        JobLoad {
            lately: EfficiencyTimes::from_computation(&lately_s, period_s, None),
            so_far: EfficiencyTimes::from_computation(&total_s, elapsed_s, None),
            ranks,
        }
    }

    /// Returns the rank that computed longest recently, and its multiple of the mean.
    pub fn slowest(&self) -> Option<(u32, f64)> {
        let mean_s = self.ranks.iter().map(|load| load.lately_s).sum::<f64>() / self.ranks.len() as f64;
        let slowest = self.ranks.iter().max_by(|a, b| a.lately_s.total_cmp(&b.lately_s))?;
        (slowest.lately_s > 0.0).then_some((slowest.rank, slowest.lately_s / mean_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_nothing_was_computed_no_rank_is_slow() {
        assert_eq!(JobLoad::new(std::iter::empty()), JobLoad::default());
        assert_eq!(JobLoad::default().slowest(), None);
    }
}
