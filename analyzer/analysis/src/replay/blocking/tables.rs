//! Sums of waits and of their causes.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use bincode::{Decode, Encode};
use rustc_hash::FxHashMap;

use super::history::StateDuration;
use super::states::ThreadStates;
use crate::model::exact_sum::ExactNs;
use crate::model::region_state::{Ns, RegionState};
use crate::model::waits::{BlockingTimes, WaitCall, WaitKey, WaitSums};

/// Sums that are being made.
#[derive(Debug, Default)]
pub(super) struct WaitTotals {
    waits: FxHashMap<WaitKey, WaitSums>,
    /// Nanoseconds that the first thread waited because of the second.
    pairs: FxHashMap<(u32, u32), f64>,
    /// Nanoseconds waited in calls because of a kind of time.
    places: FxHashMap<(WaitCall, RegionState), f64>,
    /// Nanoseconds of waiting caused, by number of what is done.
    caused: Vec<f64>,
    /// Causes of waits in all regions, if one is selected.
    caused_in_any_region: FxHashMap<(u32, RegionState), f64>,
}

/// A wait, and as much of it as counts.
pub struct CountedWait {
    /// The wait's place and state.
    pub key: WaitKey,
    /// Its length.
    pub all: Ns,
    /// The counted part.
    pub counted: WaitSums,
}

impl WaitTotals {
    /// Adds as much of a wait as counts, with its causes in proportion.
    pub fn add(&mut self, states: &ThreadStates, wait: CountedWait, causes: &[StateDuration]) {
        let CountedWait { key, all, counted: sums } = wait;
        let counted = sums.waiting + sums.delay;
        if counted <= 0 {
            return;
        }
        let share = counted as f64 / all as f64;
        let all = self.waits.entry(key).or_default();
        all.count += sums.count;
        all.waiting += sums.waiting;
        all.delay += sums.delay;
        self.caused.resize(states.entries().len(), 0.0);
        for part in causes {
            self.caused[part.state.index()] += part.ns * share;
            let (thread, kind) = states.get(part.state);
            *self.pairs.entry((key.thread, thread)).or_default() += part.ns * share;
            let call = WaitCall { site: key.site, operation: key.operation };
            *self.places.entry((call, kind)).or_default() += part.ns * share;
        }
    }

    /// Adds the causes of a wait of which a `share` counts where a region's causing is asked for.
    pub fn add_in_any_region(&mut self, states: &ThreadStates, share: f64, causes: &[StateDuration]) {
        if share > 0.0 {
            for part in causes {
                *self.caused_in_any_region.entry(states.get(part.state)).or_default() += part.ns * share;
            }
        }
    }

    /// The sums.
    pub fn finish(self, states: &ThreadStates) -> WaitsAndCauses {
        let caused = states.entries().iter().copied().zip(self.caused.into_iter().map(ExactNs::from_f64));
        WaitsAndCauses {
            waits: self.waits.into_iter().collect(),
            causes: caused.filter(|&(_, ns)| ns != ExactNs::default()).collect(),
            pairs: self.pairs.into_iter().map(|(pair, ns)| (pair, ExactNs::from_f64(ns))).collect(),
            places: self.places.into_iter().map(|(place, ns)| (place, ExactNs::from_f64(ns))).collect(),
            causes_in_any_region: self
                .caused_in_any_region
                .into_iter()
                .map(|(state, ns)| (state, ExactNs::from_f64(ns)))
                .collect(),
        }
    }
}

/// The sums of a part of the run, as [`BlockingTimes`] has them of all of it.
#[derive(Debug, Encode, Decode)]
pub struct WaitsAndCauses {
    waits: BTreeMap<WaitKey, WaitSums>,
    causes: BTreeMap<(u32, RegionState), ExactNs>,
    pairs: BTreeMap<(u32, u32), ExactNs>,
    places: BTreeMap<(WaitCall, RegionState), ExactNs>,
    causes_in_any_region: BTreeMap<(u32, RegionState), ExactNs>,
}

impl WaitsAndCauses {
    /// Adds those of another part of the run.
    pub fn add(&mut self, other: WaitsAndCauses) {
        add_each(&mut self.waits, other.waits);
        add_each(&mut self.causes, other.causes);
        add_each(&mut self.pairs, other.pairs);
        add_each(&mut self.places, other.places);
        add_each(&mut self.causes_in_any_region, other.causes_in_any_region);
    }

    /// Returns the sums of the run.
    pub fn finish(self) -> BlockingTimes {
        BlockingTimes {
            waits: self.waits,
            causes: numbers(self.causes),
            pairs: numbers(self.pairs),
            places: numbers(self.places),
            causes_in_any_region: numbers(self.causes_in_any_region),
        }
    }
}

/// Adds values by key, the fewer to the more.
pub(super) fn add_each<K: Ord, V: Default + AddAssign>(all: &mut BTreeMap<K, V>, mut more: BTreeMap<K, V>) {
    if more.len() > all.len() {
        std::mem::swap(all, &mut more);
    }
    for (key, value) in more {
        *all.entry(key).or_default() += value;
    }
}

/// Sums by key as numbers.
fn numbers<K: Ord>(sums: BTreeMap<K, ExactNs>) -> BTreeMap<K, f64> {
    sums.into_iter().map(|(key, sum)| (key, sum.number())).collect()
}
