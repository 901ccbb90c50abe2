//! A rank's log as steps, in the ids of the run: `events.rs` has what they do with other ranks.
//!
//! A loop of polls is one step that waits from its first poll to the one that found something, so that polling is a wait like any other.

mod events;

use std::collections::{BTreeMap, VecDeque};

use lbprof_collector::clock::RankClock;
use lbprof_collector::definition::RankList;
use lbprof_collector::fold::counted_byte_masks;
use lbprof_collector::format::BatchHead;
use lbprof_collector::rank_log::RankLog;
use lbprof_collector::reader::{LogItem, recycle_records};
use lbprof_collector::record::{CallFlags, NO_PEER, NONE};
use lbprof_collector::semantics::{CompletionEffect, OperationSemantics};
use lbprof_collector::walk::{RecordTimes, RecordWalk, WalkState};
use lbprof_collector::{Activity, Operation, Record};
use rustc_hash::FxHashMap;

use super::lists::RankLists;
use super::packed;
use super::parallel::ParallelParts;
use super::persistent::PreparedRequests;
use super::probed_message::ProbedMessage;
use super::region_lookup::RegionLookup;
use super::step::{CallFacts, CommEvent, CommRole, ParallelPart, StepBatch, TimelineStep};
use crate::model::code::region_state::{Ns, RegionState};
use crate::model::{Communicator, RegionIdx};
use crate::read::definitions::RankDefinitions;
use crate::structure::survey::RankSurvey;
use crate::structure::{CallPlacer, PlacedCall};

#[derive(Clone, Copy)]
pub struct RunIds<'a> {
    pub communicators: &'a [Communicator],
    pub places: RegionLookup<'a>,
    pub ranks: &'a [u32],
    pub facts: bool,
}

/// The clock of a rank, and the zero of the run's time on it.
pub struct RunClock {
    pub clock: RankClock,
    /// The begin of the run, in nanoseconds of the clock.
    pub zero: Ns,
}

/// Reads a rank's log as batches of steps.
pub struct RankSteps<'a> {
    ids: RunIds<'a>,
    log: RankLog,
    clock: RunClock,
    rank: u32,
    definitions: RankDefinitions,
    placer: Option<CallPlacer<'a>>,
    /// In boxes: a map has room for several, and there are thousands of ranks.
    threads: FxHashMap<u32, Box<ThreadSteps>>,
    /// Sequence numbers after the last records of its threads.
    ends: &'a BTreeMap<u32, u64>,
    comms: FxHashMap<u32, LogCommunicator>,
    regions: FxHashMap<u32, RegionIdx>,
    sites: FxHashMap<u64, u32>,
    prepared: PreparedRequests,
    probed: ProbedMessage,
    lists: RankLists<'a>,
    /// Messages received by receives from any source whose completion is at hand already.
    arrived: FxHashMap<u32, (i32, i32)>,
    /// Batches that were read with another that was asked for.
    ready: VecDeque<StepBatch>,
}

/// Maximum distance of a time from the begin of the run, 36 years, so that sums and differences of absurd times do not overflow.
const LONGEST: Ns = 1 << 60;

struct ThreadSteps {
    walk: RecordWalk,
    /// State in the time since the last record: the region's number, and computation in it by its index.
    placed: (u32, RegionState),
    /// The last call, where parts of it may follow.
    waiting: Option<UnfinishedCall>,
    /// The call, if its parts follow in the next batch, with the recorder's flushes after it, and their events.
    steps: Vec<TimelineStep>,
    events: Vec<CommEvent>,
    parallel: ParallelParts,
    /// Semantics of the last call, for its parts.
    semantics: OperationSemantics,
    /// Polls that found nothing, and flushes after them, whose wait the next call may continue.
    polls: Vec<TimelineStep>,
    /// Duration of the longest call of that wait, with the gap before it. The wait is named for this call.
    longest_poll: Ns,
}

/// A call whose parts may follow.
#[derive(Clone, Copy)]
struct UnfinishedCall {
    missing: u32,
    /// Indices in the batch of the call's step and of its events.
    step: usize,
    events: usize,
}

struct LogCommunicator {
    /// Index of the run's.
    index: u32,
    peers: RankList,
}

impl<'a> RankSteps<'a> {
    /// Reads `log`, of which `survey` is, with times by `clock`.
    pub fn new(
        ids: RunIds<'a>,
        log: RankLog,
        survey: &'a RankSurvey,
        clock: RunClock,
        placer: Option<CallPlacer<'a>>,
    ) -> Self {
        RankSteps {
            ids,
            rank: log.header().rank,
            lists: RankLists::new(log.header().rank, ids.ranks),
            log,
            clock,
            definitions: RankDefinitions::default(),
            placer,
            threads: FxHashMap::default(),
            ends: &survey.threads,
            comms: FxHashMap::default(),
            regions: FxHashMap::default(),
            sites: FxHashMap::default(),
            prepared: PreparedRequests::default(),
            probed: ProbedMessage::default(),
            arrived: FxHashMap::default(),
            ready: VecDeque::new(),
        }
    }

    /// Returns the next batch of any thread, or `None` at the end of the log.
    pub fn next_batch(&mut self) -> Option<StepBatch> {
        let batch = self.read_batch()?;
        Some(StepBatch { lists: std::mem::take(&mut self.lists.new), ..batch })
    }

    /// Gives back memory that is not needed until the next batch is asked for.
    pub fn give_back_memory(&mut self) {
        self.log.give_back_memory();
    }

    fn read_batch(&mut self) -> Option<StepBatch> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Some(batch);
            }
            match self.log.next_item() {
                Some(LogItem::Definitions(found)) => {
                    for one in found {
                        self.definitions.add(one);
                    }
                }
                Some(LogItem::Records { head, records }) => {
                    let batch = self.batch(&head, &records);
                    recycle_records(records);
                    if batch.is_some() {
                        return batch;
                    }
                }
                Some(LogItem::Profile(batch)) => return Some(self.skip(&batch.head, &batch.next)),
                Some(LogItem::Samples { .. } | LogItem::Summary(_) | LogItem::Problem(_) | LogItem::Polls(_)) => {}
                None => return self.finish(),
            }
        }
    }

    /// Converts a batch of records to steps. Returns `None` if all of them wait for later records.
    fn batch(&mut self, head: &BatchHead, records: &[Record]) -> Option<StepBatch> {
        let (mut thread, gap) = self.thread(head);
        let mut out = thread.begin(head.thread, records.len());
        out.gap = gap;
        self.look_ahead(records);
        let mut rest = records;
        // Time before a call is in the region of the call, as in the sums.
        loop {
            let call = rest.iter().position(Record::is_call).unwrap_or(rest.len());
            let (before, from) = rest.split_at(call);
            let placed = match (from.first(), self.placer.as_mut().filter(|_| head.thread == 0)) {
                // A wait by polling is where its first poll is.
                (Some(call), Some(placer)) => {
                    Some(placer.place(call, &self.definitions)).filter(|_| !call.flags.contains(CallFlags::POLLED))
                }
                _ => None,
            };
            for record in before {
                if record.is_part() {
                    self.part(&mut thread, record, &mut out);
                    continue;
                }
                if let Some((placed, outside)) = placed {
                    self.settle_call_position(&mut thread, outside.unwrap_or(placed));
                }
                self.marker(&mut thread, record, &mut out);
            }
            let Some(call) = from.first() else { break };
            thread.end_waiting(&mut out);
            if let Some((placed, outside)) = placed {
                if let Some(outside) = outside {
                    self.settle_call_position(&mut thread, outside);
                    let reached = thread.walk.time.advance(call.begin);
                    self.without_call(&mut thread, reached, &mut out);
                }
                self.settle_call_position(&mut thread, placed);
            }
            self.call(&mut thread, call, &mut out);
            rest = &from[1..];
        }
        thread.walk.next = head.first.saturating_add(records.len() as u64);
        thread.carry(&mut out);
        out.last = self.is_last(head.thread, &thread);
        if out.last {
            thread.end_polls(&mut out);
        }
        thread.take_parallel(&mut out);
        self.threads.insert(head.thread, thread);
        (!out.steps.is_empty() || out.gap || out.last).then_some(out)
    }

    /// Returns whether a thread, other than the first, whose window ends with the log, does nothing more.
    fn is_last(&self, number: u32, thread: &ThreadSteps) -> bool {
        let is_behind = self.ends.get(&number).is_some_and(|&end| thread.walk.next >= end);
        number != 0 && is_behind && thread.waiting.is_none()
    }

    /// Takes out the state of the thread of `head`. Also returns whether records before it are missing.
    fn thread(&mut self, head: &BatchHead) -> (Box<ThreadSteps>, bool) {
        if let Some(thread) = self.threads.remove(&head.thread).filter(|thread| thread.walk.next == head.first) {
            return (thread, false);
        }
        let mut thread = Box::new(ThreadSteps {
            walk: RecordWalk::new(head),
            placed: (NONE, RegionState::new(0, Activity::Computation)),
            waiting: None,
            steps: Vec::new(),
            events: Vec::new(),
            parallel: ParallelParts::default(),
            semantics: OperationSemantics::Nothing,
            polls: Vec::new(),
            longest_poll: 0,
        });
        self.settle_place(&mut thread, None);
        (thread, head.first > 0)
    }

    /// Skips records that were folded when they were recorded: their communication is not known.
    fn skip(&mut self, head: &BatchHead, next: &BatchHead) -> StepBatch {
        let (mut thread, _) = self.thread(head);
        let mut out = thread.begin(head.thread, 0);
        out.gap = true;
        thread.end_waiting(&mut out);
        thread.end_polls(&mut out);
        let reached = thread.walk.time.advance(next.previous_end);
        thread.placed = (NONE, RegionState::new(0, Activity::Computation));
        self.without_call(&mut thread, RecordTimes { state: WalkState::Paused, ..reached }, &mut out);
        thread.walk.place(next, &[]);
        self.settle_place(&mut thread, None);
        out.last = self.is_last(head.thread, &thread);
        thread.take_parallel(&mut out);
        self.threads.insert(head.thread, thread);
        out
    }

    fn finish(&mut self) -> Option<StepBatch> {
        let end = self.definitions.window_end.or(self.definitions.end.map(|(_, ticks)| ticks));
        let mut numbers: Vec<u32> = self.threads.keys().copied().collect();
        numbers.sort_unstable();
        for number in numbers {
            let Some(mut thread) = self.threads.remove(&number) else { continue };
            let mut out = thread.begin(number, 0);
            out.last = number != 0;
            thread.end_waiting(&mut out);
            thread.end_polls(&mut out);
            if let Some(end) = end.filter(|_| number == 0) {
                let reached = thread.walk.time.advance(end);
                self.without_call(&mut thread, reached, &mut out);
            }
            thread.take_parallel(&mut out);
            if !out.steps.is_empty() {
                self.ready.push_back(out);
            }
        }
        self.ready.pop_front()
    }

    /// Notes the messages that receives for any message in `records` received, so that their match is known when they start.
    fn look_ahead(&mut self, records: &[Record]) {
        self.arrived.clear();
        let any = CallFlags::ANY_SOURCE.0 | CallFlags::ANY_TAG.0;
        for record in records {
            if record.flags.0 & any != 0
                && record.flags.0 & (CallFlags::NOTHING.0 | CallFlags::CANCELLED.0) == 0
                && Operation::completes(record.operation) != CompletionEffect::Nothing
                && record.request != NONE
            {
                self.arrived.insert(record.request, (record.peer, record.tag));
            }
        }
    }

    /// Adds a step that ends without a call, if it has a length.
    fn without_call(&mut self, thread: &mut ThreadSteps, reached: RecordTimes, out: &mut StepBatch) {
        if reached.end > reached.from {
            self.end_interval(thread, reached.end, thread.before(reached), out);
        }
    }

    /// Adds a step without a call that ends an interval of a kind at these ticks.
    fn end_interval(&mut self, thread: &mut ThreadSteps, ticks: u64, kind: RegionState, out: &mut StepBatch) {
        thread.end_polls(out);
        let (end, parallel) = (self.time(ticks), thread.parallel.end_step());
        out.steps.push(TimelineStep {
            begin: end,
            end,
            before: kind,
            kind,
            site: NONE,
            operation: 0,
            events: 0,
            parallel,
            facts: CallFacts::NOTHING,
        });
    }

    fn time(&self, ticks: u64) -> Ns {
        self.clock.clock.nanoseconds(ticks).saturating_sub(self.clock.zero).clamp(-LONGEST, LONGEST)
    }

    fn marker(&mut self, thread: &mut ThreadSteps, record: &Record, out: &mut StepBatch) {
        let is_flush = record.operation == Operation::Flush as u16;
        if is_flush && thread.waiting.is_some() {
            // The ring was full before the parts of the last call.
            let reached = thread.walk.step(record);
            out.steps.push(self.step(thread, record, reached));
            return;
        }
        thread.end_waiting(out);
        if is_flush && !thread.polls.is_empty() {
            let reached = thread.walk.step(record);
            let flush = self.step(thread, record, reached);
            thread.polls.push(flush);
            return;
        }
        thread.end_polls(out);
        self.pass_parallel(thread, record);
        match record.operation() {
            Some(Operation::RegionEnter | Operation::RegionLeave | Operation::Pause | Operation::Resume) => {
                let reached = thread.walk.step(record);
                self.without_call(thread, reached, out);
                self.settle_place(thread, None);
            }
            Some(Operation::InState) => self.in_state(thread, record, out),
            _ if record.end > record.begin.max(thread.walk.time.current_ticks()) => {
                let reached = thread.walk.step(record);
                out.steps.push(self.step(thread, record, reached));
            }
            _ => match thread.walk.time.state() {
                WalkState::InCall(_) => {
                    let reached = thread.walk.step(record);
                    self.without_call(thread, reached, out);
                }
                // No state begins or ends with it: the time before it belongs to the next step.
                WalkState::Computing | WalkState::Paused => {}
            },
        }
    }

    /// Adds an interval of computation in a state, as a step that ends without a call.
    fn in_state(&mut self, thread: &mut ThreadSteps, record: &Record, out: &mut StepBatch) {
        let before = thread.walk.time.advance(record.begin);
        self.without_call(thread, before, out);
        let reached = thread.walk.step(record);
        if reached.own_ticks() > 0 {
            let computation = thread.placed.1;
            let kind = match (reached.state, record.core_state()) {
                (WalkState::Paused, _) => RegionState::unknown(computation.region()),
                (_, Some(state)) => RegionState::in_state(computation.region(), state),
                (_, None) => computation,
            };
            self.end_interval(thread, reached.end, kind, out);
        }
    }

    /// Converts a record to a step without events.
    fn step(&mut self, thread: &mut ThreadSteps, record: &Record, reached: RecordTimes) -> TimelineStep {
        TimelineStep {
            begin: self.time(reached.begin),
            end: self.time(reached.end),
            before: thread.before(reached),
            kind: RegionState::new(thread.placed.1.region(), record.activity()),
            site: self.site(record.call_site),
            operation: record.operation,
            events: 0,
            parallel: thread.parallel.end_step(),
            facts: CallFacts::NOTHING,
        }
    }

    /// Adds a parallel region's instance that ends here to the computation before the next step.
    fn pass_parallel(&mut self, thread: &mut ThreadSteps, record: &Record) {
        let now = record.begin.max(thread.walk.time.current_ticks());
        if record.marks_parallel_region()
            && let Some(instance) = thread.parallel.open.pass(record, now)
        {
            let begin = self.time(instance.begin);
            let elapsed = (self.time(instance.end) - begin).max(0);
            let excess = (self.time(instance.begin.saturating_add(instance.excess())) - begin).clamp(0, elapsed);
            let (site, team) = (self.site(instance.call_site), instance.team);
            let whole = ParallelPart { site, begin, elapsed, team, excess, thread: NONE };
            thread.parallel.add(whole, self.ids.facts);
            if self.ids.facts {
                for one in thread.parallel.open.ended_threads().to_vec() {
                    let entered = instance.begin.saturating_add(one.until_entered);
                    let from = self.time(entered);
                    let until = self.time(entered.saturating_add(one.inside));
                    let work = self.time(entered.saturating_add(one.useful)) - from;
                    let of_thread =
                        ParallelPart { begin: from, elapsed: until - from, excess: work, thread: one.number, ..whole };
                    thread.parallel.add(of_thread, true);
                }
            }
        }
    }

    /// Returns the arguments of a call, if they are wanted.
    fn facts(&mut self, record: &Record) -> CallFacts {
        if !self.ids.facts {
            return CallFacts::NOTHING;
        }
        let (comm, peer) = self.peer(record.comm, record.peer);
        let has_tag = record.activity() == Activity::PointToPoint;
        let (sent, received) = transferred_bytes(record);
        let found_nothing = Operation::polls(record.operation) && record.flags.contains(CallFlags::NOTHING);
        CallFacts {
            comm,
            peer,
            tag: if has_tag { record.tag } else { NO_PEER },
            sent,
            received,
            tested: if found_nothing { record.request } else { NONE },
        }
    }

    fn call(&mut self, thread: &mut ThreadSteps, record: &Record, out: &mut StepBatch) {
        let reached = thread.walk.time.reach(record);
        thread.walk.time.pass_call(record);
        let mut step = TimelineStep { facts: self.facts(record), ..self.step(thread, record, reached) };
        let [goes_on, is_inactive] = [CallFlags::POLLED, CallFlags::INACTIVE].map(|flag| record.flags.contains(flag));
        if !goes_on || !thread.go_on_waiting(&mut step, is_inactive) {
            thread.end_polls(out);
            thread.longest_poll = step.end - step.begin;
        }
        let found_nothing = Operation::polls(record.operation) && record.flags.contains(CallFlags::NOTHING);
        if found_nothing || goes_on && is_inactive {
            thread.polls.push(step);
            return;
        }
        let semantics = Operation::semantics(record.operation);
        let semantics = if goes_on { semantics.after_polling() } else { semantics };
        thread.semantics = semantics;
        let missing = match semantics {
            OperationSemantics::Exchange => 1,
            OperationSemantics::StartAll => n_parts(record),
            _ if Operation::completes(record.operation).has_parts() => n_parts(record),
            _ => 0,
        };
        let events = out.events.len();
        let silent = record.flags.contains(CallFlags::NOTHING) || record.flags.contains(CallFlags::FAILED);
        if let Some(event) = self.event(record, semantics, missing > 0).filter(|_| !silent) {
            out.events.push(event);
            if semantics == OperationSemantics::StartExchange {
                out.events.push(CommEvent { role: CommRole::StartRecvAny, bytes: 0, ..event });
            }
        }
        match missing {
            0 => step.events = (out.events.len() - events) as u16,
            _ => thread.waiting = Some(UnfinishedCall { missing, step: out.steps.len(), events }),
        }
        out.steps.push(step);
    }

    fn part(&mut self, thread: &mut ThreadSteps, record: &Record, out: &mut StepBatch) {
        let Some(waiting) = &mut thread.waiting else { return };
        waiting.missing = waiting.missing.saturating_sub(1);
        let (is_last, first) = (waiting.missing == 0, waiting.events);
        if let Some(call) = out.steps.get_mut(waiting.step).filter(|_| self.ids.facts) {
            let (sent, received) = transferred_bytes(record);
            call.facts.sent = call.facts.sent.saturating_add(sent);
            call.facts.received = call.facts.received.saturating_add(received);
        }
        let event = match record.operation() {
            Some(Operation::Received) if !record.flags.contains(CallFlags::NOTHING) => {
                Some(self.message(record, CommRole::Recv, record.received))
            }
            Some(Operation::Completed) => self.completion(record, thread.semantics),
            Some(Operation::Started) => self.started(record),
            _ => None,
        };
        // More than a step can have need not be carried from batch to batch.
        if let Some(event) = event
            && out.events.len() - first < usize::from(u16::MAX)
        {
            out.events.push(event);
        }
        if is_last {
            thread.end_waiting(out);
        }
    }

    fn site(&mut self, call_site: u64) -> u32 {
        let (definitions, places) = (&self.definitions, &self.ids.places);
        *self.sites.entry(call_site).or_insert_with(|| {
            let id = u32::try_from(call_site).ok();
            id.and_then(|id| places.sites.find(definitions, id)).unwrap_or(NONE)
        })
    }

    #[inline]
    fn settle_call_position(&mut self, thread: &mut ThreadSteps, placed: PlacedCall) {
        let (marked, iteration) = thread.walk.open.innermost();
        self.settle_place(thread, placed.within(marked, iteration));
    }

    /// Sets the region of the time that follows: the one that was found for it, or that markers have opened.
    fn settle_place(&mut self, thread: &mut ThreadSteps, placed: Option<(u32, u32)>) {
        let (region, _) = placed.unwrap_or(thread.walk.open.innermost());
        if thread.placed.0 != region {
            let (rank, definitions, places) = (self.rank, &self.definitions, &self.ids.places);
            let idx = *self.regions.entry(region).or_insert_with(|| places.region(rank, definitions, region));
            thread.placed = (region, RegionState::new(idx, Activity::Computation));
        }
    }
}

/// Returns the number of parts that follow a call which starts or completes several requests. One that was written to the log before its
/// parts, for the ring was full, does not say so: it has all that follow.
fn n_parts(record: &Record) -> u32 {
    let has_none = record.end == 0
        || [CallFlags::NOTHING, CallFlags::INACTIVE, CallFlags::FAILED].iter().any(|&flag| record.flags.contains(flag));
    if record.count == 0 && !has_none { u32::MAX } else { record.count }
}

/// Returns the bytes that a record sends and receives, as the sums count them.
fn transferred_bytes(record: &Record) -> (u64, u64) {
    let (sent, received) = counted_byte_masks(record.operation);
    match record.flags.contains(CallFlags::NOTHING) {
        true => (0, 0),
        false => (record.sent & sent, record.received & received),
    }
}

impl ThreadSteps {
    #[inline(always)]
    fn before(&self, reached: RecordTimes) -> RegionState {
        let (_, computation) = self.placed;
        match reached.state {
            WalkState::Computing => computation,
            WalkState::InCall(activity) => RegionState::new(computation.region(), activity),
            WalkState::Paused => RegionState::unknown(computation.region()),
        }
    }

    /// Creates a batch of thread `number`, with room for a number of steps. It starts with the call whose parts may follow.
    fn begin(&mut self, number: u32, room: usize) -> StepBatch {
        let (steps, events) = packed::take_spare_lists();
        let mut out = StepBatch { thread: number, steps, events, ..StepBatch::default() };
        out.steps.reserve_exact(room);
        out.events.reserve(room);
        out.steps.append(&mut self.steps);
        out.events.append(&mut self.events);
        out
    }

    /// Adds the parallel regions in the time before a batch's steps.
    fn take_parallel(&mut self, out: &mut StepBatch) {
        out.parallel = self.parallel.take_first(out.steps.iter().map(|step| usize::from(step.parallel)).sum());
    }

    fn carry(&mut self, out: &mut StepBatch) {
        if let Some(waiting) = &mut self.waiting {
            self.steps.extend(out.steps.drain(waiting.step..));
            self.events.extend(out.events.drain(waiting.events..));
            (waiting.step, waiting.events) = (0, 0);
        }
    }

    /// Lets a call continue the wait of the pending polls, if there are any: `step` begins with them, and is named for the longest of these calls.
    fn go_on_waiting(&mut self, step: &mut TimelineStep, completes_nothing: bool) -> bool {
        let Some(&TimelineStep { begin, before, site, operation, facts, .. }) = self.polls.first() else {
            return false;
        };
        let parallel = self.polls.iter().map(|poll| poll.parallel).fold(step.parallel, u16::saturating_add);
        let own = step.end - step.begin;
        step.facts.tested = facts.tested;
        (step.begin, step.before, step.parallel) = (begin, before, parallel);
        // For calls that complete some requests it matters which of them were complete already.
        let some = [Operation::Waitsome, Operation::Testsome].iter().any(|&one| one as u16 == step.operation);
        if completes_nothing || own <= self.longest_poll && !some {
            (step.site, step.operation) = (site, operation);
        }
        self.longest_poll = self.longest_poll.max(own);
        self.polls.clear();
        true
    }

    /// Ends pending polls that found nothing and that no call continues. It is not known for what they waited.
    #[inline(always)]
    fn end_polls(&mut self, out: &mut StepBatch) {
        if !self.polls.is_empty() {
            out.steps.append(&mut self.polls);
        }
    }

    fn end_waiting(&mut self, out: &mut StepBatch) {
        if let Some(waiting) = self.waiting.take() {
            let n = u16::try_from(out.events.len() - waiting.events).unwrap_or(u16::MAX);
            out.events.truncate(waiting.events + usize::from(n));
            if let Some(step) = out.steps.get_mut(waiting.step) {
                step.events = n;
            }
        }
    }
}
