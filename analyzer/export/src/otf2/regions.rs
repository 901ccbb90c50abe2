//! Regions of a trace by number: those of the run, MPI functions, and time that is neither.

use std::collections::HashMap;

use lbprof_analysis::model::Model;
use lbprof_analysis::profile::operation_name;
use lbprof_collector::CoreState;
use lbprof_report::words::clean;

use super::library::Ref;
use super::operations::{ARTIFICIAL, CODE, FUNCTION, region_role};

/// Values of `OTF2_Paradigm`.
pub const USER: u8 = 1;
pub const MPI: u8 = 4;
const MEASUREMENT_SYSTEM: u8 = 6;

/// A region of a trace.
pub struct TraceRegion {
    /// Its name.
    pub name: String,
    /// The value of `OTF2_RegionRole`.
    pub role: u8,
    /// The value of `OTF2_Paradigm`.
    pub paradigm: u8,
}

/// The regions that are used, by number. The first ones are those of the model.
#[derive(Default)]
pub struct TraceRegions {
    /// The regions.
    pub regions: Vec<TraceRegion>,
    calls: HashMap<u16, Ref>,
    core_states: HashMap<CoreState, Ref>,
    recorder: Option<Ref>,
    not_recorded: Option<Ref>,
}

impl TraceRegions {
    /// Numbers the regions of a model.
    pub fn new(model: &Model) -> TraceRegions {
        let regions = model.regions.iter().map(|region| TraceRegion {
            name: clean(&region.name),
            role: if region.is_code { FUNCTION } else { CODE },
            paradigm: USER,
        });
        TraceRegions { regions: regions.collect(), ..TraceRegions::default() }
    }

    /// Returns the region of calls of an MPI function.
    pub fn call(&mut self, operation: u16) -> Ref {
        *self.calls.entry(operation).or_insert_with(|| {
            let name = format!("MPI_{}", operation_name(operation));
            append(&mut self.regions, TraceRegion { name, role: region_role(operation), paradigm: MPI })
        })
    }

    /// Returns the region of computation in a state that was recorded.
    pub fn core_state(&mut self, state: CoreState) -> Ref {
        *self.core_states.entry(state).or_insert_with(|| {
            let name = state.name().to_owned();
            append(&mut self.regions, TraceRegion { name, role: state.otf2_role(), paradigm: USER })
        })
    }

    /// Returns the region of the recorder's own time.
    pub fn recorder(&mut self) -> Ref {
        *self.recorder.get_or_insert_with(|| artificial(&mut self.regions, "lbprof"))
    }

    /// Returns the region of time that no record covers.
    pub fn not_recorded(&mut self) -> Ref {
        *self.not_recorded.get_or_insert_with(|| artificial(&mut self.regions, "not recorded"))
    }
}

fn artificial(regions: &mut Vec<TraceRegion>, name: &str) -> Ref {
    append(regions, TraceRegion { name: name.to_owned(), role: ARTIFICIAL, paradigm: MEASUREMENT_SYSTEM })
}

/// Appends a region, and returns its number.
fn append(regions: &mut Vec<TraceRegion>, region: TraceRegion) -> Ref {
    regions.push(region);
    regions.len() as Ref - 1
}
