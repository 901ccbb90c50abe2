//! Sums of waits and of their causes.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use bincode::{Decode, Encode};
use rustc_hash::FxHashMap;

use super::history::StateDuration;
use super::states::ThreadStates;
use crate::model::code::region_state::{Ns, RegionState};
use crate::model::ranks::exact_sum::ExactNs;
use crate::model::replayed::waits::{BlockingTimes, WaitCall, WaitKey, WaitSums};

#[derive(Debug, Default)]
pub(super) struct WaitTotals {
    waits: FxHashMap<WaitKey, WaitSums>,
    /// Nanoseconds that the first thread waited because of the second.
    pairs: FxHashMap<(u32, u32), f64>,
    /// Nanoseconds waited in calls because of a kind of time.
    places: FxHashMap<(WaitCall, RegionState), f64>,
    caused: Vec<f64>,
    /// Causes of waits in all regions, if one is selected.
    caused_in_any_region: FxHashMap<(u32, RegionState), f64>,
}

impl WaitTotals {
    /// Adds the `counted` part of a wait of `length`, with its causes in proportion.
    pub fn add(
        &mut self,
        states: &ThreadStates,
        key: WaitKey,
        length: Ns,
        counted: WaitSums,
        causes: &[StateDuration],
    ) {
        let counted_ns = counted.waiting + counted.delay;
        if counted_ns <= 0 {
            return;
        }
        let share = counted_ns as f64 / length as f64;
        *self.waits.entry(key).or_default() += counted;
        self.caused.resize(states.entries().len(), 0.0);
        for part in causes {
            self.caused[part.state.index()] += part.ns * share;
            let (thread, kind) = states.get(part.state);
            *self.pairs.entry((key.thread, thread)).or_default() += part.ns * share;
            let call = WaitCall { site: key.site, operation: key.operation };
            *self.places.entry((call, kind)).or_default() += part.ns * share;
        }
    }

    /// Adds `share` of the causes of a wait, if a region is selected.
    pub fn add_in_any_region(&mut self, states: &ThreadStates, share: f64, causes: &[StateDuration]) {
        if share > 0.0 {
            for part in causes {
                *self.caused_in_any_region.entry(states.get(part.state)).or_default() += part.ns * share;
            }
        }
    }

    pub fn finish(self, states: &ThreadStates) -> WaitsAndCauses {
        let mut causes = exact_sums(states.entries().iter().copied().zip(self.caused));
        causes.retain(|_, ns| *ns != ExactNs::default());
        WaitsAndCauses {
            waits: self.waits.into_iter().collect(),
            causes,
            pairs: exact_sums(self.pairs),
            places: exact_sums(self.places),
            causes_in_any_region: exact_sums(self.caused_in_any_region),
        }
    }
}

#[derive(Debug, Encode, Decode)]
pub struct WaitsAndCauses {
    waits: BTreeMap<WaitKey, WaitSums>,
    causes: BTreeMap<(u32, RegionState), ExactNs>,
    pairs: BTreeMap<(u32, u32), ExactNs>,
    places: BTreeMap<(WaitCall, RegionState), ExactNs>,
    causes_in_any_region: BTreeMap<(u32, RegionState), ExactNs>,
}

impl WaitsAndCauses {
    pub fn add(&mut self, other: WaitsAndCauses) {
        add_each(&mut self.waits, other.waits);
        add_each(&mut self.causes, other.causes);
        add_each(&mut self.pairs, other.pairs);
        add_each(&mut self.places, other.places);
        add_each(&mut self.causes_in_any_region, other.causes_in_any_region);
    }

    pub fn finish(self) -> BlockingTimes {
        BlockingTimes {
            waits: self.waits,
            causes: to_numbers(self.causes),
            pairs: to_numbers(self.pairs),
            places: to_numbers(self.places),
            causes_in_any_region: to_numbers(self.causes_in_any_region),
        }
    }
}

pub(super) fn add_each<K: Ord, V: Default + AddAssign>(all: &mut BTreeMap<K, V>, mut more: BTreeMap<K, V>) {
    if more.len() > all.len() {
        std::mem::swap(all, &mut more);
    }
    for (key, value) in more {
        *all.entry(key).or_default() += value;
    }
}

fn exact_sums<K: Ord>(sums: impl IntoIterator<Item = (K, f64)>) -> BTreeMap<K, ExactNs> {
    sums.into_iter().map(|(key, ns)| (key, ExactNs::from_f64(ns))).collect()
}

fn to_numbers<K: Ord>(sums: BTreeMap<K, ExactNs>) -> BTreeMap<K, f64> {
    sums.into_iter().map(|(key, sum)| (key, sum.number())).collect()
}
