//! Work before the main loop, or after it, that one rank or a few do while the others wait: set-up and output. It is judged by itself, and the loop without it.
//!
//! ```text
//!   rank 0  |== reads, and divides ==|step|step|step| … |step|................|
//!   rank 1  |= .....................|step|step|step| … |step|== writes ======|     once each: no iteration is uneven
//! ```

use std::ops::Range;

use lbprof_analysis::model::replayed::statistics::TimeWindows;
use lbprof_analysis::model::{IterationSeries, Model};
use lbprof_collector::Activity;
use lbprof_thresholds::verdict::{MAX_ERROR_OF_TIME_WINDOWS, MAX_STEP_OUTSIDE_OF_LOOP, MIN_EXCESS_OUTSIDE_OF_LOOP};

use super::longest_rank::LongestRank;
use crate::RegionRow;

/// The ranks that compute longest before the main loop, in it, and after it.
#[derive(Clone, Debug, PartialEq)]
pub struct OutsideWork {
    /// Path of the loop.
    pub main_loop: String,
    /// The rank that computes longest before the loop, or `None` if that costs little.
    pub before: Option<LongestRank>,
    /// The rank that computes longest after it, likewise.
    pub after: Option<LongestRank>,
    /// The rank that computes longest in the loop.
    pub within: Option<LongestRank>,
}

impl OutsideWork {
    /// Returns the work, or `None` if it costs little, or if a rank that works longer outside of the loop works less in it, so that the others do not
    /// wait. `lost_s`: the imbalance and serialization of a run of `elapsed_s` seconds, `chains_s` what ranks lose in chains. The first step of a chain, and
    /// its last one, are no such work: a loop that was found in the calls begins and ends with one.
    pub(crate) fn find(
        model: &Model,
        elapsed_s: f64,
        lost_s: f64,
        chains_s: f64,
        regions: &[RegionRow],
    ) -> Option<OutsideWork> {
        let main_loop = model.main_loop()?;
        let path = model.regions.get(main_loop as usize)?.path.clone();
        let windows = &model.statistics.as_ref()?.time_windows;
        let mut times: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
        for (at, rank) in model.ranks.iter().enumerate() {
            let series = rank.series(main_loop)?;
            let ends = series.begin_s.first().zip(series.end_s.last())?;
            let [begin, end] =
                [ends.0, ends.1].map(|time_s| (time_s - model.window_s().0) * 1e9 / windows.length as f64);
            // A time that is not known is in no window.
            if begin.is_nan() || end.is_nan() {
                return None;
            }
            times[0].push(computation_s(windows, 0..begin.ceil() as usize, at));
            times[1].push(computation_s(windows, end.floor() as usize..windows.computation.len(), at));
        }
        let (inside, outside): (Vec<&RegionRow>, Vec<&RegionRow>) =
            regions.iter().partition(|row| is_in_region(&row.path, &path));
        let least_s = MIN_EXCESS_OUTSIDE_OF_LOOP * elapsed_s;
        let [before, after] = times.map(|of_ranks| {
            let longest = LongestRank::find(model, &of_ranks, &[]).filter(|longest| longest.over_mean_s >= least_s)?;
            let at = model.ranks.iter().position(|rank| rank.rank == longest.rank)?;
            let rank = &model.ranks[at];
            if longest.over_mean_s <= chains_s && is_step_of_loop(of_ranks[at], rank.series(main_loop)?) {
                return None;
            }
            // The same rank may exceed the mean by more in a region on the other side of the loop.
            let most_s = longest.over_mean_s + MAX_ERROR_OF_TIME_WINDOWS * elapsed_s;
            let own = outside.iter().copied().filter(|row| row.excess_computation_s(rank) <= most_s);
            LongestRank::find(model, &of_ranks, &own.collect::<Vec<_>>())
        });
        let within = LongestRank::find(model, &model.inclusive_s(main_loop, Activity::Computation), &inside);
        let mut found = OutsideWork { main_loop: path, before, after, within };
        let sum_s = found.outside_s() + found.within.as_ref().map_or(0.0, |longest| longest.over_mean_s);
        let is_lost = sum_s <= lost_s + MAX_ERROR_OF_TIME_WINDOWS * elapsed_s;
        // The windows say it to within that error: the parts are no more than the loss.
        let certain = if sum_s > lost_s { lost_s / sum_s } else { 1.0 };
        for longest in found.before.iter_mut().chain(&mut found.after).chain(&mut found.within) {
            longest.over_mean_s *= certain;
        }
        (found.outside_s() > 0.0 && is_lost).then_some(found)
    }

    /// Returns the seconds that are lost to this work.
    pub fn outside_s(&self) -> f64 {
        self.before.iter().chain(&self.after).map(|longest| longest.over_mean_s).sum()
    }

    /// Returns whether a region belongs to the loop.
    pub fn is_within(&self, path: &str) -> bool {
        is_in_region(path, &self.main_loop)
    }
}

/// Returns whether work that takes `work_s` may be a step of a loop that was found in the calls, where the step's first or last call is missing.
fn is_step_of_loop(work_s: f64, series: &IterationSeries) -> bool {
    let known = series.numbers.iter().enumerate().filter(|(_, number)| series.has_computation(**number));
    let steps: Vec<f64> = known.map(|(at, _)| series.seconds_at(Activity::Computation, at)).collect();
    let mean_s = steps.iter().sum::<f64>() / steps.len() as f64;
    !series.entering.is_empty() && series.joined == 0 && work_s <= MAX_STEP_OUTSIDE_OF_LOOP * mean_s
}

fn is_in_region(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the computation of the rank at a place in the model in some windows of time.
fn computation_s(windows: &TimeWindows, numbers: Range<usize>, at: usize) -> f64 {
    let some = windows.computation.iter().take(numbers.end).skip(numbers.start);
    some.map(|ranks| ranks.get(at).map_or(0.0, |&own| own as f64 * 1e-9)).sum()
}
