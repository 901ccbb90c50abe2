//! The scope of a replay: the part of a run in which waits are counted and to which predictions refer. All ranks are replayed from their
//! begin in any case, because a wait in the scope may be for ranks outside of it, or for work done before it.

use std::collections::BTreeMap;

use lbprof_collector::record::NONE;

use super::observer::{
    EndedRequest, InitialWait, MatchedMessage, ReplayObserver, SegmentObserver, StateInterval, TeamInterval,
    TeamThreadInterval,
};
use crate::model::code::region_state::{Ns, RegionState};
use crate::model::ranks::interval::TimeInterval;
use crate::model::replayed::replay_results::ReplayedThread;
use crate::model::{Model, RankModel, RegionIdx};
use crate::read::open::RecordedRun;
use crate::structure::survey::CallSurvey;

/// A part of a run: ranks, a window of time of each, a region.
#[derive(Clone, Debug)]
pub struct ReplayScope {
    /// Begin of the first window.
    pub begin: Ns,
    /// Window by index of the rank in the whole run's model, or `None` if it is not selected.
    windows: Vec<Option<TimeInterval>>,
    /// By index of the region in the model of the whole run: whether it is selected. `None`: all are.
    regions: Option<Vec<bool>>,
    /// By index in the model of the whole run: the indices of regions and of ranks in the model of the part.
    region_of: Vec<Option<RegionIdx>>,
    rank_idx_of: Vec<Option<u32>>,
}

/// Returns the window of a rank in a part of the run, and the begin of the rank's own window, or `None` if its clock is not known.
fn find_window(rank: &RankModel, survey: &CallSurvey, part: &RecordedRun) -> Option<(TimeInterval, Ns)> {
    let clock = survey.rank(rank.rank)?.clock.as_ref()?;
    let (span, zero) = (part.span(rank.rank), rank.zero_ns());
    let own_begin = (rank.begin_s * 1e9).round() as Ns;
    let begin = if span.begin == 0 { own_begin } else { clock.nanoseconds(span.begin).saturating_sub(zero) };
    let end = if span.end == u64::MAX { Ns::MAX } else { clock.nanoseconds(span.end).saturating_sub(zero) };
    Some((TimeInterval::new(begin, end), own_begin))
}

impl ReplayScope {
    /// Returns the scope of a whole run.
    pub fn whole_run(model: &Model) -> ReplayScope {
        ReplayScope {
            begin: 0,
            windows: vec![Some(TimeInterval::new(0, Ns::MAX)); model.ranks.len()],
            regions: None,
            region_of: (0..model.regions.len() as RegionIdx).map(Some).collect(),
            rank_idx_of: (0..model.ranks.len() as u32).map(Some).collect(),
        }
    }

    /// Returns the scope of a part: the ranks of `model`, the time of `part`, and a region of `model`, if given. `all` and `survey` describe the
    /// whole run.
    pub fn part(
        all: &Model,
        survey: &CallSurvey,
        part: &RecordedRun,
        model: &Model,
        region: Option<RegionIdx>,
    ) -> ReplayScope {
        let rank_idx_of: Vec<Option<u32>> = all
            .ranks
            .iter()
            .map(|rank| model.ranks.binary_search_by_key(&rank.rank, |one| one.rank).ok().map(|at| at as u32))
            .collect();
        let ranks = all.ranks.iter().zip(&rank_idx_of);
        let windows: Vec<Option<(TimeInterval, Ns)>> =
            ranks.map(|(rank, idx)| idx.and_then(|_| find_window(rank, survey, part))).collect();
        let begins = windows.iter().flatten().map(|(window, own_begin)| window.begin.max(*own_begin));
        let begin = begins.min().unwrap_or(0);
        let windows = windows.into_iter().map(|window| {
            window.map(|(window, own_begin)| {
                // A window that is not cut begins with the first rank's: a rank that begins later waits.
                let is_cut = window.begin != own_begin;
                TimeInterval::new(if is_cut { window.begin.max(begin) } else { begin }, window.end)
            })
        });
        let index: BTreeMap<&str, RegionIdx> = model.regions.iter().map(|one| one.path.as_str()).zip(0..).collect();
        let region_of: Vec<Option<RegionIdx>> =
            all.regions.iter().map(|one| index.get(one.path.as_str()).copied()).collect();
        ReplayScope {
            begin,
            windows: windows.collect(),
            regions: region.map(|region| {
                region_of.iter().map(|inner| inner.is_some_and(|one| model.chain(one).contains(&region))).collect()
            }),
            region_of,
            rank_idx_of,
        }
    }

    /// Returns a time of the run as time since the scope begins.
    fn since_begin(&self, time: Ns) -> Ns {
        time - self.begin
    }

    fn selected_window(&self, rank_idx: u32) -> Option<TimeInterval> {
        self.windows.get(rank_idx as usize).copied().flatten()
    }

    /// Returns the window of a rank. The window of a rank that is not selected begins at the first begin.
    pub fn rank_window(&self, rank_idx: u32) -> TimeInterval {
        self.selected_window(rank_idx).unwrap_or(TimeInterval::new(self.begin, Ns::MAX))
    }

    /// Returns whether it is all of the run.
    pub fn is_all(&self) -> bool {
        let whole = TimeInterval::new(0, Ns::MAX);
        self.begin == 0 && self.regions.is_none() && self.windows.iter().all(|&window| window == Some(whole))
    }

    /// Returns whether it has a critical path: the time in a region is no interval of the run.
    pub fn has_path(&self) -> bool {
        self.regions.is_none()
    }

    /// Returns whether a rank is selected.
    pub fn has(&self, rank_idx: u32) -> bool {
        self.selected_window(rank_idx).is_some()
    }

    /// Returns whether a region of the whole run is selected.
    fn has_region(&self, region: RegionIdx) -> bool {
        self.regions.as_ref().is_none_or(|regions| regions.get(region as usize) == Some(&true))
    }

    /// Returns the nanoseconds of a rank's wait that count. The wait of a kind is in a call or (`in_call` is false) outside of its time in MPI.
    pub fn counts(&self, rank_idx: u32, kind: RegionState, in_call: bool, time: TimeInterval) -> Ns {
        let is_there = self.has_region(kind.region()) && (in_call || self.regions.is_none());
        let window = self.selected_window(rank_idx).filter(|_| is_there);
        window.map_or(0, |window| time.within(window).ns().max(0))
    }

    /// Returns the nanoseconds of a rank's wait that lie in its window, whatever the region; 0 unless a region is selected.
    pub fn counts_in_any_region(&self, rank_idx: u32, time: TimeInterval) -> Ns {
        let window = self.selected_window(rank_idx).filter(|_| self.regions.is_some());
        window.map_or(0, |window| time.within(window).ns().max(0))
    }

    /// Returns the index in the part's model of a rank of the whole run, or [`NONE`] if the part lacks it.
    pub fn rank_in_part(&self, rank_idx: u32) -> u32 {
        self.rank_idx_of.get(rank_idx as usize).copied().flatten().unwrap_or(NONE)
    }

    /// Returns a state in its region of the part's model, or beyond all of its regions if the part lacks that.
    #[inline]
    pub fn state_in_part(&self, kind: RegionState) -> RegionState {
        let region = self.region_of.get(kind.region() as usize).copied().flatten();
        kind.in_region(region.unwrap_or(self.region_of.len() as RegionIdx))
    }
}

/// Reports the events in a part to another observer, in the terms of the part's model: cut at the ends of windows, in time since the first begin.
pub struct ScopeObserver<'a, W> {
    scope: &'a ReplayScope,
    observer: W,
    /// True if the interval that was shown last lies in it.
    inside: bool,
}

impl<'a, W: ReplayObserver> ScopeObserver<'a, W> {
    /// Reports to `observer` what lies in `scope`.
    pub fn new(scope: &'a ReplayScope, observer: W) -> Self {
        ScopeObserver { scope, observer, inside: false }
    }

    /// Returns the observer that it reports to.
    pub fn inner(&self) -> &W {
        &self.observer
    }

    /// Likewise.
    pub fn into_inner(self) -> W {
        self.observer
    }

    /// Returns the part of an interval that lies in the scope.
    fn cut(&self, state: &StateInterval) -> Option<StateInterval> {
        let rank_idx = self.scope.rank_idx_of.get(state.thread.rank_idx as usize).copied().flatten()?;
        let TimeInterval { begin, end } = state.interval.within(self.scope.rank_window(state.thread.rank_idx));
        let wait = state.wait.filter(|wait| wait.until > begin);
        let region = self.scope.region_of.get(state.kind.region() as usize).copied().flatten();
        // A call without length lies in the part if its time does.
        let is_in_time = begin < end || begin == end && state.interval.is_empty();
        (is_in_time && self.scope.has_region(state.kind.region())).then(|| StateInterval {
            thread: ReplayedThread { rank_idx, ..state.thread },
            interval: TimeInterval::new(self.scope.since_begin(begin), self.scope.since_begin(end)),
            kind: state.kind.in_region(region.unwrap_or(0)),
            wait: wait.map(|wait| InitialWait {
                awaited: self.scope.since_begin(wait.awaited.clamp(begin, end)),
                until: self.scope.since_begin(wait.until.min(end)),
                ..wait
            }),
            ..*state
        })
    }
}

impl<W> ScopeObserver<'_, W> {
    /// Returns a thread, and its interval, in the terms of the scope, or `None` if no part of it, or of the last interval, lies in the scope.
    fn in_scope(&self, thread: ReplayedThread, interval: TimeInterval) -> Option<(ReplayedThread, TimeInterval)> {
        let rank_idx = self.scope.rank_idx_of.get(thread.rank_idx as usize).copied().flatten()?;
        let within = interval.within(self.scope.rank_window(thread.rank_idx));
        let interval = TimeInterval::new(self.scope.since_begin(within.begin), self.scope.since_begin(within.end));
        (self.inside && !interval.is_empty()).then_some((ReplayedThread { rank_idx, ..thread }, interval))
    }
}

impl<W: ReplayObserver> ReplayObserver for ScopeObserver<'_, W> {
    fn on_interval(&mut self, state: &StateInterval) {
        let cut = self.cut(state);
        self.inside = cut.is_some();
        for state in cut.iter() {
            self.observer.on_interval(state);
        }
    }

    fn on_team(&mut self, team: &TeamInterval) {
        if let Some((thread, interval)) = self.in_scope(team.thread, team.interval) {
            let region = self.scope.region_of.get(team.region as usize).copied().flatten().unwrap_or(0);
            self.observer.on_team(&TeamInterval { thread, interval, region, ..*team });
        }
    }

    fn on_team_thread(&mut self, one: &TeamThreadInterval) {
        if let Some((starter, interval)) = self.in_scope(one.starter, one.interval) {
            let useful = one.useful.min(interval.ns());
            self.observer.on_team_thread(&TeamThreadInterval { starter, interval, useful, ..*one });
        }
    }

    fn on_message(&mut self, message: &MatchedMessage) {
        if self.inside {
            self.observer.on_message(&MatchedMessage {
                sent: self.scope.since_begin(message.sent),
                posted: self.scope.since_begin(message.posted),
                received: self.scope.since_begin(message.received),
                ..*message
            });
        }
    }

    fn on_request_end(&mut self, ended: &EndedRequest) {
        if self.inside {
            self.observer.on_request_end(&EndedRequest { started: ended.started - self.scope.begin, ..*ended });
        }
    }
}

impl<W: SegmentObserver> SegmentObserver for ScopeObserver<'_, W> {
    type Observations = W::Observations;

    fn fork(&self) -> Self {
        ScopeObserver::new(self.scope, self.observer.fork())
    }

    fn merge(&mut self, later: W::Observations) {
        self.observer.merge(later);
    }

    fn into_observations(self) -> W::Observations {
        self.observer.into_observations()
    }
}
