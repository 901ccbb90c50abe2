//! The run's index of a rank's region.

use std::collections::HashMap;

use crate::model::code::sites::CallSiteTable;
use crate::model::{Model, RegionIdx};
use crate::read::definitions::RankDefinitions;
use crate::structure::RunStructure;
use crate::structure::region_path::region_path;

/// Looks up regions and other objects by their ids in the run.
#[derive(Clone, Copy)]
pub struct RegionLookup<'a> {
    pub sites: &'a CallSiteTable,
    pub structure: &'a RunStructure,
    pub regions: &'a RegionTable,
}

/// Regions by the region around them and their name.
#[derive(Debug, Default)]
pub struct RegionTable(HashMap<(RegionIdx, String), RegionIdx>);

impl RegionTable {
    pub fn new(model: &Model) -> Self {
        let named = (1..).zip(model.regions.iter().skip(1));
        RegionTable(named.map(|(idx, region)| ((region.parent, region.name.clone()), idx)).collect())
    }
}

impl RegionLookup<'_> {
    /// Returns the index of a rank's region, or of the innermost region around it that the model has.
    pub fn region(&self, rank: u32, definitions: &RankDefinitions, number: u32) -> RegionIdx {
        let mut idx = 0;
        for part in region_path(self.structure, definitions, rank, number) {
            match self.regions.0.get(&(idx, part.name)) {
                Some(&found) => idx = found,
                None => break,
            }
        }
        idx
    }
}
