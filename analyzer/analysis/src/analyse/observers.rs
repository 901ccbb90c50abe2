//! The observers of the replay, for the page and the statistics.

use bincode::{Decode, Encode};

use crate::metrics::statistics::StatisticsObserver;
use crate::model::Model;
use crate::model::replayed::statistics::RunStatistics;
use crate::replay::{MatchedMessage, ReplayObserver, SegmentObserver, StateInterval, TeamInterval, TeamThreadInterval};
use crate::views::{TimelineObservations, TimelineObserver, TimelineView};

#[derive(Clone, Copy, Default, Encode, Decode)]
pub(crate) struct RequiredObservers {
    pub(crate) watch: bool,
    pub(crate) statistics: bool,
}

#[derive(Default)]
pub(crate) struct RunObservers<'a> {
    watch: Option<TimelineObserver<'a>>,
    statistics: Option<StatisticsObserver<'a>>,
}

impl<'a> RunObservers<'a> {
    pub(crate) fn new(model: &'a Model, wanted: RequiredObservers) -> Self {
        RunObservers {
            watch: Some(model).filter(|_| wanted.watch).and_then(TimelineObserver::new),
            statistics: Some(model).filter(|_| wanted.statistics).and_then(StatisticsObserver::new),
        }
    }

    pub(crate) fn required(&self) -> RequiredObservers {
        RequiredObservers { watch: self.watch.is_some(), statistics: self.statistics.is_some() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.watch.is_none() && self.statistics.is_none()
    }

    pub(crate) fn finish(self) -> (Option<TimelineView>, Option<RunStatistics>) {
        (self.watch.map(TimelineObserver::finish), self.statistics.map(StatisticsObserver::into_observations))
    }
}

impl ReplayObserver for RunObservers<'_> {
    fn on_interval(&mut self, state: &StateInterval) {
        if let Some(watch) = &mut self.watch {
            watch.on_interval(state);
        }
        if let Some(statistics) = &mut self.statistics {
            statistics.on_interval(state);
        }
    }

    fn on_message(&mut self, message: &MatchedMessage) {
        if let Some(watch) = &mut self.watch {
            watch.on_message(message);
        }
        if let Some(statistics) = &mut self.statistics {
            statistics.on_message(message);
        }
    }

    fn on_team(&mut self, team: &TeamInterval) {
        if let Some(watch) = &mut self.watch {
            watch.on_team(team);
        }
    }

    fn on_team_thread(&mut self, thread: &TeamThreadInterval) {
        if let Some(watch) = &mut self.watch {
            watch.on_team_thread(thread);
        }
    }
}

impl SegmentObserver for RunObservers<'_> {
    type Observations = (Option<TimelineObservations>, Option<RunStatistics>);

    fn fork(&self) -> Self {
        RunObservers {
            watch: self.watch.as_ref().map(TimelineObserver::fork),
            statistics: self.statistics.as_ref().map(StatisticsObserver::fork),
        }
    }

    fn merge(&mut self, later: Self::Observations) {
        if let (Some(watch), Some(later)) = (&mut self.watch, later.0) {
            watch.merge(later);
        }
        if let (Some(statistics), Some(later)) = (&mut self.statistics, later.1) {
            statistics.merge(later);
        }
    }

    fn into_observations(self) -> Self::Observations {
        let watched = self.watch.map(TimelineObserver::into_observations);
        (watched, self.statistics.map(StatisticsObserver::into_observations))
    }
}
