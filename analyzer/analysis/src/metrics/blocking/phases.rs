//! The cost of a phase: its own time, and the waiting that it causes.

use std::collections::BTreeMap;

use super::CauseClass;
use super::own::OwnTimes;
use crate::model::code::region_state::RegionState;
use crate::model::{Region, RegionIdx};
use serde::Serialize;

/// A phase of the program, all ranks together, and the waiting that it causes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PhaseCost {
    /// The region.
    #[serde(skip)]
    pub region: RegionIdx,
    /// The class of what is done in it.
    pub class: CauseClass,
    /// Time that it takes itself, without waiting; of message delays the communication in the region.
    pub own_s: f64,
    /// Waiting that it causes.
    pub caused_s: f64,
}

impl PhaseCost {
    /// β: waiting caused for each second of the phase (eq. 7); `None` where it takes no time.
    pub fn beta(&self) -> Option<f64> {
        (self.own_s > 0.0).then(|| self.caused_s / self.own_s)
    }

    /// Returns the total cost: own time and waiting that it causes.
    pub fn total_s(&self) -> f64 {
        let own = if self.class == CauseClass::MessageDelay { 0.0 } else { self.own_s };
        own + self.caused_s
    }
}

/// The phases: region and class, all ranks together, the most expensive first, of what ranks did and of what caused waiting, by (world
/// rank, kind).
pub(super) fn phase_costs(
    regions: &[Region],
    own: &OwnTimes,
    caused: &BTreeMap<(u32, RegionState), f64>,
) -> Vec<PhaseCost> {
    let mut phases: BTreeMap<(RegionIdx, CauseClass), (f64, f64)> = BTreeMap::new();
    for (kind, own_s) in own.iter() {
        phases.entry((kind.region(), CauseClass::classify(regions, kind))).or_default().0 += own_s;
    }
    for (&(_, kind), &caused_s) in caused {
        phases.entry((kind.region(), CauseClass::classify(regions, kind))).or_default().1 += caused_s;
    }
    let costs = phases.iter().map(|(&(region, class), &(own_s, caused_s))| {
        let communication =
            phases.get(&(region, CauseClass::Communication)).filter(|_| class == CauseClass::MessageDelay);
        let own_s = communication.map_or(own_s, |phase| phase.0);
        PhaseCost { region, class, own_s, caused_s }
    });
    let mut costs: Vec<PhaseCost> = costs.collect();
    costs.sort_by(|a, b| b.total_s().total_cmp(&a.total_s()).then((a.region, a.class).cmp(&(b.region, b.class))));
    costs
}
