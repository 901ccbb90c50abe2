//! A run in progress: its ranks, and the events to come, in the order of time.
//!
//! Three kinds of events happen, at one time in this order: a rank goes on to its next step; the head of a message arrives; a
//! rank that waits looks whether its call may end. What a call starts is a [`Pending`]; whoever completes it knows when that
//! takes effect, now or later, and has the rank look then.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use lbprof_collector::polling::{SHORT_NS, WAITING_NS};
use lbprof_collector::record::{CallFlags, PollGaps, Record};

use super::simulation::{Outcome, SimulatedCall, SimulatedRank, Simulation, Wait};
use super::state::{Blocked, Done, Epochs, Meeting, Message, OpenEpochs, Pending, Request, Stream, Window};
use crate::scenario::{START, ticks};
use crate::script::error::{ScriptError, Stuck};
use crate::script::program::{Network, Script, offset};
use crate::script::record::{Arrived, Event as Logged};
use crate::script::step::{Action, Incoming, ScriptStep};

/// Unsuccessful polls of one thing that follow one another by less are one record, in ticks, which are nanoseconds.
const POLL_GAP: u64 = WAITING_NS;

#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::script) struct Event {
    pub time: u64,
    pub kind: EventKind,
    pub rank: usize,
    /// Events that are equal otherwise keep their order.
    pub number: u64,
    pub message: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::script) enum EventKind {
    Go,
    Head,
    Look,
}

#[derive(Default)]
pub(in crate::script) struct Rank<'s> {
    pub steps: &'s [ScriptStep],
    pub at: usize,
    pub now: u64,
    pub blocked: Option<Blocked>,
    /// In the order in which they were first made.
    pub requests: Vec<Request<'s>>,
    pub names: HashSet<&'s str>,
    pub next_request: u32,
    pub posted: Vec<usize>,
    pub heads: Vec<usize>,
    pub matched: HashMap<&'s str, usize>,
    pub windows: HashMap<&'s str, Window>,
    pub epochs: HashMap<&'s str, OpenEpochs>,
    pub groups: Vec<Vec<u32>>,
    pub begun: HashMap<Stream, u32>,
    /// The last record is an unsuccessful poll: of what, and its end.
    pub poll: Option<(u64, u64)>,
    pub result: SimulatedRank,
}

pub(in crate::script) struct World<'s> {
    pub script: &'s Script,
    pub network: Network,
    pub again: Option<&'s Simulation>,
    pub latency: u64,
    pub overhead: u64,
    pub events: BinaryHeap<Reverse<Event>>,
    pub n_events: u64,
    pub ranks: Vec<Rank<'s>>,
    pub messages: Vec<Message>,
    pub pending: Vec<Pending>,
    pub meetings: HashMap<(Stream, u32), Meeting>,
    pub epochs: Epochs,
}

impl<'s> World<'s> {
    pub fn new(script: &'s Script, network: Network, again: Option<&'s Simulation>) -> Self {
        let rank = |(steps, late): (&'s Vec<ScriptStep>, &u64)| Rank {
            steps,
            now: START + late,
            result: SimulatedRank { begin_ns: START + late, ..SimulatedRank::default() },
            ..Rank::default()
        };
        World {
            script,
            network,
            again,
            latency: ticks(network.latency_ms),
            overhead: ticks(network.overhead_ms),
            events: BinaryHeap::new(),
            n_events: 0,
            ranks: script.programs.iter().zip(&script.late).map(rank).collect(),
            messages: Vec::new(),
            pending: Vec::new(),
            meetings: HashMap::new(),
            epochs: Epochs::default(),
        }
    }

    pub(in crate::script) fn event(&mut self, time: u64, kind: EventKind, rank: usize, message: usize) {
        self.n_events += 1;
        self.events.push(Reverse(Event { time, kind, rank, number: self.n_events, message }));
    }

    pub fn head_at(&mut self, time: u64, sender: usize, message: usize) {
        self.event(time, EventKind::Head, sender, message);
    }

    pub fn look_at(&mut self, time: u64, rank: usize) {
        self.event(time, EventKind::Look, rank, 0);
    }

    pub fn start_pending(&mut self, rank: usize, incoming: Option<Incoming>) -> usize {
        let begun = self.ranks[rank].now;
        self.pending.push(Pending { rank, begun, done: None, incoming, receive: None, arrived: None });
        self.pending.len() - 1
    }

    pub fn start_receive(&mut self, rank: usize, pending: usize) -> Option<(u32, i32)> {
        let received = &mut self.ranks[rank].result.choices.received;
        self.pending[pending].receive = Some(received.len());
        received.push(None);
        let again = self.again?.ranks.get(rank)?;
        *again.choices.received.get(received.len() - 1)?
    }

    pub fn receives(&mut self, pending: usize, arrived: Arrived) {
        let receive = &mut self.pending[pending];
        receive.arrived = Some(arrived);
        if let Some(number) = receive.receive {
            let taken = &mut self.ranks[receive.rank].result.choices.received[number];
            *taken = Some((arrived.source, arrived.tag));
        }
    }

    /// What the present call of a rank, which completes or probes, found when the run was made before.
    pub fn found_before(&self, rank: usize) -> Option<&'s Outcome> {
        let again = self.again?.ranks.get(rank)?;
        again.choices.found.get(self.ranks[rank].result.choices.found.len())
    }

    pub fn found(&mut self, rank: usize, outcome: Outcome) {
        self.ranks[rank].result.choices.found.push(outcome);
    }

    pub fn complete(&mut self, pending: usize, done: Done) {
        let rank = self.pending[pending].rank;
        self.pending[pending].done = Some(done);
        self.look_at(done.at, rank);
    }

    pub fn complete_at_once(&mut self, pending: usize) {
        let Pending { rank, begun, .. } = self.pending[pending];
        self.pending[pending].done = Some(Done { at: begun, by: rank as u32, did: begun });
    }

    pub fn are_done(&self, pending: &[usize], time: u64) -> bool {
        pending.iter().all(|&i| self.pending[i].done.is_some_and(|done| done.at <= time))
    }

    pub fn waits(&self, pending: &[usize], begin: u64) -> Vec<Wait> {
        let done = pending.iter().filter_map(|&i| self.pending[i].done);
        let waited = done.filter(|done| done.at > begin);
        waited.map(|done| Wait { by: done.by, did_ns: done.did, came_ns: done.at }).collect()
    }

    pub fn block(&mut self, number: usize, own: Vec<usize>) {
        let begin = self.ranks[number].now;
        self.ranks[number].blocked = Some(Blocked { begin, own });
        self.look_at(begin, number);
    }

    pub fn end(&mut self, number: usize, time: u64, record: Record, parts: Vec<Record>, waits: Vec<Wait>) {
        self.end_call(number, time, record, parts, waits);
        self.ranks[number].poll = None;
    }

    /// The same of a test or probe that found nothing, in `subject`: it becomes part of the record before it where that is
    /// such a poll, too.
    pub fn end_poll(&mut self, number: usize, time: u64, mut record: Record, subject: u64) {
        record.flags |= CallFlags::NOTHING;
        self.found(number, Outcome::Nothing);
        let poll = self.ranks[number].poll.take();
        let before = self.ranks[number].result.events.len();
        self.end_call(number, time, record, Vec::new(), Vec::new());
        let rank = &mut self.ranks[number];
        rank.poll = Some((subject, rank.now));
        let [.., Logged::Record(last, site), Logged::Record(this, at)] = &mut rank.result.events[..] else { return };
        let gap = poll.filter(|(what, _)| *what == subject).map(|(_, end)| this.begin - end);
        let Some(gap) = gap.filter(|&gap| gap < POLL_GAP) else { return };
        if before > 0 && site == at && last.operation == this.operation {
            let within = if last.count == 0 { last.end - last.begin } else { last.sent };
            last.sent = within + this.end - this.begin;
            last.received = PollGaps(last.received).and(gap, SHORT_NS).0;
            last.end = this.end;
            last.count += 1;
            rank.result.events.pop();
        }
    }

    fn end_call(&mut self, number: usize, time: u64, mut record: Record, parts: Vec<Record>, waits: Vec<Wait>) {
        let rank = &mut self.ranks[number];
        let begin = rank.blocked.take().map_or(rank.now, |blocked| blocked.begin);
        let end = time + self.overhead;
        (record.begin, record.end) = (begin, end);
        if let (Some(step), Some(operation)) = (rank.steps.get(rank.at), record.operation()) {
            let site = offset(step.line, step.index);
            rank.result.events.push(Logged::Record(record, site));
            let parts = parts.into_iter().map(|part| Logged::Record(Record { begin: end, end, ..part }, site));
            rank.result.events.extend(parts);
            rank.result.calls.push(SimulatedCall { operation, line: step.line, begin_ns: begin, end_ns: end, waits });
        }
        rank.now = end;
        rank.at += 1;
        self.event(end, EventKind::Go, number, 0);
    }

    pub fn log(&mut self, number: usize, event: Logged) {
        self.ranks[number].result.events.push(event);
    }

    pub fn wrong(&self, number: usize, what: impl std::fmt::Display) -> ScriptError {
        let rank = &self.ranks[number];
        let line = rank.steps.get(rank.at).map_or(0, |step| step.line);
        ScriptError::Line { line, what: format!("rank {number}: {what}") }
    }
}

impl Rank<'_> {
    /// Where it waits for ever, after everything has happened.
    pub fn stuck(&self, rank: u32) -> Option<Stuck> {
        let step = self.steps.get(self.at)?;
        match &step.action {
            Action::Call(call) => Some(Stuck { rank, operation: call.operation(), line: step.line }),
            _ => None,
        }
    }
}
