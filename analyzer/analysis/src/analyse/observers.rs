//! The observers of the replay, for the page and the statistics.

use bincode::{Decode, Encode};

use super::AnalysisOptions;
use crate::metrics::statistics::StatisticsObserver;
use crate::model::Model;
use crate::model::statistics::RunStatistics;
use crate::replay::{
    MatchedMessage, ObserverState, ReplayObserver, SegmentObserver, StateInterval, TeamInterval, TeamThreadInterval,
};
use crate::transport::codec::{decoded, encoded};
use crate::views::{TimelineObserver, TimelineView};

/// The observers that the user's options require.
#[derive(Clone, Copy, Default, Encode, Decode)]
pub(super) struct RequiredObservers {
    watch: bool,
    statistics: bool,
}

impl RequiredObservers {
    /// Returns the observers that `options` require.
    pub(super) fn from_options(options: &AnalysisOptions) -> Self {
        RequiredObservers { watch: options.watch, statistics: options.statistics }
    }
}

/// The observers of a whole run.
#[derive(Default)]
pub(super) struct RunObservers<'a> {
    watch: Option<TimelineObserver<'a>>,
    statistics: Option<StatisticsObserver<'a>>,
}

impl<'a> RunObservers<'a> {
    /// Of the ranks of `model`.
    pub(super) fn new(model: &'a Model, wanted: RequiredObservers) -> Self {
        RunObservers {
            watch: Some(model).filter(|_| wanted.watch).and_then(TimelineObserver::new),
            statistics: Some(model).filter(|_| wanted.statistics).and_then(StatisticsObserver::new),
        }
    }

    /// Itself, if there is one.
    pub(super) fn any(&mut self) -> Option<&mut dyn ReplayObserver> {
        (self.watch.is_some() || self.statistics.is_some()).then_some(self as &mut dyn ReplayObserver)
    }

    /// Returns the observations, if ranks were replayed.
    pub(super) fn finish(self, are_followed: bool) -> (Option<TimelineView>, Option<RunStatistics>) {
        (
            self.watch.filter(|_| are_followed).map(TimelineObserver::finish),
            self.statistics.filter(|_| are_followed).map(StatisticsObserver::finish),
        )
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

    fn fork_for_segment(&self) -> Option<Box<dyn SegmentObserver + '_>> {
        let observers = [
            self.watch.as_ref().map(ReplayObserver::fork_for_segment),
            self.statistics.as_ref().map(ReplayObserver::fork_for_segment),
        ];
        Some(Box::new(SegmentObservers(observers.map(Option::flatten))))
    }

    fn merge(&mut self, seen: ObserverState) {
        let Some([watched, statistics]) = decoded::<[Option<ObserverState>; 2]>(&seen) else { return };
        for (watch, seen) in self.watch.iter_mut().zip(watched) {
            watch.merge(seen);
        }
        for (statistics, seen) in self.statistics.iter_mut().zip(statistics) {
            statistics.merge(seen);
        }
    }
}

/// The observers of a segment, in the order of [`RunObservers`].
struct SegmentObservers<'a>([Option<Box<dyn SegmentObserver + 'a>>; 2]);

impl ReplayObserver for SegmentObservers<'_> {
    fn on_interval(&mut self, state: &StateInterval) {
        for observer in self.0.iter_mut().flatten() {
            observer.on_interval(state);
        }
    }

    fn on_message(&mut self, message: &MatchedMessage) {
        for observer in self.0.iter_mut().flatten() {
            observer.on_message(message);
        }
    }

    fn on_team(&mut self, team: &TeamInterval) {
        for observer in self.0.iter_mut().flatten() {
            observer.on_team(team);
        }
    }

    fn on_team_thread(&mut self, thread: &TeamThreadInterval) {
        for observer in self.0.iter_mut().flatten() {
            observer.on_team_thread(thread);
        }
    }

    fn merge(&mut self, seen: ObserverState) {
        let Some(seen) = decoded::<[Option<ObserverState>; 2]>(&seen) else { return };
        let own = self.0.iter_mut().zip(seen).filter_map(|(observer, seen)| observer.as_mut().zip(seen));
        for (observer, seen) in own {
            observer.merge(seen);
        }
    }
}

impl SegmentObserver for SegmentObservers<'_> {
    fn into_state(self: Box<Self>) -> ObserverState {
        encoded(&self.0.map(|observer| observer.map(SegmentObserver::into_state)))
    }
}
