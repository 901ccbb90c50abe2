//! The tables that verdict and losses are made from.

use crate::balance::clusters::ClusterTable;
use crate::balance::efficiency::EfficiencyRow;
use crate::balance::overheads::OverheadTable;
use crate::code::call_sites;
use crate::code::call_sites::SiteRow;
use crate::code::functions::SampledFunctions;
use crate::code::regions;
use crate::code::regions::RegionRow;
use crate::time::iterations::IterationTable;
use crate::time::loops::LoopTable;
use crate::waiting::blocking::BlockingTable;
use crate::waiting::what_if::WhatIfTable;
use lbprof_analysis::model::Model;
use lbprof_analysis::structure::code::symbols::ResolvedNames;

/// The tables that verdict and losses are made from.
pub(crate) struct BaseTables<'a> {
    pub(crate) efficiency: EfficiencyRow,
    pub(crate) call_sites: Vec<SiteRow>,
    pub(crate) regions: Vec<RegionRow>,
    pub(crate) clusters: ClusterTable,
    pub(crate) loops: LoopTable,
    /// True if the iterations of all ranks are certain.
    pub(crate) is_sure: bool,
    pub(crate) overheads: OverheadTable,
    pub(crate) blocking: Option<BlockingTable>,
    pub(crate) what_if: WhatIfTable,
    pub(crate) iterations: Option<IterationTable>,
    /// The functions of all ranks.
    pub(crate) functions: Option<SampledFunctions<'a>>,
}

impl<'a> BaseTables<'a> {
    pub(crate) fn new(model: &'a Model, names: &'a ResolvedNames, most_iterations: usize) -> BaseTables<'a> {
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
