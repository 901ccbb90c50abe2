//! The tables that verdict and losses are made from.

use super::blocking::BlockingTable;
use super::call_sites::{self, SiteRow};
use super::clusters::ClusterTable;
use super::efficiency::EfficiencyRow;
use super::functions::SampledFunctions;
use super::iterations::IterationTable;
use super::loops::LoopTable;
use super::overheads::OverheadTable;
use super::regions::{self, RegionRow};
use super::what_if::WhatIfTable;
use lbprof_analysis::model::Model;
use lbprof_analysis::structure::symbols::ResolvedNames;

/// The tables that verdict and losses are made from.
pub(super) struct BaseTables<'a> {
    pub(super) efficiency: EfficiencyRow,
    pub(super) call_sites: Vec<SiteRow>,
    pub(super) regions: Vec<RegionRow>,
    pub(super) clusters: ClusterTable,
    pub(super) loops: LoopTable,
    /// True if the iterations of all ranks are certain.
    pub(super) is_sure: bool,
    pub(super) overheads: OverheadTable,
    pub(super) blocking: Option<BlockingTable>,
    pub(super) what_if: WhatIfTable,
    pub(super) iterations: Option<IterationTable>,
    /// The functions of all ranks.
    pub(super) functions: Option<SampledFunctions<'a>>,
}

impl<'a> BaseTables<'a> {
    pub(super) fn new(model: &'a Model, names: &'a ResolvedNames, most_iterations: usize) -> BaseTables<'a> {
        let places = names.places.as_slice();
        let efficiency = EfficiencyRow::new(model, 0);
        // The calls in a single region do not show whether ranks run the same code.
        let mut clusters =
            ClusterTable { of: vec![None; model.ranks.len()], iterate_together: true, ..ClusterTable::default() };
        if model.facts.selected.region.is_none() {
            clusters = ClusterTable::new(model, places);
        }
        let loops = LoopTable::new(model, places);
        let ranks: Vec<u32> = model.ranks.iter().map(|rank| rank.rank).collect();
        let is_sure = loops.are_sure_of(&ranks);
        let overheads = OverheadTable::new(model, &efficiency, is_sure);
        BaseTables {
            efficiency,
            call_sites: call_sites::call_site_rows(model, places),
            regions: regions::region_rows(model),
            loops,
            is_sure,
            blocking: BlockingTable::new(model, places, &overheads.imbalance),
            overheads,
            what_if: WhatIfTable::new(model, &clusters),
            clusters,
            iterations: IterationTable::new(model, most_iterations),
            functions: SampledFunctions::new(model, &names.sampled),
        }
    }
}
