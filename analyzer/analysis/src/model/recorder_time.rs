//! The recorder's own time in a run: whether it disturbs ranks, and how much of their computation it is.
//!
//! The recorder's code runs before and after each call, so that its time lies in what the log has as computation. Samples show how much it is.

use lbprof_collector::Activity;
use lbprof_thresholds::metrics::{MIN_DISTURBANCE, MIN_STANDARD_ERRORS};

use super::samples::CpuTime;
use super::{IterationSeries, Model, RankModel, RegionIdx};

/// Returns the cost of the recorder for a rank's first thread: the time of writing the log, and of its code in calls, by samples.
///
/// This is the cost in this program, with its caches. Time in the kernel is part of writing the log; taking samples is not included.
pub fn recorder_cost(rank: &RankModel) -> CpuTime {
    let mut cost = rank.samples.recorder;
    cost.seconds += rank.inclusive(0)[Activity::Recorder as usize];
    cost
}

/// Returns whether the recorder certainly takes more of a rank's time than can be neglected.
pub fn is_disturbed(rank: &RankModel) -> bool {
    let cost = recorder_cost(rank);
    cost.seconds - MIN_STANDARD_ERRORS * cost.error_s() > MIN_DISTURBANCE * (rank.end_s - rank.begin_s)
}

/// The shares of computation that were the recorder's code.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecorderShares {
    /// By index of the region, without inner ones, and by place of the rank.
    pub by_region: Vec<Vec<f64>>,
}

impl RecorderShares {
    /// The shares of `model`'s ranks, or `None` if the recorder disturbs none of them.
    pub fn from_model(model: &Model) -> Option<RecorderShares> {
        model.ranks.iter().any(is_disturbed).then(|| {
            let mut by_region = vec![vec![0.0; model.ranks.len()]; model.regions.len()];
            for (place, rank) in model.ranks.iter().enumerate() {
                for &(region, recorder_s) in &rank.samples.recorder_by_region {
                    let computation_s = rank.exclusive(region)[Activity::Computation as usize];
                    if let Some(shares) = by_region.get_mut(region as usize)
                        && computation_s > 0.0
                    {
                        shares[place] = (recorder_s / computation_s).min(1.0);
                    }
                }
            }
            RecorderShares { by_region }
        })
    }

    /// Returns the share of the rank at this place in a region.
    pub fn share(&self, region: RegionIdx, place: u32) -> f64 {
        self.by_region.get(region as usize).and_then(|shares| shares.get(place as usize)).copied().unwrap_or(0.0)
    }

    /// Returns `model` with the computation that is the program's own.
    pub fn own_work(&self, model: &Model) -> Model {
        let mut own = model.clone();
        let chains: Vec<Vec<RegionIdx>> = (0..model.regions.len() as RegionIdx).map(|idx| model.chain(idx)).collect();
        for (rank, place) in own.ranks.iter_mut().zip(0..) {
            self.take_out(rank, place, &chains);
        }
        own
    }

    /// Takes the recorder's time out of a rank's computation. `chains`: each region with those around it.
    fn take_out(&self, rank: &mut RankModel, place: u32, chains: &[Vec<RegionIdx>]) {
        let mut taken_s = vec![0.0; chains.len()];
        for ((region, activity), cell) in &mut rank.cells {
            if *activity == Activity::Computation {
                let own_s = cell.seconds * (1.0 - self.share(*region, place));
                for &outer in chains.get(*region as usize).into_iter().flatten() {
                    taken_s[outer as usize] += cell.seconds - own_s;
                }
                cell.seconds = own_s;
            }
        }
        // The factors of regions with inner ones.
        let mut kept = vec![1.0; chains.len()];
        for (region, seconds) in &mut rank.inclusive {
            let computation_s = &mut seconds[Activity::Computation as usize];
            let own_s = (*computation_s - taken_s[*region as usize]).max(0.0);
            if *computation_s > 0.0 {
                kept[*region as usize] = own_s / *computation_s;
            }
            *computation_s = own_s;
        }
        for (region, seconds) in &mut rank.in_iterations {
            *seconds *= kept[*region as usize];
        }
        for (region, series) in &mut rank.iterations {
            self.take_out_of_iterations(series, place, kept[*region as usize]);
        }
    }

    /// Takes it out of each iteration, of whose computation a fraction is `kept`.
    fn take_out_of_iterations(&self, series: &mut IterationSeries, place: u32, kept: f64) {
        for seconds in &mut series.seconds[Activity::Computation as usize] {
            *seconds *= kept;
        }
        for (region, column) in &mut series.parts {
            let kept_there = (1.0 - self.share(*region, place)) as f32;
            for seconds in column {
                *seconds *= kept_there;
            }
        }
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::model::{CallTotals, Region};

    /// A rank that computes 6 s in region 0 and 4 s in region 1 within it, of which the recorder takes 1 and 2 s.
    fn model(samples: u32) -> Model {
        let totals = |seconds| CallTotals { seconds, ..CallTotals::default() };
        let mut rank = RankModel { end_s: 10.0, ..RankModel::default() };
        rank.cells = vec![((0, Activity::Computation), totals(6.0)), ((1, Activity::Computation), totals(4.0))];
        let inclusive = |seconds_s| {
            let mut seconds = super::super::Seconds::default();
            seconds[Activity::Computation as usize] = seconds_s;
            seconds
        };
        rank.inclusive = vec![(0, inclusive(10.0)), (1, inclusive(4.0))];
        for _ in 0..samples {
            rank.samples.recorder.add(&CpuTime::sample(0.005));
        }
        rank.samples.recorder_by_region = vec![(0, 1.0), (1, 2.0)];
        Model {
            ranks: vec![rank],
            regions: vec![Region::marked("main"), Region::marked("main/inner")],
            ..Model::default()
        }
    }

    #[test]
    fn computation_without_the_recorder_is_known_by_region() {
        let model = model(600);
        let shares = RecorderShares::from_model(&model).unwrap();
        let own = shares.own_work(&model);
        let computation = |of: fn(&RankModel, RegionIdx) -> super::super::Seconds| {
            [0, 1].map(|region| of(&own.ranks[0], region)[Activity::Computation as usize])
        };
        assert_eq!((computation(RankModel::exclusive), computation(RankModel::inclusive)), ([5.0, 2.0], [7.0, 2.0]));
    }

    #[test]
    fn a_recorder_that_may_take_less_than_a_fiftieth_disturbs_nothing() {
        // 45 samples are 0.225 ± 0.034 s of 10 s, 100 are 0.5 ± 0.05 s.
        assert_eq!(RecorderShares::from_model(&model(45)), None);
        assert!(RecorderShares::from_model(&model(100)).is_some());
    }
}
