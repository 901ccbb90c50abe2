//! Gathers what single calls and messages add up to, while ranks are followed.

use std::collections::hash_map::Entry;

use lbprof_collector::semantics::OperationSemantics;
use lbprof_collector::{Activity, Operation};

use crate::model::Model;
use crate::model::code::region_state::Ns;
use crate::model::ranks::interval::TimeInterval;
use crate::model::replayed::statistics::{
    CommunicatorCalls, RunStatistics, STATES, TIME_WINDOWS, TimeWindows, WAITING, state_number,
};
use crate::model::replayed::waits::WaitCall;
use crate::replay::{MatchedMessage, ReplayObserver, SegmentObserver, StateInterval};

/// Most pairs of ranks whose messages are listed: 40 MB.
const MOST_PAIRS: usize = 1 << 20;

pub struct StatisticsObserver<'a> {
    model: &'a Model,
    found: RunStatistics,
}

impl<'a> StatisticsObserver<'a> {
    /// Creates an observer of the ranks of `model`, or returns `None` if there is no time.
    pub fn new(model: &'a Model) -> Option<Self> {
        let (begin, end) = model.window_s();
        let whole = ((end - begin) * 1e9).ceil() as Ns;
        let length = (whole + TIME_WINDOWS as Ns - 1) / TIME_WINDOWS as Ns;
        (length > 0 && !model.ranks.is_empty()).then(|| {
            let n = (whole + length - 1) / length;
            let time_windows = TimeWindows::new(n as usize, length, model.ranks.len());
            StatisticsObserver { model, found: RunStatistics { time_windows, ..RunStatistics::default() } }
        })
    }

    fn counts(&mut self, state: &StateInterval) {
        let facts = &state.facts;
        let rank = self.model.ranks.get(state.thread.rank_idx as usize).map_or(state.thread.rank_idx, |rank| rank.rank);
        let time = state.interval.end - state.interval.begin;
        self.found.calls.entry((state.site, state.operation)).or_default().count(time, rank);
        if state.thread.number == 0 && is_transfer(state.kind.activity()) {
            let call = WaitCall { site: state.site, operation: state.operation };
            self.found.transfers.count(call, state.transfer(), rank, facts.sent.saturating_add(facts.received));
        }
        if facts.sent > 0 || is_send(state.operation) {
            self.found.sizes.entry(state.operation).or_default().count(facts.sent);
        }
        *self.found.communicators.entry(facts.comm).or_default() += CommunicatorCalls {
            calls: 1,
            time: time.into(),
            waiting: state.waiting().ns().into(),
            sent: facts.sent,
            received: facts.received,
        };
    }
}

/// Returns whether calls of an activity move data between ranks, or synchronise them.
fn is_transfer(activity: Option<Activity>) -> bool {
    use Activity::{Collective, OneSided, PointToPoint, Synchronization};
    matches!(activity, Some(PointToPoint | Collective | Synchronization | OneSided))
}

fn is_send(operation: u16) -> bool {
    use OperationSemantics::{Exchange, Send, StartExchange, StartSend};
    matches!(Operation::semantics(operation), Send(_) | StartSend(_) | Exchange | StartExchange)
}

impl TimeWindows {
    fn new(n: usize, length: Ns, ranks: usize) -> Self {
        TimeWindows { length, states: vec![[0; STATES]; n], computation: vec![vec![0; ranks]; n] }
    }

    fn add(&mut self, rank: usize, state: usize, time: TimeInterval) {
        let mut begin = time.begin.max(0);
        while begin < time.end {
            let at = (begin / self.length) as usize;
            let Some(states) = self.states.get_mut(at) else { return };
            let end = time.end.min((at as Ns + 1) * self.length);
            states[state] += end - begin;
            if (state == Activity::Computation as usize || state > WAITING)
                && let Some(own) = self.computation.get_mut(at).and_then(|ranks| ranks.get_mut(rank))
            {
                *own += end - begin;
            }
            begin = end;
        }
    }
}

impl ReplayObserver for StatisticsObserver<'_> {
    fn on_interval(&mut self, state: &StateInterval) {
        if state.operation != 0 {
            self.counts(state);
        }
        if state.thread.number != 0 {
            return;
        }
        let waiting = state.waiting();
        let rank = state.thread.rank_idx as usize;
        // Before its window begins, and after its end, a rank does nothing that is a state.
        if state.operation != 0 {
            self.found.time_windows.add(rank, WAITING, waiting);
        }
        if let Some(number) = state_number(state.kind) {
            self.found.time_windows.add(rank, number, TimeInterval::new(waiting.end, state.interval.end));
        }
    }

    fn on_message(&mut self, message: &MatchedMessage) {
        self.found.message_sizes.count(message.bytes);
        record_volume(&mut self.found, (message.from, message.to), message.bytes);
    }
}

impl SegmentObserver for StatisticsObserver<'_> {
    type Observations = RunStatistics;

    fn fork(&self) -> Self {
        let TimeWindows { length, states, .. } = &self.found.time_windows;
        let time_windows = TimeWindows::new(states.len(), *length, self.model.ranks.len());
        StatisticsObserver { model: self.model, found: RunStatistics { time_windows, ..RunStatistics::default() } }
    }

    fn merge(&mut self, later: RunStatistics) {
        merge_statistics(&mut self.found, later);
    }

    fn into_observations(self) -> RunStatistics {
        self.found
    }
}

fn record_volume(found: &mut RunStatistics, pair: (u32, u32), bytes: u64) {
    let n = found.messages.len();
    match found.messages.entry(pair) {
        Entry::Vacant(_) if n >= MOST_PAIRS => found.unlisted.add(1, bytes),
        entry => entry.or_default().add(1, bytes),
    }
}

fn merge_statistics(all: &mut RunStatistics, more: RunStatistics) {
    let RunStatistics { messages, unlisted, message_sizes, sizes, calls, transfers, communicators, time_windows } =
        more;
    for (pair, volume) in messages {
        all.messages.entry(pair).or_default().add(volume.messages, volume.bytes);
    }
    all.unlisted.add(unlisted.messages, unlisted.bytes);
    bound_pairs(all);
    all.message_sizes.add(&message_sizes);
    for (operation, sizes) in sizes {
        all.sizes.entry(operation).or_default().add(&sizes);
    }
    for (call, durations) in calls {
        all.calls.entry(call).or_default().add(&durations);
    }
    all.transfers.add(&transfers);
    for (comm, on) in communicators {
        *all.communicators.entry(comm).or_default() += on;
    }
    let states = all.time_windows.states.iter_mut().flatten().zip(time_windows.states.iter().flatten());
    let computation = all.time_windows.computation.iter_mut().flatten().zip(time_windows.computation.iter().flatten());
    for (ns, more) in states.chain(computation) {
        *ns += more;
    }
}

/// Lists the first pairs, where there are too many: in whatever groups segments are joined, these are the same, and so are their sums.
fn bound_pairs(found: &mut RunStatistics) {
    if found.messages.len() <= MOST_PAIRS {
        return;
    }
    let mut pairs: Vec<(u32, u32)> = found.messages.keys().copied().collect();
    let (_, _, last) = pairs.select_nth_unstable(MOST_PAIRS - 1);
    for pair in last {
        let left_out = found.messages.remove(pair).unwrap_or_default();
        found.unlisted.add(left_out.messages, left_out.bytes);
    }
}
