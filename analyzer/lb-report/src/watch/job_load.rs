//! Computes the efficiencies of a job, recently and since its start.
//!
//! With `c` the computation of each rank in a period of length `t`:
//!
//! ```text
//!   parallel efficiency = mean c / t = load balance × communication efficiency = (mean c / max c) × (max c / t)
//! ```

use super::rank_activity::RankActivity;
use super::time_slices::SLICE_NS;

/// Slices that count as lately: ten seconds.
const LATELY: i64 = 20;

/// The efficiencies of a period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeriodEfficiencies {
    /// Share of the ranks' time that is computation.
    pub parallel: f64,
    /// Mean over longest computation.
    pub load_balance: f64,
    /// Longest computation over the period.
    pub communication: f64,
}

/// The load of a rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankLoad {
    /// The rank.
    pub rank: u32,
    /// Seconds of computation lately.
    pub lately_s: f64,
    /// Seconds of computation since it began.
    pub total_s: f64,
}

/// The load of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobLoad {
    /// Seconds since the first rank began.
    pub elapsed_s: f64,
    /// Seconds that count as lately; 0 where no slice is over.
    pub period_s: f64,
    /// The efficiencies of that time; `None` where no rank computed.
    pub lately: Option<PeriodEfficiencies>,
    /// The efficiencies since the job began.
    pub so_far: Option<PeriodEfficiencies>,
    /// The load of each rank, by rank.
    pub ranks: Vec<RankLoad>,
}

/// Returns the recent slices of a rank, up to the last complete one: the first one, and the one after the last.
pub fn recent_slices(activity: &RankActivity) -> (i64, i64) {
    let end = activity.seen_ns.div_euclid(SLICE_NS);
    let begin_ns = activity.begin_ns.unwrap_or(activity.seen_ns);
    // The first slice that the rank was in its window for as a whole.
    let first = -(-begin_ns).div_euclid(SLICE_NS);
    ((end - LATELY).max(first), end)
}

impl JobLoad {
    /// Returns the load of a job with these ranks.
    pub fn new<'a>(activities: impl Iterator<Item = &'a RankActivity>) -> JobLoad {
        let mut ranks: Vec<RankLoad> = Vec::new();
        let mut window_ns: Option<(i64, i64)> = None;
        let mut period_s: f64 = 0.0;
        for activity in activities {
            let Some(begin_ns) = activity.begin_ns else { continue };
            let end_ns = activity.end_ns.unwrap_or(activity.seen_ns);
            window_ns = match window_ns {
                Some((first_ns, last_ns)) => Some((first_ns.min(begin_ns), last_ns.max(end_ns))),
                None => Some((begin_ns, end_ns)),
            };
            let (first, last) = recent_slices(activity);
            let length_s = (last - first).max(0) as f64 * SLICE_NS as f64 / 1e9;
            period_s = period_s.max(length_s);
            ranks.push(RankLoad {
                rank: activity.header().rank,
                lately_s: (length_s - activity.mpi_s(first, last)).clamp(0.0, length_s),
                total_s: ((end_ns - begin_ns) as f64 / 1e9 - activity.mpi_total_s()).max(0.0),
            });
        }
        let Some((begin_ns, end_ns)) = window_ns else { return JobLoad::default() };
        let elapsed_s = (end_ns - begin_ns).max(0) as f64 / 1e9;
        let lately = efficiencies(ranks.iter().map(|load| load.lately_s), period_s);
        let so_far = efficiencies(ranks.iter().map(|load| load.total_s), elapsed_s);
        JobLoad { elapsed_s, period_s, lately, so_far, ranks }
    }

    /// Returns the rank that computed longest recently, with the multiple of the mean, or `None` if no rank computed.
    pub fn slowest(&self) -> Option<(u32, f64)> {
        let mean_s = self.ranks.iter().map(|load| load.lately_s).sum::<f64>() / self.ranks.len() as f64;
        let slowest = self.ranks.iter().max_by(|a, b| a.lately_s.total_cmp(&b.lately_s))?;
        (slowest.lately_s > 0.0).then_some((slowest.rank, slowest.lately_s / mean_s))
    }
}

/// Returns the efficiencies of ranks with these seconds of computation in a period, or `None` if no rank computed.
fn efficiencies(computation_s: impl Iterator<Item = f64> + Clone, period_s: f64) -> Option<PeriodEfficiencies> {
    let mean_s = computation_s.clone().sum::<f64>() / computation_s.clone().count() as f64;
    let max_s = computation_s.fold(0.0, f64::max);
    (max_s > 0.0 && period_s > 0.0).then(|| PeriodEfficiencies {
        parallel: mean_s / period_s,
        load_balance: mean_s / max_s,
        communication: (max_s / period_s).min(1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_efficiencies_are_the_factors_of_the_parallel_efficiency() {
        let found = efficiencies([2.0, 4.0].into_iter(), 5.0).unwrap();
        assert_eq!(found, PeriodEfficiencies { parallel: 0.6, load_balance: 0.75, communication: 0.8 });
        assert!((found.load_balance * found.communication - found.parallel).abs() < 1e-12);
    }

    #[test]
    fn where_nothing_was_computed_nothing_is_known() {
        assert_eq!(efficiencies([0.0, 0.0].into_iter(), 5.0), None);
        assert_eq!(JobLoad::default().slowest(), None);
    }
}
