//! Takes in what threads do while they are followed.

use bincode::{Decode, Encode};
use lbprof_collector::record::NONE;

use super::super::RankRows;
use super::blocked::BlockedIterations;
use super::longest::{LongestItems, LongestOfSegment};
use super::region_shares::RegionShares;
use super::shares::StateShares;
use super::{MessageSeen, STATES, SpanSeen, TeamSeen, TimelineView, WAITING, WaitSeen};
use crate::model::Model;
use crate::model::code::region_state::Ns;
use crate::model::ranks::interval::TimeInterval;
use crate::model::replayed::statistics;
use crate::replay::{
    InitialWait, MatchedMessage, ReplayObserver, SegmentObserver, StateInterval, TeamInterval, TeamThreadInterval,
};

/// Most bins in which a row's time is given, and of all rows together.
const MOST_BINS: usize = 20_000;
const MOST_CELLS: usize = 250_000;

/// Most waits and messages that are reported one by one.
const MOST_WAITS: usize = 20_000;
const MOST_MESSAGES: usize = 20_000;

/// Most instances of parallel regions, and of threads in them, that are reported one by one.
const MOST_TEAMS: usize = 50_000;

/// Calls of a run up to which each is reported, and most spans that they may take.
const MOST_CALLS: u64 = 50_000;
const MOST_SPANS: usize = 250_000;

/// Keeps a bounded amount of the threads' activities. Its size is bounded, whatever the run's.
pub struct TimelineObserver<'a> {
    model: &'a Model,
    rows: RankRows,
    bins: usize,
    end: Ns,
    shares: StateShares,
    regions: RegionShares,
    waits: LongestItems<Ns, WaitSeen>,
    messages: LongestItems<(bool, Ns), MessageSeen>,
    teams: LongestItems<Ns, TeamSeen>,
    spans: Option<Vec<SpanSeen>>,
    blocked: Option<BlockedIterations<'a>>,
    /// The wait of the call that was reported last.
    wait: Option<InitialWait>,
}

impl<'a> TimelineObserver<'a> {
    /// Creates an observer of the ranks of `model`, or returns `None` if there is no time to show.
    pub fn new(model: &'a Model) -> Option<Self> {
        let end = (model.window_s().1 * 1e9).round() as Ns;
        (end > 0 && !model.ranks.is_empty()).then(|| TimelineObserver::up_to(model, end))
    }

    /// Creates an observer of the time up to `end`, which is more than 0.
    fn up_to(model: &'a Model, end: Ns) -> Self {
        let rows = RankRows::new(model.ranks.iter().map(|rank| rank.rank).collect());
        let bins = (MOST_CELLS / rows.len()).clamp(1, MOST_BINS).min(end as usize);
        let calls = model.ranks.iter().fold(0, |sum: u64, rank| sum.saturating_add(rank.calls));
        TimelineObserver {
            model,
            bins,
            end,
            shares: StateShares::new(rows.len(), bins, end),
            regions: RegionShares::new(model, end),
            waits: LongestItems::new(MOST_WAITS),
            messages: LongestItems::new(MOST_MESSAGES),
            teams: LongestItems::new(MOST_TEAMS),
            spans: (calls <= MOST_CALLS).then(Vec::new),
            blocked: BlockedIterations::new(model, &rows),
            wait: None,
            rows,
        }
    }

    /// Returns the observations.
    pub fn finish(self) -> TimelineView {
        let (all_waits, waits) = self.waits.finish();
        let (all_messages, messages) = self.messages.finish();
        let (all_teams, teams) = self.teams.finish();
        let spans = self.spans.map(|mut spans| {
            spans.sort_by_key(|span| (span.rank, span.begin));
            spans
        });
        TimelineView {
            end: self.end,
            bins: self.bins,
            shares: self.shares.finish(&self.rows.sizes().collect::<Vec<_>>()),
            regions: self.regions.finish(),
            waits,
            all_waits,
            messages,
            all_messages,
            teams,
            all_teams,
            spans,
            blocked: self.blocked.map(BlockedIterations::finish),
            stacks: None,
        }
    }

    fn number(&self, place: u32) -> u32 {
        self.model.ranks.get(place as usize).map_or(NONE, |rank| rank.rank)
    }

    fn is_in(&mut self, state: u8, spent: &StateInterval, time: TimeInterval) {
        let TimeInterval { begin, end } = time;
        if time.is_empty() {
            return;
        }
        self.shares.add(self.rows.row_of(spent.thread.rank_idx as usize), state, begin, end);
        self.regions.add(spent.kind.region(), time);
        let rank = self.number(spent.thread.rank_idx);
        let span = SpanSeen { rank, begin, end, state, region: spent.kind.region(), site: spent.site };
        match &mut self.spans {
            Some(spans) if spans.len() < MOST_SPANS => spans.push(span),
            _ => self.spans = None,
        }
    }
}

impl ReplayObserver for TimelineObserver<'_> {
    fn on_interval(&mut self, spent: &StateInterval) {
        self.wait = spent.wait;
        if let Some(InitialWait { until, state, by, .. }) = spent.wait {
            let (rank, begin) = (self.number(spent.thread.rank_idx), spent.interval.begin);
            let (region, delay_source) = (spent.kind.region(), by.unwrap_or(NONE));
            let seen = WaitSeen { rank, begin, end: until, state, region, site: spent.site, delay_source };
            self.waits.add(until - begin, seen);
        }
        // Only first threads are shown.
        if spent.thread.number != 0 {
            return;
        }
        let waiting = spent.waiting();
        self.is_in(WAITING, spent, waiting);
        if let Some(blocked) = self.blocked.as_mut().filter(|_| !waiting.is_empty()) {
            blocked.add(spent.thread.rank_idx, waiting.begin, waiting.end);
        }
        if let Some(state) = statistics::state_number(spent.kind) {
            self.is_in(state as u8, spent, TimeInterval::new(waiting.end, spent.interval.end));
        }
    }

    fn on_message(&mut self, message: &MatchedMessage) {
        let ended_wait = self.wait.is_some_and(|wait| wait.by == Some(message.from));
        self.messages.add((ended_wait, message.received - message.sent), *message);
    }

    fn on_team(&mut self, team: &TeamInterval) {
        // The page shows the teams of a rank's first thread.
        if team.thread.number == 0 {
            let TimeInterval { begin, end } = team.interval;
            let rank = self.number(team.thread.rank_idx);
            let seen = TeamSeen { rank, thread: NONE, begin, end, site: team.site, team: team.team, useful: 0 };
            self.teams.add(end - begin, seen);
        }
    }

    fn on_team_thread(&mut self, one: &TeamThreadInterval) {
        if one.starter.number == 0 {
            let TimeInterval { begin, end } = one.interval;
            let (rank, thread) = (self.number(one.starter.rank_idx), one.number);
            let seen = TeamSeen { rank, thread, begin, end, site: one.site, team: 0, useful: one.useful };
            self.teams.add(end - begin, seen);
        }
    }
}

impl SegmentObserver for TimelineObserver<'_> {
    type Observations = TimelineObservations;

    fn fork(&self) -> Self {
        TimelineObserver::up_to(self.model, self.end)
    }

    fn merge(&mut self, later: TimelineObservations) {
        let TimelineObservations { shares, regions, waits, messages, teams, spans, blocked } = later;
        self.shares.join(shares);
        self.regions.join(regions);
        self.waits.join(waits);
        self.messages.join(messages);
        self.teams.join(teams);
        self.spans = match (self.spans.take(), spans) {
            (Some(mut all), Some(more)) if all.len() + more.len() <= MOST_SPANS => {
                all.extend(more);
                Some(all)
            }
            _ => None,
        };
        if let (Some(all), Some(more)) = (&mut self.blocked, blocked) {
            all.join(&more);
        }
    }

    fn into_observations(self) -> TimelineObservations {
        let TimelineObserver { shares, regions, waits, messages, teams, spans, blocked, .. } = self;
        TimelineObservations {
            shares: shares.into_times(),
            regions: regions.into_times(),
            waits: waits.of_segment(),
            messages: messages.of_segment(),
            teams: teams.of_segment(),
            spans,
            blocked: blocked.map(BlockedIterations::into_times),
        }
    }
}

/// The observations in a segment of the run.
#[derive(Encode, Decode)]
pub struct TimelineObservations {
    shares: [Vec<u64>; STATES],
    regions: [Vec<u64>; STATES],
    waits: LongestOfSegment<Ns, WaitSeen>,
    messages: LongestOfSegment<(bool, Ns), MessageSeen>,
    teams: LongestOfSegment<Ns, TeamSeen>,
    spans: Option<Vec<SpanSeen>>,
    blocked: Option<Vec<u64>>,
}

#[cfg(test)]
mod tests {
    use lbprof_collector::Activity;

    use super::*;
    use crate::model::RankModel;
    use crate::model::code::region_state::RegionState;
    use crate::model::replayed::replay_results::ReplayedThread;
    use crate::model::replayed::waits::WaitState;
    use crate::replay::timeline::CallFacts;

    /// Ranks 0 and 2 of a run of 100 ns, which make so many calls.
    fn model(calls: u64) -> Model {
        let rank = |rank| RankModel { rank, calls, end_s: 100e-9, ..RankModel::default() };
        Model { ranks: vec![rank(0), rank(2)], ..Model::default() }
    }

    fn spent(place: u32, begin: Ns, end: Ns, activity: Activity) -> StateInterval {
        let thread = ReplayedThread { rank_idx: place, number: 0 };
        StateInterval {
            thread,
            interval: TimeInterval { begin, end },
            kind: RegionState::new(0, activity),
            site: NONE,
            operation: 0,
            facts: CallFacts::NOTHING,
            wait: None,
        }
    }

    /// A message to rank 2, which it receives at 80.
    fn message(from: u32, sent: Ns) -> MatchedMessage {
        let (to, from_thread, to_thread) = (2, 0, 0);
        MatchedMessage {
            from,
            to,
            from_thread,
            to_thread,
            posted_thread: to_thread,
            sent,
            posted: sent,
            received: 80,
            bytes: 8,
            tag: 1,
            comm: 0,
            send_request: NONE,
            request: NONE,
        }
    }

    fn waited(until: Ns, by: u32) -> Option<InitialWait> {
        Some(InitialWait { awaited: until, until, state: WaitState::LateSender, by: Some(by) })
    }

    #[test]
    fn of_many_calls_only_shares_are_kept_and_of_other_threads_only_waits() {
        let model = model(MOST_CALLS / 2 + 1);
        let mut watch = TimelineObserver::new(&model).unwrap();
        let mut other = StateInterval { wait: waited(60, 0), ..spent(1, 20, 80, Activity::PointToPoint) };
        other.thread.number = 1;
        watch.on_interval(&other);
        let seen = watch.finish();
        assert_eq!((seen.spans, seen.shares, seen.waits.len()), (None, vec![], 1));
    }

    #[test]
    fn messages_that_ended_waits_come_first() {
        let model = model(1);
        let mut watch = TimelineObserver::new(&model).unwrap();
        watch.on_interval(&StateInterval { wait: waited(60, 0), ..spent(1, 20, 80, Activity::PointToPoint) });
        watch.on_message(&message(1, 10));
        watch.on_message(&message(0, 60));
        watch.on_message(&message(0, 50));
        let sent: Vec<Ns> = watch.finish().messages.iter().map(|one| one.sent).collect();
        assert_eq!(sent, [50, 60, 10]);
    }

    #[test]
    fn teams_and_their_threads_are_those_of_first_threads() {
        let model = model(1);
        let mut watch = TimelineObserver::new(&model).unwrap();
        let interval = TimeInterval { begin: 10, end: 40 };
        for number in [0, 3] {
            let starter = ReplayedThread { rank_idx: 1, number };
            watch.on_team(&TeamInterval { thread: starter, interval, region: 0, site: 5, team: 2, excess: 4 });
            let interval = TimeInterval { begin: 12, end: 40 };
            watch.on_team_thread(&TeamThreadInterval { starter, number: 1, interval, site: 5, useful: 20 });
        }
        let seen = watch.finish();
        let teams: Vec<_> = seen.teams.iter().map(|one| (one.rank, one.thread, one.begin, one.useful)).collect();
        assert_eq!((teams, seen.all_teams), (vec![(2, NONE, 10, 0), (2, 1, 12, 20)], 2));
    }

    #[test]
    fn a_run_without_time_is_not_watched() {
        assert!(TimelineObserver::new(&Model::default()).is_none());
    }
}
