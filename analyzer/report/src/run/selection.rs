//! The part of the run that all figures are of.

use serde::Serialize;

use crate::rows::bounds::{ListBounds, first_entries};
use lbprof_analysis::model::run::moment::WindowBoundary;
use lbprof_analysis::model::run::selected::SelectedPart;

/// The selected part of a run; what was not restricted is null.
#[derive(Clone, Debug, Serialize, crate::JsonSchema)]
pub struct SelectionRow<'a> {
    /// Number of selected ranks, including those without a log.
    pub rank_count: Option<usize>,
    /// The selected ranks, ascending; the first 1,000 unless `--full` is given.
    pub ranks: Option<&'a [u32]>,
    /// Path of the selected region.
    pub region: Option<&'a str>,
    /// Start of the selected time, from the start of the run.
    pub from_s: Option<f64>,
    /// The first iteration of the main loop in it.
    pub from_iteration: Option<u32>,
    /// Its end.
    pub to_s: Option<f64>,
    /// The last iteration in it.
    pub to_iteration: Option<u32>,
}

impl<'a> SelectionRow<'a> {
    /// Returns `None` for the whole run.
    pub(crate) fn new(selected: &'a SelectedPart, bounds: &ListBounds) -> Option<SelectionRow<'a>> {
        (!selected.is_all()).then(|| SelectionRow {
            rank_count: selected.ranks.as_ref().map(Vec::len),
            ranks: selected.ranks.as_deref().map(|ranks| first_entries(ranks, bounds.entries)),
            region: selected.region.as_deref(),
            from_s: selected.from.and_then(WindowBoundary::seconds),
            from_iteration: selected.from.and_then(WindowBoundary::iteration),
            to_s: selected.to.and_then(WindowBoundary::seconds),
            to_iteration: selected.to.and_then(WindowBoundary::iteration),
        })
    }
}
