//! Replays a part of a run for an export.

use crate::model::{Model, RegionIdx};
use crate::replay::{EndedRequest, MatchedMessage, ReplayObserver, StateInterval, TeamInterval, TeamThreadInterval};
use crate::select::SelectionError;
use crate::structure::symbols::CodePlace;

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

    /// After the ranks were followed: whether it needs to see all of it once more.
    fn again(&mut self) -> bool {
        false
    }
}

/// Passes on what lies in a region.
pub struct RegionObserver<'a> {
    format: &'a mut dyn EventExport,
    /// By index of the region, whether it is or lies in the one that is wanted; `None`: all are.
    regions: Option<Vec<bool>>,
    /// True if the interval that came last does.
    inside: bool,
}

impl<'a> RegionObserver<'a> {
    /// Passes to `format` what lies in the region of `part`.
    pub fn new(part: &ExportSelection, format: &'a mut dyn EventExport) -> Self {
        let regions = part.region.map(|region| {
            (0..part.model.regions.len() as u32).map(|idx| part.model.chain(idx).contains(&region)).collect()
        });
        RegionObserver { format, regions, inside: false }
    }
}

impl ReplayObserver for RegionObserver<'_> {
    fn on_interval(&mut self, state: &StateInterval) {
        self.inside =
            self.regions.as_ref().is_none_or(|regions| regions.get(state.kind.region() as usize) == Some(&true));
        if self.inside {
            self.format.on_interval(state);
        }
    }

    fn on_team(&mut self, team: &TeamInterval) {
        if self.inside {
            self.format.on_team(team);
        }
    }

    fn on_team_thread(&mut self, thread: &TeamThreadInterval) {
        if self.inside {
            self.format.on_team_thread(thread);
        }
    }

    fn on_message(&mut self, message: &MatchedMessage) {
        if self.inside {
            self.format.on_message(message);
        }
    }

    fn on_request_end(&mut self, ended: &EndedRequest) {
        if self.inside {
            self.format.on_request_end(ended);
        }
    }
}
