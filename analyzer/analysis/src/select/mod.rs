//! The part of a run that everything is computed from: ranks, a window of time or iterations, a region.
//!
//! A [`Selection`] is the user's request. Ranks narrow the [`RecordedRun`] itself, so that only their logs are read. Wait states take all
//! logs.

mod error;
pub mod names;
pub mod ranks;
pub mod region;
pub mod scenario;
pub mod spans;
mod threads;

use std::collections::BTreeMap;

use crate::model::Model;
use crate::model::run::moment::WindowBoundary;
use crate::read::open::RecordedRun;
use crate::structure::survey::CallSurvey;

pub use error::SelectionError;
pub use ranks::RankSet;

/// The part of a run that a user selects; all of the run by default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// Only these ranks.
    pub ranks: Option<RankSet>,
    /// Only the time from here on.
    pub from: Option<WindowBoundary>,
    /// Only the time up to here.
    pub to: Option<WindowBoundary>,
    /// Only this region, by its name.
    pub region: Option<String>,
}

impl Selection {
    /// Returns whether it leaves nothing out.
    pub fn is_all(&self) -> bool {
        *self == Selection::default()
    }

    /// Returns whether the whole run must be analysed before the selected part is known.
    pub fn needs_all(&self) -> bool {
        self.from.is_some() || self.to.is_some() || self.needs_clusters()
    }

    /// Returns whether it names clusters of ranks.
    pub fn needs_clusters(&self) -> bool {
        self.ranks.as_ref().is_some_and(RankSet::needs_clusters)
    }

    /// Returns `run` with the selected ranks alone. `clusters`: numbers of clusters and their ranks.
    ///
    /// Errors: see [`RankSet::resolve`].
    pub fn ranks_of(&self, run: &RecordedRun, clusters: &[(u32, Vec<u32>)]) -> Result<RecordedRun, SelectionError> {
        match &self.ranks {
            None => Ok(run.clone()),
            Some(set) => Ok(run.with_ranks(&set.resolve(run, clusters)?)),
        }
    }

    /// Returns `run` with the selected ranks and time alone. `survey` and `all` cover the whole run.
    ///
    /// Errors: see [`RankSet::resolve`] and [`spans::window_spans`].
    pub fn part_of(
        &self,
        run: &RecordedRun,
        survey: &CallSurvey,
        all: &Model,
        clusters: &[(u32, Vec<u32>)],
    ) -> Result<RecordedRun, SelectionError> {
        let part = self.ranks_of(run, clusters)?;
        let has_window = self.from.is_some() || self.to.is_some();
        let spans = if has_window { spans::window_spans(all, survey, self.from, self.to)? } else { BTreeMap::new() };
        Ok(part.with_spans(spans))
    }
}
