//! Records folded into regions × activities × iterations: the sums, and how they merge. [`crate::fold::ProfileFold`] makes them.
//!
//! The same fold runs in the recorder (profile mode) and in the analyzer (events mode), so that both modes give the same
//! figures. Time between two records of a thread is computation in the innermost open region; time in a call belongs to the
//! call's activity; while recording is paused it belongs to nothing.

use bincode::{Decode, Encode};
use serde::Serialize;

use crate::poll_gaps::{GapUse, PlacedGaps, ProfileGaps};
use crate::polling::PollSums;
use crate::record::heads::batch_head::BatchHead;
use crate::states::Activity;

/// Time, calls and bytes of one (region, iteration, activity), exclusive of inner regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Encode, Decode, Serialize)]
pub struct ProfileCell {
    /// Ticks.
    pub ticks: u64,
    /// Calls, polls that were folded into one record included (of computation: intervals between two records).
    pub calls: u64,
    /// Bytes sent, written or contributed.
    pub sent: u64,
    /// Bytes received, read or given.
    pub received: u64,
}

/// Key of a [`ProfileCell`]. `iteration` belongs to the innermost enclosing iterated region; NONE: there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode, Serialize)]
pub struct CellKey {
    /// Region id; 0 is the whole program outside of all phases.
    pub region: u32,
    /// Iteration number, or NONE.
    pub iteration: u32,
    /// Number of the activity.
    pub activity: u8,
}

/// Key of a call site's totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode, Serialize)]
pub struct CallSiteKey {
    /// Region id.
    pub region: u32,
    /// Id of the call site.
    pub call_site: u32,
    /// Number of the operation.
    pub operation: u16,
    /// Number of the activity.
    pub activity: u8,
}

/// An invocation of an iterated region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, Serialize)]
pub struct RegionInvocation {
    /// Region id.
    pub region: u32,
    /// Its number, from 0 by region.
    pub iteration: u32,
    /// Iteration of the innermost iterated region around it, or NONE.
    pub outer: u32,
    /// Start, in ticks.
    pub begin: u64,
    /// End, in ticks.
    pub end: u64,
}

/// The totals of a region's invocations.
#[derive(Clone, Copy, Debug, PartialEq, Default, Encode, Decode, Serialize)]
pub struct RegionTotals {
    /// Times it was entered.
    pub invocations: u64,
    /// Ticks between enter and leave, summed; inner regions and calls included.
    pub inclusive: u64,
    /// Operations given by LBPROF_WORK.
    pub operations: f64,
    /// Quanta given by LBPROF_WORK.
    pub quanta: f64,
    /// Largest resident memory sampled at its ends, in bytes.
    pub max_resident: u64,
    /// Largest swapped memory sampled at its ends, in bytes.
    pub max_swapped: u64,
}

/// Number, sum, least and greatest of a counter's values.
#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode, Serialize)]
pub struct CounterTotals {
    /// Number of times that it was set.
    pub n: u64,
    /// Sum of the values.
    pub sum: f64,
    /// Least value.
    pub min: f64,
    /// Greatest value.
    pub max: f64,
}

/// The sums over a part of one thread's run. Lists are sorted by key.
#[derive(Clone, Debug, PartialEq, Default, Encode, Decode, Serialize)]
pub struct ThreadProfile {
    /// Time, calls, bytes by region, iteration and activity.
    pub cells: Vec<(CellKey, ProfileCell)>,
    /// Sums by call site.
    pub sites: Vec<(CallSiteKey, ProfileCell)>,
    /// Iterations that ended, by region, number and begin.
    pub iterations: Vec<RegionInvocation>,
    /// Totals by region.
    pub regions: Vec<(u32, RegionTotals)>,
    /// Totals by (region, counter).
    pub counters: Vec<((u32, u32), CounterTotals)>,
    /// Ticks of computation by (region, number of the state), as far as the recorder has seen states begin and end.
    pub states: Vec<((u32, u8), u64)>,
    /// Records folded, markers and parts included.
    pub records: u64,
    /// Calls folded.
    pub calls: u64,
    /// Ticks during which recording was paused.
    pub paused: u64,
    /// Calls without an end: their time counts up to the next record's begin.
    pub unfinished: u64,
    /// Time stamps that went backwards (counted as zero time).
    pub backwards: u64,
    /// Unsuccessful polls, and what the time between them was taken for; in profiles that the recorder makes.
    pub polls: PollSums,
}

/// A profile and where it stands in its thread's records: what profile mode writes in place of the records.
#[derive(Clone, Debug, PartialEq, Default, Encode, Decode, Serialize)]
pub struct ProfileBatch {
    /// Start of the records folded into it.
    pub head: BatchHead,
    /// Start of the next batch: its `first`, `previous_end`, `open` and `paused`.
    pub next: BatchHead,
    /// Time at which each region of `next.open` was entered.
    pub entered: Vec<u64>,
    /// The sums.
    pub profile: ThreadProfile,
}

impl ProfileCell {
    /// Adds another cell's sums. No run is long enough to overflow them, and the sums of a hostile log may wrap.
    #[inline(always)]
    pub fn add(&mut self, other: &ProfileCell) {
        self.ticks = self.ticks.wrapping_add(other.ticks);
        self.calls = self.calls.wrapping_add(other.calls);
        self.sent = self.sent.wrapping_add(other.sent);
        self.received = self.received.wrapping_add(other.received);
    }
}

impl RegionTotals {
    /// Adds another part's totals to these.
    pub fn add(&mut self, other: &RegionTotals) {
        self.invocations = self.invocations.saturating_add(other.invocations);
        self.inclusive = self.inclusive.saturating_add(other.inclusive);
        self.operations += other.operations;
        self.quanta += other.quanta;
        self.max_resident = self.max_resident.max(other.max_resident);
        self.max_swapped = self.max_swapped.max(other.max_swapped);
    }
}

impl Default for CounterTotals {
    /// No values yet: least and greatest are the infinities, which any value replaces.
    fn default() -> Self {
        CounterTotals { n: 0, sum: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY }
    }
}

impl CounterTotals {
    /// Adds another part's totals to these.
    pub fn add(&mut self, other: &CounterTotals) {
        self.n = self.n.saturating_add(other.n);
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

impl ThreadProfile {
    /// Merges two profiles of one rank, whose ids mean the same. The order only matters for the rounding of floating-point sums.
    pub fn merge(mut self, other: ThreadProfile) -> ThreadProfile {
        self.add_totals(&other);
        self.cells = merge_sorted_lists(self.cells, other.cells, ProfileCell::add);
        self.sites = merge_sorted_lists(self.sites, other.sites, ProfileCell::add);
        self.regions = merge_sorted_lists(self.regions, other.regions, RegionTotals::add);
        self.counters = merge_sorted_lists(self.counters, other.counters, CounterTotals::add);
        self.states = merge_sorted_lists(self.states, other.states, |sum, ticks| *sum = sum.saturating_add(*ticks));
        self
    }

    /// Adds the iterations and totals of another profile, without its sums by key.
    pub(crate) fn add_totals(&mut self, other: &ThreadProfile) {
        self.iterations.extend(&other.iterations);
        self.iterations.sort_unstable_by_key(|iteration| (iteration.region, iteration.iteration, iteration.begin));
        self.records = self.records.saturating_add(other.records);
        self.calls = self.calls.saturating_add(other.calls);
        self.paused = self.paused.saturating_add(other.paused);
        self.unfinished = self.unfinished.saturating_add(other.unfinished);
        self.backwards = self.backwards.saturating_add(other.backwards);
        self.polls.add(&other.polls);
    }

    /// Assigns long gaps between polls, which the recorder has counted as computation, if their use is known.
    pub fn settle_gaps(&mut self, gaps: &ProfileGaps, gap_use: Option<GapUse>) {
        let Some(gap_use) = gap_use else { return };
        let moved = if gap_use == GapUse::Asleep { self.move_to_calls(&gaps.places) } else { 0 };
        let polls = &mut self.polls;
        polls.computation = polls.computation.saturating_sub(moved);
        polls.waiting = polls.waiting.saturating_add(moved);
        polls.waits = polls.waits.saturating_add(u64::from(moved > 0));
        polls.maybe_waiting = match gap_use {
            GapUse::Unclear => polls.maybe_waiting.max(gaps.sums.ticks),
            GapUse::Asleep | GapUse::Computing => polls.maybe_waiting.saturating_sub(gaps.sums.ticks),
        };
    }

    /// Moves computation into the calls after long gaps, as far as there is any. Returns the ticks that were moved.
    fn move_to_calls(&mut self, places: &[PlacedGaps]) -> u64 {
        let (mut cells, mut sites, mut moved) = (Vec::new(), Vec::new(), 0u64);
        for &PlacedGaps { region, iteration, call_site, operation, activity, ticks } in places {
            let key = CellKey { region, iteration, activity: Activity::Computation as u8 };
            let Ok(place) = self.cells.binary_search_by_key(&key, |(key, _)| *key) else { continue };
            let computation = &mut self.cells[place].1;
            let cell = ProfileCell { ticks: ticks.min(computation.ticks), ..ProfileCell::default() };
            computation.ticks -= cell.ticks;
            moved = moved.saturating_add(cell.ticks);
            cells.push((CellKey { activity, ..key }, cell));
            sites.push((CallSiteKey { region, call_site, operation, activity }, cell));
        }
        self.cells = merge_sorted_lists(std::mem::take(&mut self.cells), cells, ProfileCell::add);
        self.sites = merge_sorted_lists(std::mem::take(&mut self.sites), sites, ProfileCell::add);
        moved
    }
}

fn merge_sorted_lists<K: Ord + Copy, V>(
    left: Vec<(K, V)>,
    right: Vec<(K, V)>,
    add: impl Fn(&mut V, &V),
) -> Vec<(K, V)> {
    if right.is_empty() {
        return left;
    }
    let mut all = left;
    all.extend(right);
    merge_equal_keys(&mut all, add);
    all
}

/// Sorts a list by key, and adds up the values of equal keys.
pub(crate) fn merge_equal_keys<K: Ord + Copy, V>(list: &mut Vec<(K, V)>, add: impl Fn(&mut V, &V)) {
    // A stable sort finds sorted runs and merges them in linear time.
    list.sort_by_key(|(key, _)| *key);
    list.dedup_by(|(key, value), (kept_key, kept)| {
        let same = key == kept_key;
        if same {
            add(kept, value);
        }
        same
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Operation;
    use crate::poll_gaps::GapSums;

    /// Ticks of computation and of probes, and sums of polls, after gaps of `ticks` with this use were settled: at first the thread computes for 100 ticks and
    /// probes for 5.
    fn settled(ticks: u64, gap_use: Option<GapUse>) -> ([u64; 2], u64, PollSums) {
        let cell = |ticks| ProfileCell { ticks, calls: 1, sent: 0, received: 0 };
        let key = |activity: Activity| CellKey { region: 3, iteration: 7, activity: activity as u8 };
        let (operation, activity) = (Operation::Iprobe as u16, Activity::PointToPoint as u8);
        let mut profile = ThreadProfile {
            cells: vec![(key(Activity::Computation), cell(100)), (key(Activity::PointToPoint), cell(5))],
            sites: vec![(CallSiteKey { region: 3, call_site: 9, operation, activity }, cell(5))],
            polls: PollSums { polls: 4, within: 5, computation: 90, maybe_waiting: 30, ..PollSums::default() },
            ..ThreadProfile::default()
        };
        let places = vec![PlacedGaps { region: 3, iteration: 7, call_site: 9, operation, activity, ticks }];
        let sums = GapSums { ticks, ..GapSums::default() };
        profile.settle_gaps(&ProfileGaps { sums, places, ..ProfileGaps::default() }, gap_use);
        assert_eq!((profile.cells.len(), profile.sites.len()), (2, 1));
        ([profile.cells[0].1.ticks, profile.cells[1].1.ticks], profile.sites[0].1.ticks, profile.polls)
    }

    #[test]
    fn gaps_in_which_the_thread_sleeps_are_time_of_the_call_after_them() {
        let polls = PollSums { polls: 4, waits: 1, within: 5, waiting: 80, computation: 10, ..PollSums::default() };
        assert_eq!(settled(80, Some(GapUse::Asleep)), ([20, 85], 85, polls));
    }

    #[test]
    fn gaps_that_are_computation_or_unclear_stay_where_they_are() {
        for (gap_use, maybe_waiting) in [(None, 30), (Some(GapUse::Computing), 0), (Some(GapUse::Unclear), 80)] {
            let (ticks, probe, polls) = settled(80, gap_use);
            assert_eq!((ticks, probe, polls.computation), ([100, 5], 5, 90), "{gap_use:?}");
            assert_eq!(polls.maybe_waiting, maybe_waiting, "{gap_use:?}");
        }
    }

    #[test]
    fn more_time_than_there_is_in_a_hostile_log_is_not_moved() {
        assert_eq!(settled(u64::MAX, Some(GapUse::Asleep)).0, [0, 105]);
    }
}
