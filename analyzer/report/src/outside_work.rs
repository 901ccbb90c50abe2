//! Work outside of the main loop because of which a rank computes longest: set-up before it, or output after it.
//!
//! ```text
//!   rank 0  |== reads, and divides ==|step|step|step| … |step|
//!   rank 1  |= .....................|step|step|step| … |step|     once, before the loop: no iteration is uneven
//! ```

use lbprof_analysis::model::Model;
use lbprof_analysis::model::statistics::TimeWindows;
use lbprof_collector::Activity;
use lbprof_thresholds::verdict::{MAX_WORK_OF_OTHERS, MIN_EXCESS_OUTSIDE_OF_LOOP};

use super::verdict::Verdict;

/// Work of the rank that computes longest outside of the main loop.
#[derive(Clone, Debug, PartialEq)]
pub struct OutsideWork {
    /// Seconds of its computation outside of the loop.
    pub work_s: f64,
    /// That over the mean of all ranks.
    pub excess_s: f64,
    /// True if all others together compute next to nothing outside of the loop.
    pub is_alone: bool,
    /// True before the loop, false after it.
    pub is_before: bool,
    /// Path of the loop.
    pub main_loop: String,
}

impl OutsideWork {
    /// Returns the work if most of the rank's excess over the mean lies before the loop, or after it.
    pub(super) fn find(model: &Model, verdict: &Verdict) -> Option<OutsideWork> {
        let worst = verdict.worst.as_ref().filter(|_| verdict.cluster.is_none())?;
        let main_loop = model.main_loop()?;
        let at = model.ranks.iter().position(|rank| rank.rank == worst.rank)?;
        let inside = model.inclusive_s(main_loop, Activity::Computation);
        let mut outside = model.inclusive_s(0, Activity::Computation);
        for (outside_s, inside_s) in outside.iter_mut().zip(inside) {
            *outside_s -= inside_s;
        }
        let all_s: f64 = outside.iter().sum();
        let work_s = outside[at];
        let excess_s = work_s - all_s / outside.len() as f64;
        let least_s = MIN_EXCESS_OUTSIDE_OF_LOOP * worst.over_mean_s;
        if excess_s < least_s {
            return None;
        }
        let windows = &model.statistics.as_ref()?.time_windows;
        let series = model.ranks[at].series(main_loop)?;
        let [begin, end] = [series.begin_s.first(), series.end_s.last()].map(|time_s| {
            time_s.map_or(f64::NAN, |time_s| (time_s - model.window_s().0) * 1e9 / windows.length as f64)
        });
        // A time that is not known is in no window.
        let before_s = excess_in(windows, 0..begin.ceil() as usize, at);
        let after_s = excess_in(windows, end.floor() as usize..windows.computation.len(), at);
        let is_before = before_s >= least_s;
        (is_before || !end.is_nan() && after_s >= least_s).then(|| OutsideWork {
            work_s,
            excess_s,
            is_alone: all_s - work_s <= MAX_WORK_OF_OTHERS * work_s,
            is_before,
            main_loop: model.regions.get(main_loop as usize).map_or_else(String::new, |region| region.path.clone()),
        })
    }

    /// Returns when the work is done: `once, before the main loop`.
    pub fn when(&self) -> &'static str {
        if self.is_before { "once, before the main loop" } else { "once, after the main loop" }
    }
}

/// Returns the computation of the rank at a place in the model over the mean of all ranks, in some windows of time.
fn excess_in(windows: &TimeWindows, numbers: std::ops::Range<usize>, at: usize) -> f64 {
    let some = windows.computation.iter().take(numbers.end).skip(numbers.start);
    let excesses = some.map(|ranks| {
        let mean = ranks.iter().sum::<i64>() as f64 / ranks.len().max(1) as f64;
        ranks.get(at).map_or(0.0, |&own| own as f64 - mean) * 1e-9
    });
    excesses.sum()
}
