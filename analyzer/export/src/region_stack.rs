//! Tracks which regions a thread is in, for formats in which regions are entered and left one by one.

use lbprof_analysis::model::code::region_state::Ns;
use lbprof_analysis::model::ranks::interval::TimeInterval;
use lbprof_analysis::model::{IterationSeries, Model, RegionIdx};

/// The open regions of a thread, outermost first.
#[derive(Default)]
pub struct RegionStack {
    open: Vec<RegionIdx>,
    until: Ns,
}

/// The regions that a thread leaves, innermost first, and then enters, outermost first.
pub struct StackChange {
    /// Regions that it leaves.
    pub left: Vec<RegionIdx>,
    /// Time at which it leaves them.
    pub left_at: Ns,
    /// Regions that it enters.
    pub entered: Vec<RegionIdx>,
}

impl RegionStack {
    /// Moves the thread into the regions `wanted`, outermost first, for an interval. Regions only stay open if nothing lies between the last interval and
    /// this one.
    pub fn move_to(&mut self, wanted: &[RegionIdx], interval: TimeInterval) -> StackChange {
        let left_at = std::mem::replace(&mut self.until, interval.end);
        let goes_on = left_at == interval.begin;
        let same = self.open.iter().zip(wanted).take_while(|(a, b)| goes_on && a == b).count();
        let left = self.open.drain(same..).rev().collect();
        self.open.extend(&wanted[same..]);
        StackChange { left, left_at, entered: wanted[same..].to_vec() }
    }

    /// Leaves all regions.
    pub fn leave_all(&mut self) -> StackChange {
        StackChange { left: self.open.drain(..).rev().collect(), left_at: self.until, entered: Vec::new() }
    }
}

/// Lists each region with the regions around it, outermost first.
pub fn region_chains(model: &Model) -> Vec<Vec<RegionIdx>> {
    let regions = 0..model.regions.len() as RegionIdx;
    regions.map(|region| model.chain(region).into_iter().rev().collect()).collect()
}

/// Lists the iterations of a region on a rank that have a known length: number, begin and end.
pub fn iteration_times(series: &IterationSeries) -> impl Iterator<Item = (u32, Ns, Ns)> {
    let times = series.begin_s.iter().zip(&series.end_s);
    let times = times.map(|(begin, end)| ((begin * 1e9).round() as Ns, (end * 1e9).round() as Ns));
    // NaN, which is 0 here, has no length either.
    let times = series.numbers.iter().zip(times).map(|(&number, (begin, end))| (number, begin, end));
    times.filter(|&(_, begin, end)| begin < end)
}
