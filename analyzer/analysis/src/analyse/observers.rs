//! Those who want to know what ranks do while they are followed, for the page and the statistics.

use bincode::{Decode, Encode};

use super::AnalysisOptions;
use crate::metrics::statistics::StatisticsObserver;
use crate::model::Model;
use crate::model::statistics::RunStatistics;
use crate::replay::{MatchedMessage, ObserverState, ReplayObserver, SegmentObserver, StateInterval};
use crate::transport::codec::{decoded, encoded};
use crate::views::{TimelineObserver, TimelineView};

/// Which of them there are.
#[derive(Clone, Copy, Default, Encode, Decode)]
pub(super) struct RequiredObservers {
    watch: bool,
    statistics: bool,
}

impl RequiredObservers {
    /// Those that serve what the user wants.
    pub(super) fn of(options: &AnalysisOptions) -> Self {
        RequiredObservers { watch: options.watch, statistics: options.statistics }
    }
}

/// Those who want to know what ranks do while they are followed.
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

    /// What they have seen, if ranks were followed.
    pub(super) fn finish(self, are_followed: bool) -> (Option<TimelineView>, Option<RunStatistics>) {
        (
            self.watch.filter(|_| are_followed).map(TimelineObserver::finish),
            self.statistics.filter(|_| are_followed).map(StatisticsObserver::finish),
        )
    }
}

impl ReplayObserver for RunObservers<'_> {
    fn spends(&mut self, state: &StateInterval) {
        self.watch.iter_mut().for_each(|watch| watch.spends(state));
        self.statistics.iter_mut().for_each(|statistics| statistics.spends(state));
    }

    fn receives(&mut self, message: &MatchedMessage) {
        self.watch.iter_mut().for_each(|watch| watch.receives(message));
        self.statistics.iter_mut().for_each(|statistics| statistics.receives(message));
    }

    fn of_segment(&self) -> Option<Box<dyn SegmentObserver + '_>> {
        let watchers = [
            self.watch.as_ref().map(ReplayObserver::of_segment),
            self.statistics.as_ref().map(ReplayObserver::of_segment),
        ];
        Some(Box::new(SegmentObservers(watchers.map(Option::flatten))))
    }

    fn add(&mut self, seen: ObserverState) {
        let Some([watched, statistics]) = decoded::<[Option<ObserverState>; 2]>(&seen) else { return };
        self.watch.iter_mut().zip(watched).for_each(|(watch, seen)| watch.add(seen));
        self.statistics.iter_mut().zip(statistics).for_each(|(statistics, seen)| statistics.add(seen));
    }
}

/// The watchers of a segment, in the order of [`RunObservers`].
struct SegmentObservers<'a>([Option<Box<dyn SegmentObserver + 'a>>; 2]);

impl ReplayObserver for SegmentObservers<'_> {
    fn spends(&mut self, state: &StateInterval) {
        self.0.iter_mut().flatten().for_each(|watcher| watcher.spends(state));
    }

    fn receives(&mut self, message: &MatchedMessage) {
        self.0.iter_mut().flatten().for_each(|watcher| watcher.receives(message));
    }

    fn add(&mut self, seen: ObserverState) {
        let Some(seen) = decoded::<[Option<ObserverState>; 2]>(&seen) else { return };
        let own = self.0.iter_mut().zip(seen).filter_map(|(watcher, seen)| watcher.as_mut().zip(seen));
        own.for_each(|(watcher, seen)| watcher.add(seen));
    }
}

impl SegmentObserver for SegmentObservers<'_> {
    fn seen(self: Box<Self>) -> ObserverState {
        encoded(&self.0.map(|watcher| watcher.map(SegmentObserver::seen)))
    }
}
