//! The rank view (docs/metrics.md §2; the paper's §3.1): which rank divides its time between the activities of a region differently
//! from the others.

use lbprof_collector::Activity;
use lbprof_thresholds::metrics::RESOLUTION_OF_INDEX;

use super::RegionTimes;

/// The rank with the largest ID_P_ip of a region.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MostImbalanced {
    /// The rank, as an index of the times given.
    pub rank: usize,
    /// Its ID_P_ip, in 0..=√2 · (1 − 1/P).
    pub id: f64,
    /// Its time in the region, in seconds.
    pub time_s: f64,
}

/// ID_P_ip = √Σ_j (t̃_ijp − T̃_ij)² of each rank, t̃_ijp being activity j's share of the rank's time in the region, T̃_ij the
/// mean of t̃_ijp over the ranks that enter it. `None` for ranks that do not, which have no shares. One entry a rank; each in
/// 0..=√2 · (1 − 1/P).
pub fn rank_deviations(times: &RegionTimes) -> Vec<Option<f64>> {
    let shares = (0..times.n_ranks()).map(|at| {
        let seconds = times.rank(at);
        let sum: f64 = seconds.iter().sum();
        (sum > 0.0).then(|| seconds.map(|part| part / sum))
    });
    let shares: Vec<Option<[f64; Activity::COUNT]>> = shares.collect();
    let n = shares.iter().flatten().count() as f64;
    let mut means = [0.0; Activity::COUNT];
    for share in shares.iter().flatten() {
        for (mean, share) in means.iter_mut().zip(share) {
            *mean += share / n;
        }
    }
    let distances = shares.iter().map(|share| {
        let squares = share.as_ref()?.iter().zip(&means).map(|(share, mean)| (share - mean).powi(2));
        Some(squares.sum::<f64>().sqrt())
    });
    distances.collect()
}

/// The rank with the largest ID_P_ip of a region; `None` where all are 0 or no single rank has the largest, as always with
/// two ranks.
pub fn most_imbalanced(times: &RegionTimes) -> Option<MostImbalanced> {
    let mut first: Option<(usize, f64)> = None;
    let mut second = 0.0;
    for (at, id) in rank_deviations(times).into_iter().enumerate().filter_map(|(at, id)| Some((at, id?))) {
        match first {
            Some((_, largest)) if id <= largest => second = f64::max(second, id),
            _ => {
                second = first.map_or(0.0, |(_, largest)| largest);
                first = Some((at, id));
            }
        }
    }
    let (rank, id) = first.filter(|&(_, id)| id - second > RESOLUTION_OF_INDEX)?;
    Some(MostImbalanced { rank, id, time_s: times.rank(rank).iter().sum() })
}

/// The number and duration of regions in which each rank is the most imbalanced one; one entry a rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankView {
    /// Regions in which the rank has the largest ID_P_ip.
    pub regions: Vec<u32>,
    /// Its time in those, in seconds.
    pub seconds: Vec<f64>,
}

impl RankView {
    /// Creates the view of `n_ranks` ranks, before any region.
    pub fn new(n_ranks: usize) -> RankView {
        RankView { regions: vec![0; n_ranks], seconds: vec![0.0; n_ranks] }
    }

    /// Adds a region.
    pub fn add(&mut self, found: Option<&MostImbalanced>) {
        let Some(found) = found else { return };
        if let (Some(regions), Some(seconds)) = (self.regions.get_mut(found.rank), self.seconds.get_mut(found.rank)) {
            *regions += 1;
            *seconds += found.time_s;
        }
    }

    /// The most frequently imbalanced rank: that with the largest ID_P_ip in most regions; of several the one with the longer
    /// time in them, then the lowest. `None` where no region has a single one.
    pub fn most_frequent(&self) -> Option<usize> {
        self.first_by(|a, b| self.regions[a].cmp(&self.regions[b]).then(self.seconds[a].total_cmp(&self.seconds[b])))
    }

    /// The rank imbalanced for the longest time: that with most time in the regions in which it has the largest ID_P_ip.
    /// `None` where no region has a single one.
    pub fn longest(&self) -> Option<usize> {
        self.first_by(|a, b| self.seconds[a].total_cmp(&self.seconds[b]))
    }

    fn first_by(&self, compare: impl Fn(usize, usize) -> std::cmp::Ordering) -> Option<usize> {
        let candidates = (0..self.regions.len()).filter(|&at| self.regions[at] > 0);
        candidates.reduce(|most, next| if compare(next, most).is_gt() { next } else { most })
    }
}
