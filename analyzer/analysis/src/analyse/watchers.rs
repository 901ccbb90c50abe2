//! Those who want to know what ranks do while they are followed, for the page and the statistics.

use bincode::{Decode, Encode};

use super::Options;
use crate::metrics::statistics::StatisticsWatcher;
use crate::model::Model;
use crate::model::statistics::Statistics;
use crate::replay::{Message, Seen, SegmentWatcher, StateInterval, Watcher};
use crate::transport::codec::{decoded, encoded};
use crate::views::{Watch, Watched};

/// Which of them there are.
#[derive(Clone, Copy, Default, Encode, Decode)]
pub(super) struct WantedWatchers {
    watch: bool,
    statistics: bool,
}

impl WantedWatchers {
    /// Those that serve what the user wants.
    pub(super) fn of(options: &Options) -> Self {
        WantedWatchers { watch: options.watch, statistics: options.statistics }
    }
}

/// Those who want to know what ranks do while they are followed.
#[derive(Default)]
pub(super) struct Watchers<'a> {
    watch: Option<Watch<'a>>,
    statistics: Option<StatisticsWatcher<'a>>,
}

impl<'a> Watchers<'a> {
    /// Of the ranks of `model`.
    pub(super) fn new(model: &'a Model, wanted: WantedWatchers) -> Self {
        Watchers {
            watch: Some(model).filter(|_| wanted.watch).and_then(Watch::new),
            statistics: Some(model).filter(|_| wanted.statistics).and_then(StatisticsWatcher::new),
        }
    }

    /// Itself, if there is one.
    pub(super) fn any(&mut self) -> Option<&mut dyn Watcher> {
        (self.watch.is_some() || self.statistics.is_some()).then_some(self as &mut dyn Watcher)
    }

    /// What they have seen, if ranks were followed.
    pub(super) fn finish(self, are_followed: bool) -> (Option<Watched>, Option<Statistics>) {
        (
            self.watch.filter(|_| are_followed).map(Watch::finish),
            self.statistics.filter(|_| are_followed).map(StatisticsWatcher::finish),
        )
    }
}

impl Watcher for Watchers<'_> {
    fn spends(&mut self, state: &StateInterval) {
        self.watch.iter_mut().for_each(|watch| watch.spends(state));
        self.statistics.iter_mut().for_each(|statistics| statistics.spends(state));
    }

    fn receives(&mut self, message: &Message) {
        self.watch.iter_mut().for_each(|watch| watch.receives(message));
        self.statistics.iter_mut().for_each(|statistics| statistics.receives(message));
    }

    fn of_segment(&self) -> Option<Box<dyn SegmentWatcher + '_>> {
        let watchers =
            [self.watch.as_ref().map(Watcher::of_segment), self.statistics.as_ref().map(Watcher::of_segment)];
        Some(Box::new(Watching(watchers.map(Option::flatten))))
    }

    fn add(&mut self, seen: Seen) {
        let Some([watched, statistics]) = decoded::<[Option<Seen>; 2]>(&seen) else { return };
        self.watch.iter_mut().zip(watched).for_each(|(watch, seen)| watch.add(seen));
        self.statistics.iter_mut().zip(statistics).for_each(|(statistics, seen)| statistics.add(seen));
    }
}

/// The watchers of a segment, in the order of [`Watchers`].
struct Watching<'a>([Option<Box<dyn SegmentWatcher + 'a>>; 2]);

impl Watcher for Watching<'_> {
    fn spends(&mut self, state: &StateInterval) {
        self.0.iter_mut().flatten().for_each(|watcher| watcher.spends(state));
    }

    fn receives(&mut self, message: &Message) {
        self.0.iter_mut().flatten().for_each(|watcher| watcher.receives(message));
    }

    fn add(&mut self, seen: Seen) {
        let Some(seen) = decoded::<[Option<Seen>; 2]>(&seen) else { return };
        let own = self.0.iter_mut().zip(seen).filter_map(|(watcher, seen)| watcher.as_mut().zip(seen));
        own.for_each(|(watcher, seen)| watcher.add(seen));
    }
}

impl SegmentWatcher for Watching<'_> {
    fn seen(self: Box<Self>) -> Seen {
        encoded(&self.0.map(|watcher| watcher.map(SegmentWatcher::seen)))
    }
}
