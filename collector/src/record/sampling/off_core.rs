//! The times for which a thread that records was off its core, and what it used: the kernel says both, whatever calls the thread makes.
//!
//! ```text
//!   thread     |== on a core ==|      |== on a core ==|   |== on a core
//!   switches                   out    in              out in
//!   intervals                  |asleep|               |no core|             asleep: it went by itself; no core: it was pushed off
//! ```
//!
//! A thread that is off its core makes no call, so that an interval lies in one computation, or in one call, as a whole.

use bincode::{Decode, Encode};
use serde::Serialize;

use crate::sample::{Place, PlaceRun, SamplePlaces};
use crate::states::CoreState;

/// The intervals of a rank's first thread that were read at one time.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode, Serialize)]
pub struct OffCoreTimes {
    /// Ticks from which on the intervals are known.
    pub begin: u64,
    /// Ticks until which they are.
    pub end: u64,
    /// Ticks of intervals that are too short to be listed, by [`CoreState`].
    pub short: [u64; CoreState::COUNT],
    /// The other intervals, in the order of time. In those whose state is not known, the system had no room for switches.
    pub intervals: Vec<OffCoreInterval>,
    /// Their places where calls are recorded as sums, in the same order; else empty.
    pub places: Vec<PlaceRun>,
}

/// An interval off the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, Serialize)]
pub struct OffCoreInterval {
    /// Ticks since the end of the interval before; of the first one, since [`OffCoreTimes::begin`].
    pub since: u64,
    /// Ticks that it lasted.
    pub ticks: u64,
    /// The thread's state.
    pub state: CoreState,
}

/// An interval as it was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadInterval {
    /// Start, in ticks.
    pub begin: u64,
    /// End, in ticks.
    pub end: u64,
    /// The thread's state.
    pub state: CoreState,
    /// The place of the thread, if its calls are recorded as sums.
    pub place: Option<Place>,
}

impl OffCoreTimes {
    /// Most intervals that are listed.
    pub const MOST: usize = 2048;

    /// Lists intervals, which are in the order of time, between the ticks `begin` and `end`. If they are many, the shorter ones are summed up.
    pub fn from_intervals(begin: u64, end: u64, all: &[ReadInterval]) -> Self {
        let mut times = OffCoreTimes { begin, end, ..OffCoreTimes::default() };
        let mut lengths: Vec<u64> = all.iter().map(|one| one.end.saturating_sub(one.begin)).collect();
        let least = match all.len().checked_sub(Self::MOST) {
            None | Some(0) => 0,
            Some(n_short) => *lengths.select_nth_unstable(n_short).1,
        };
        let (mut at, mut places) = (begin, Vec::new());
        for one in all {
            let from = one.begin.max(at);
            let ticks = one.end.saturating_sub(from);
            if ticks < least {
                let short = &mut times.short[one.state as usize];
                *short = short.saturating_add(ticks);
                continue;
            }
            times.intervals.push(OffCoreInterval { since: from - at, ticks, state: one.state });
            places.push(one.place);
            at = from + ticks;
        }
        if places.iter().any(Option::is_some) {
            times.places = SamplePlaces::from_places(0, 0, places).runs;
        }
        times
    }

    /// Returns the intervals with their places, as far as these are known.
    pub fn intervals(&self) -> impl Iterator<Item = ReadInterval> + '_ {
        let places = SamplePlaces { runs: self.places.clone(), ..SamplePlaces::default() };
        let places: Vec<Option<Place>> = places.places().take(self.intervals.len()).collect();
        self.intervals.iter().enumerate().scan(self.begin, move |at, (index, one)| {
            let begin = at.saturating_add(one.since);
            *at = begin.saturating_add(one.ticks);
            Some(ReadInterval { begin, end: *at, state: one.state, place: places.get(index).copied().flatten() })
        })
    }
}

/// The kernel's work for the rank's first thread by an instant (getrusage(2) of the thread).
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode, Serialize)]
pub struct ThreadUsage {
    /// CPU time in the kernel.
    pub system_ns: u64,
    /// Page faults.
    pub page_faults: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::states::Activity;

    fn interval(begin: u64, ticks: u64, state: CoreState) -> ReadInterval {
        ReadInterval { begin, end: begin + ticks, state, place: None }
    }

    #[test]
    fn intervals_keep_their_times_and_places() {
        let mut all = [interval(150, 100, CoreState::Asleep), interval(300, 10, CoreState::NoCore)];
        all[1].place = Some((4, Activity::Collective));
        let times = OffCoreTimes::from_intervals(100, 1000, &all);
        assert_eq!(times.intervals().collect::<Vec<_>>(), all);
    }

    #[test]
    fn of_many_intervals_the_short_ones_are_summed_up() {
        let mut all: Vec<_> = (0..4000).map(|n| interval(n * 100, 10, CoreState::NoCore)).collect();
        all[500].end += 50;
        let times = OffCoreTimes::from_intervals(0, 400_000, &all);
        assert!(times.intervals().any(|one| one.end - one.begin == 60));
        let listed: u64 = times.intervals.iter().map(|one| one.ticks).sum();
        assert_eq!(listed + times.short[CoreState::NoCore as usize], 40_050);
    }
}
