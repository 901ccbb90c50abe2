//! Replays a part of a run for an export.

use crate::model::{Model, RegionIdx};
use crate::replay::ReplayObserver;
use crate::select::SelectionError;
use crate::structure::code::symbols::CodePlace;

/// The part of a run that is exported.
#[derive(Clone, Copy)]
pub struct ExportSelection<'a> {
    /// Its model: ranks are numbered by place in it, regions, call sites and communicators by index. Times are since its begin.
    pub model: &'a Model,
    /// The places of its call sites.
    pub places: &'a [CodePlace],
    /// The region that alone is wanted.
    pub region: Option<RegionIdx>,
}

impl ExportSelection<'_> {
    /// Calls in the part, of all threads.
    pub fn calls(&self) -> u64 {
        let sites = self.model.ranks.iter().flat_map(|rank| rank.sites.iter().chain(&rank.other_sites));
        sites
            .filter(|(key, _)| self.region.is_none_or(|wanted| self.model.chain(key.region).contains(&wanted)))
            .fold(0, |sum: u64, (_, cell)| sum.saturating_add(cell.calls))
    }
}

/// A file of what ranks do when. All that it gets comes from [`ReplayObserver`], in the order in which ranks are followed: of a thread that is the order
/// of time. Its memory must not grow with events.
pub trait EventExport: ReplayObserver {
    /// Before anything else: what the part has.
    ///
    /// Errors: it cannot be made of that.
    fn on_start(&mut self, part: &ExportSelection) -> Result<(), SelectionError>;
}
