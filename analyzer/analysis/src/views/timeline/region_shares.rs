//! In which regions the ranks are over time, all ranks together.

use super::shares::StateShares;
use super::{RegionCourse, STATES};
use crate::model::code::region_state::Ns;
use crate::model::ranks::interval::TimeInterval;
use crate::model::{Model, RegionIdx};
use crate::views::regions::largest_regions;

/// Most bins, and most regions that are distinguished.
const MOST_BINS: usize = 2_000;
const MOST_REGIONS: usize = 24;

/// The only state of its [`StateShares`]: being there.
const PRESENT: u8 = 0;

pub(super) struct RegionShares {
    /// The regions in which most time is spent, by number.
    regions: Vec<RegionIdx>,
    n_ranks: usize,
    bins: usize,
    /// A row for each of them, and one for all others.
    shares: StateShares,
}

impl RegionShares {
    /// Returns empty sums of a run that ends at `end`, which is more than 0.
    pub(super) fn new(model: &Model, end: Ns) -> RegionShares {
        let regions = largest_regions(model, MOST_REGIONS);
        let bins = MOST_BINS.min(end as usize);
        RegionShares {
            n_ranks: model.ranks.len(),
            bins,
            shares: StateShares::new(regions.len() + 1, bins, end),
            regions,
        }
    }

    pub(super) fn add(&mut self, region: RegionIdx, time: TimeInterval) {
        let row = self.regions.binary_search(&region).unwrap_or(self.regions.len());
        self.shares.add(row, PRESENT, time.begin, time.end);
    }

    pub(super) fn into_times(self) -> [Vec<u64>; STATES] {
        self.shares.into_times()
    }

    pub(super) fn join(&mut self, later: [Vec<u64>; STATES]) {
        self.shares.join(later);
    }

    pub(super) fn finish(self) -> RegionCourse {
        let sizes = vec![self.n_ranks; self.regions.len() + 1];
        let share = self.shares.finish(&sizes).into_iter().map(|(_, share)| share).next().unwrap_or_default();
        RegionCourse { bins: self.bins, regions: self.regions, share }
    }
}

#[cfg(test)]
mod tests {
    use lbprof_collector::Activity;

    use super::*;
    use crate::model::{CallTotals, RankModel, Region};

    fn region(idx: RegionIdx) -> Region {
        Region::marked(&idx.to_string())
    }

    /// Two ranks whose time is in regions 1 to `MOST_REGIONS` + 1, in the first of them least.
    fn model() -> Model {
        let n = MOST_REGIONS as RegionIdx + 1;
        let rank = |rank| RankModel {
            rank,
            cells: (1..=n)
                .map(|region| {
                    (
                        (region, Activity::Computation),
                        CallTotals { seconds: f64::from(region), ..CallTotals::default() },
                    )
                })
                .collect(),
            ..RankModel::default()
        };
        let regions = (0..=n).map(region).collect();
        Model { ranks: vec![rank(0), rank(1)], regions, ..Model::default() }
    }

    #[test]
    fn time_is_a_share_of_all_ranks_and_that_in_small_regions_is_kept_together() {
        let model = model();
        let mut all = RegionShares::new(&model, 4);
        all.add(2, TimeInterval::new(0, 2));
        let mut later = RegionShares::new(&model, 4);
        later.add(2, TimeInterval::new(1, 2));
        later.add(1, TimeInterval::new(3, 4));
        all.join(later.into_times());
        let course = all.finish();
        assert_eq!((course.bins, course.regions.first(), course.regions.len()), (4, Some(&2), MOST_REGIONS));
        assert_eq!(course.share[..4], [128, 255, 0, 0]);
        let [.., _, _, _, others] = course.share[..] else { panic!() };
        assert_eq!(others, 128);
    }
}
