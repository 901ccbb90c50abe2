//! Regions of a trace by number: regions of the run, MPI functions, and other time.

use std::collections::HashMap;

use lbprof_analysis::model::Model;
use lbprof_analysis::profile::operation_name;
use lbprof_collector::CoreState;
use lbprof_report::rows::words::escape_name;

use super::library::{MPI, Ref};
use super::operations::{ARTIFICIAL, CODE, FUNCTION, region_role};

/// Values of `OTF2_Paradigm`.
pub const USER: u8 = 1;
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

/// The regions that are used, by number. The first ones are the regions of the model.
#[derive(Default)]
pub struct TraceRegions {
    /// The regions.
    pub regions: Vec<TraceRegion>,
    others: HashMap<String, Ref>,
}

impl TraceRegions {
    /// Numbers the regions of a model.
    pub fn new(model: &Model) -> TraceRegions {
        let regions = model.regions.iter().map(|region| TraceRegion {
            name: escape_name(&region.name),
            role: if region.is_code { FUNCTION } else { CODE },
            paradigm: USER,
        });
        TraceRegions { regions: regions.collect(), ..TraceRegions::default() }
    }

    /// Returns the region of calls of an MPI function.
    pub fn call(&mut self, operation: u16) -> Ref {
        self.number(format!("MPI_{}", operation_name(operation)), region_role(operation), MPI)
    }

    /// Returns the region of computation in a state that was recorded.
    pub fn core_state(&mut self, state: CoreState) -> Ref {
        self.number(state.name().to_owned(), state.otf2_role(), USER)
    }

    /// Returns the region of time that is neither the program's nor MPI's.
    pub fn artificial(&mut self, name: &str) -> Ref {
        self.number(name.to_owned(), ARTIFICIAL, MEASUREMENT_SYSTEM)
    }

    fn number(&mut self, name: String, role: u8, paradigm: u8) -> Ref {
        *self.others.entry(name).or_insert_with_key(|name| {
            self.regions.push(TraceRegion { name: name.clone(), role, paradigm });
            self.regions.len() as Ref - 1
        })
    }
}
