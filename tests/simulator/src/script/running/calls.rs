//! Calls: what each starts when it begins, when it may end, and what its record says then.

use super::simulation::{Outcome, Wait};
use super::state::{Request, Stream};
use super::world::World;
use crate::script::error::ScriptError;
use crate::script::record;
use crate::script::record::{Event, Open};
use crate::script::step::{Call, Collective, Incoming, On, Peer, ScriptStep, Start, Which};
use lbprof_collector::operation::Operation;
use lbprof_collector::record::{CallFlags, NONE, Record};
use lbprof_collector::states::Activity;

/// Ids of requests have 31 bits.
const REQUEST_IDS: u32 = 0x7fff_ffff;

impl Call {
    pub fn operation(&self) -> Operation {
        match *self {
            Call::Blocking(operation, ..)
            | Call::Nonblocking(operation, ..)
            | Call::Prepare(operation, ..)
            | Call::Start(operation, _)
            | Call::Complete { operation, .. }
            | Call::Probe { operation, .. }
            | Call::Access { operation, .. } => operation,
            Call::Free(_) => Operation::Request_free,
        }
    }
}

/// The requests that a call is given: indices among the rank's requests; `None`: MPI_REQUEST_NULL.
type Listed = Vec<Option<usize>>;

impl<'s> World<'s> {
    pub fn begin(&mut self, rank: usize, step: &'s ScriptStep, call: &'s Call) -> Result<(), ScriptError> {
        debug_assert!(self.ranks[rank].blocked.is_none(), "line {}", step.line);
        let now = self.ranks[rank].now;
        match call {
            Call::Blocking(_, start) => {
                let own = self.start(rank, start, None)?;
                self.block(rank, own);
            }
            Call::Nonblocking(operation, start, name) => {
                let pending = self.start(rank, start, None)?;
                let record = self.open(rank, *operation, start, name, Some(pending))?;
                self.end(rank, now, record, Vec::new(), Vec::new());
            }
            Call::Prepare(operation, start, name) => {
                let record = self.open(rank, *operation, start, name, None)?;
                self.end(rank, now, record, Vec::new(), Vec::new());
            }
            Call::Start(operation, names) => self.start_prepared(rank, *operation, names)?,
            Call::Complete { names, .. } => {
                self.listed(rank, names.as_deref())?;
                self.block(rank, Vec::new());
            }
            Call::Probe { .. } => self.block(rank, Vec::new()),
            Call::Free(name) => self.free(rank, name)?,
            Call::Access { operation, window, target, bytes } => {
                let mut record = Record::new(*operation, 0);
                self.on_window(rank, window, &mut record)?;
                record.peer = *target as i32;
                let moved = if *operation == Operation::Put { &mut record.sent } else { &mut record.received };
                *moved = *bytes;
                self.end(rank, now, record, Vec::new(), Vec::new());
            }
        }
        Ok(())
    }

    pub fn end_if_ready(&mut self, rank: usize, call: &'s Call, time: u64) -> Result<(), ScriptError> {
        match call {
            Call::Blocking(operation, start) => self.end_blocking(rank, *operation, start, time),
            Call::Complete { operation, which, waits, names } => {
                let listed = self.listed(rank, names.as_deref())?;
                self.end_completion(rank, *operation, *which, *waits, &listed, time);
                Ok(())
            }
            Call::Probe { operation, incoming, waits, message } => {
                self.end_probe(rank, *operation, incoming, *waits, message.as_deref(), time);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn start(&mut self, rank: usize, start: &'s Start, stream: Option<Stream>) -> Result<Vec<usize>, ScriptError> {
        Ok(match start {
            Start::Send(outgoing) => vec![self.send(rank, outgoing)],
            Start::Receive(incoming) => vec![self.receive(rank, incoming)],
            Start::Exchange(outgoing, incoming) => vec![self.send(rank, outgoing), self.receive(rank, incoming)],
            Start::Collective(collective) => vec![self.enter(rank, collective, stream)?],
            Start::Epoch(epoch) => self.epoch(rank, epoch)?,
            Start::Matched(name) => match self.ranks[rank].matched.get(name.as_str()) {
                Some(&message) => vec![self.receive_matched(rank, message)],
                None => return Err(self.wrong(rank, format!("no probe has found a message `{name}`"))),
            },
        })
    }

    fn comm_id(&self, rank: usize, comm: usize) -> u32 {
        match comm {
            0 => 0,
            _ if comm <= self.ranks.len() => 1,
            _ => 2 + self.script.own_comms(rank as u32).take_while(|&(i, _)| i != comm).count() as u32,
        }
    }

    /// The record of what `start` starts, before it is complete.
    fn posted(&mut self, rank: usize, operation: Operation, start: &'s Start) -> Result<Record, ScriptError> {
        let mut record = Record::new(operation, 0);
        match start {
            Start::Send(outgoing) | Start::Exchange(outgoing, _) => {
                record::sends(&mut record, outgoing, self.comm_id(rank, outgoing.comm))
            }
            Start::Receive(incoming) => record::posts(&mut record, incoming, self.comm_id(rank, incoming.comm)),
            Start::Matched(name) => {
                if let Some(message) = self.ranks[rank].matched.remove(name.as_str()) {
                    let message = &self.messages[message];
                    (record.peer, record.tag) = (message.arrived.source as i32, message.arrived.tag);
                    record.comm = self.comm_id(rank, message.comm);
                }
            }
            Start::Collective(collective) => self.posted_collective(rank, collective, &mut record)?,
            Start::Epoch(epoch) => self.posted_epoch(rank, epoch, &mut record)?,
        }
        Ok(record)
    }

    fn posted_collective(
        &mut self,
        rank: usize,
        collective: &'s Collective,
        record: &mut Record,
    ) -> Result<(), ScriptError> {
        match &collective.on {
            On::Comm(comm) => {
                let id = self.comm_id(rank, *comm);
                record::meets(record, collective, id, self.rank_in(*comm, rank), &self.script.comms[*comm]);
            }
            On::NewWindow(comm, name) => {
                self.on_window(rank, name, record)?;
                let id = record.tag as u32;
                let comm = self.comm_id(rank, *comm);
                self.log(rank, Event::Window { id, comm });
            }
            On::Window(name, _) => self.on_window(rank, name, record)?,
        }
        Ok(())
    }

    pub fn on_window(&self, rank: usize, name: &str, record: &mut Record) -> Result<(), ScriptError> {
        let Some(window) = self.ranks[rank].windows.get(name) else {
            return Err(self.wrong(rank, format!("there is no window `{name}`")));
        };
        record.comm = self.comm_id(rank, window.comm);
        record.tag = window.id as i32;
        Ok(())
    }

    fn new_id(&mut self, rank: usize) -> u32 {
        let next = &mut self.ranks[rank].next_request;
        *next = (*next + 1) & REQUEST_IDS;
        next.wrapping_sub(1) & REQUEST_IDS
    }

    /// Opens a request of this name: active where it is `pending`, else persistent. Gives the record of the call.
    fn open(
        &mut self,
        rank: usize,
        operation: Operation,
        start: &'s Start,
        name: &'s str,
        pending: Option<Vec<usize>>,
    ) -> Result<Record, ScriptError> {
        if self.find(rank, name).is_some() {
            return Err(self.wrong(rank, format!("the request `{name}` is still open")));
        }
        let mut record = self.posted(rank, operation, start)?;
        let empty = pending.is_some() && self.is_empty(start);
        if !empty {
            record.request = self.new_id(rank);
        }
        let mut prepared = None;
        if pending.is_none() {
            record.flags |= CallFlags::PERSISTENT;
            let stream = match start {
                Start::Collective(Collective { on: On::Comm(comm), .. }) => {
                    Some(Stream::Prepared(*comm, self.next_number(rank, Stream::Comm(*comm))))
                }
                _ => None,
            };
            prepared = Some((start, stream));
        }
        let receives = matches!(start, Start::Receive(_) | Start::Matched(_) | Start::Exchange(..));
        let open = Open { posted: record, receives, empty };
        let active = pending.is_some();
        let pending = pending.unwrap_or_default();
        self.ranks[rank].names.insert(name);
        self.ranks[rank].requests.push(Request { name, open, pending, active, prepared });
        Ok(record)
    }

    /// Whether MPI gives what is started a request that stands for many complete ones.
    fn is_empty(&self, start: &Start) -> bool {
        match start {
            Start::Send(outgoing) if outgoing.dest == Peer::Null => true,
            Start::Send(outgoing) => self.script.empty_requests && self.is_eager(outgoing),
            Start::Receive(incoming) => incoming.source == Peer::Null,
            _ => false,
        }
    }

    fn find(&self, rank: usize, name: &str) -> Option<usize> {
        self.ranks[rank].requests.iter().position(|request| request.name == name)
    }

    fn start_prepared(&mut self, rank: usize, operation: Operation, names: &'s [String]) -> Result<(), ScriptError> {
        let mut records = Vec::new();
        for name in names {
            let found = self.find(rank, name).map(|i| &self.ranks[rank].requests[i]);
            let Some((start, stream)) = found.filter(|found| !found.active).and_then(|found| found.prepared) else {
                return Err(self.wrong(rank, format!("`{name}` is no persistent request that could be started")));
            };
            let pending = self.start(rank, start, stream)?;
            let id = self.new_id(rank);
            if let Some(i) = self.find(rank, name) {
                let request = &mut self.ranks[rank].requests[i];
                (request.pending, request.active, request.open.posted.request) = (pending, true, id);
                let single = operation == Operation::Start;
                let mut record = Record::new(if single { operation } else { Operation::Started }, 0);
                request.open.start(&mut record);
                records.push(record);
            }
        }
        let now = self.ranks[rank].now;
        match &records[..] {
            [record] if operation == Operation::Start => self.end(rank, now, *record, Vec::new(), Vec::new()),
            _ => {
                let record = summary(operation, records.len() as u32, records.last());
                self.end(rank, now, record, records, Vec::new());
            }
        }
        Ok(())
    }

    fn free(&mut self, rank: usize, name: &str) -> Result<(), ScriptError> {
        let Some(i) = self.find(rank, name) else {
            return Err(self.wrong(rank, format!("there is no request `{name}`")));
        };
        let request = self.ranks[rank].requests.remove(i);
        let mut record = Record::new(Operation::Request_free, 0);
        if request.open.empty {
            record.flags |= CallFlags::NOTHING;
        } else {
            let posted = request.open.posted;
            (record.comm, record.peer, record.tag) = (posted.comm, posted.peer, posted.tag);
        }
        self.end(rank, self.ranks[rank].now, record, Vec::new(), Vec::new());
        Ok(())
    }

    fn end_blocking(
        &mut self,
        rank: usize,
        operation: Operation,
        start: &'s Start,
        time: u64,
    ) -> Result<(), ScriptError> {
        let Some(blocked) = &self.ranks[rank].blocked else { return Ok(()) };
        if !self.are_done(&blocked.own, time) {
            return Ok(());
        }
        let (begin, own) = (blocked.begin, blocked.own.clone());
        let waits = self.waits(&own, begin);
        let mut record = self.posted(rank, operation, start)?;
        let arrived = own.last().and_then(|&pending| self.pending[pending].arrived);
        let mut parts = Vec::new();
        match start {
            Start::Receive(_) | Start::Matched(_) => record::arrives(&mut record, arrived),
            Start::Exchange(_, incoming) => {
                let mut part = Record::new(Operation::Received, 0);
                record::posts(&mut part, incoming, self.comm_id(rank, incoming.comm));
                record::arrives(&mut part, arrived);
                parts.push(part);
            }
            Start::Collective(Collective { on: On::Window(name, true), .. }) => {
                self.ranks[rank].windows.remove(name.as_str());
            }
            Start::Send(_) | Start::Collective(_) | Start::Epoch(_) => {}
        }
        self.end(rank, time, record, parts, waits);
        Ok(())
    }

    fn listed(&self, rank: usize, names: Option<&[String]>) -> Result<Listed, ScriptError> {
        let state = &self.ranks[rank];
        let Some(names) = names else {
            let active = state.requests.iter().enumerate().filter(|(_, request)| request.active);
            return Ok(active.map(|(i, _)| Some(i)).collect());
        };
        if let Some(name) = names.iter().find(|name| !state.names.contains(name.as_str())) {
            return Err(self.wrong(rank, format!("no request `{name}` was ever started")));
        }
        Ok(names.iter().map(|name| self.find(rank, name)).collect())
    }

    fn is_complete(&self, rank: usize, request: usize, time: u64) -> bool {
        let request = &self.ranks[rank].requests[request];
        request.active && self.are_done(&request.pending, time)
    }

    fn is_active(&self, rank: usize, request: usize) -> bool {
        self.ranks[rank].requests[request].active
    }

    fn store_completed(&self, rank: usize, request: usize, record: &mut Record) {
        let request = &self.ranks[rank].requests[request];
        let arrived = request.pending.iter().find_map(|&pending| self.pending[pending].arrived);
        request.open.complete(record, arrived, !request.active);
    }

    /// These requests are complete: persistent ones stay, inactive.
    fn close(&mut self, rank: usize, completed: &[usize]) {
        let requests = &mut self.ranks[rank].requests;
        for &i in completed {
            (requests[i].active, requests[i].pending) = (false, Vec::new());
        }
        requests.retain(|request| request.active || request.prepared.is_some());
    }

    fn request_waits(&self, rank: usize, requests: &[usize]) -> Vec<Wait> {
        let state = &self.ranks[rank];
        let begin = state.blocked.as_ref().map_or(state.now, |blocked| blocked.begin);
        let pending: Vec<_> = requests.iter().flat_map(|&i| state.requests[i].pending.iter().copied()).collect();
        self.waits(&pending, begin)
    }

    /// A call that completes requests may end when enough of them are complete, or at once if it does not wait.
    fn end_completion(
        &mut self,
        rank: usize,
        operation: Operation,
        which: Which,
        waits: bool,
        listed: &Listed,
        time: u64,
    ) {
        let active = || listed.iter().flatten().any(|&i| self.is_active(rank, i));
        let completed = match self.found_before(rank) {
            // A run is made again: what was found must be there, and no more is taken.
            Some(Outcome::Requests(places)) => {
                let is_ready = |&place: &usize| self.is_ready(rank, listed, place, time);
                if !places.iter().all(is_ready) {
                    return;
                }
                Some(places.clone())
            }
            Some(_) => None,
            None => self.completed(rank, which, listed, time),
        };
        match completed {
            Some(places) if matches!(which, Which::One | Which::Any) => {
                self.end_with(rank, operation, listed, places, time);
            }
            Some(places) => self.end_several(rank, operation, listed, places, time),
            None if waits && (which != Which::Some || active()) => {}
            None => {
                let first = listed.iter().flatten().next().map(|&i| &self.ranks[rank].requests[i].open);
                let mut record = Record::new(operation, 0);
                if let Some(open) = first.filter(|_| which == Which::One) {
                    open.look(&mut record);
                }
                let subject = first.map_or(u64::MAX, |open| u64::from(open.posted.request));
                self.end_poll(rank, time, record, subject);
            }
        }
    }

    /// Whether a request is complete at `time`, or there is nothing to be completed.
    fn is_ready(&self, rank: usize, listed: &Listed, place: usize, time: u64) -> bool {
        let request = listed.get(place).copied().flatten();
        request.is_none_or(|i| !self.is_active(rank, i) || self.is_complete(rank, i, time))
    }

    fn completed(&self, rank: usize, which: Which, listed: &Listed, time: u64) -> Option<Vec<usize>> {
        let all = || 0..listed.len();
        let is_complete = |&place: &usize| listed[place].is_some_and(|i| self.is_complete(rank, i, time));
        let none_active = || !listed.iter().flatten().any(|&i| self.is_active(rank, i));
        match which {
            Which::One | Which::All => {
                all().all(|place| self.is_ready(rank, listed, place, time)).then(|| all().collect())
            }
            Which::Any => match all().find(is_complete) {
                Some(place) => Some(vec![place]),
                None => none_active().then(Vec::new),
            },
            Which::Some => Some(all().filter(is_complete).collect::<Vec<_>>()).filter(|places| !places.is_empty()),
        }
    }

    fn end_with(&mut self, rank: usize, operation: Operation, listed: &Listed, places: Vec<usize>, time: u64) {
        let mut record = Record::new(operation, 0);
        let completed: Vec<_> = places.iter().filter_map(|&place| listed[place]).collect();
        match completed.first() {
            Some(&i) => self.store_completed(rank, i, &mut record),
            None => record.flags |= CallFlags::NOTHING | CallFlags::INACTIVE,
        }
        let waits = self.request_waits(rank, &completed);
        self.close(rank, &completed);
        self.found(rank, Outcome::Requests(places));
        self.end(rank, time, record, Vec::new(), waits);
    }

    fn end_several(&mut self, rank: usize, operation: Operation, listed: &Listed, places: Vec<usize>, time: u64) {
        let completed: Vec<_> = places.iter().filter_map(|&place| listed[place]).collect();
        let parts: Vec<_> = completed.iter().filter_map(|&i| self.part(rank, i)).collect();
        let last = completed.iter().rev().find(|&&i| !self.ranks[rank].requests[i].open.empty);
        // One that stands for many is completed, but gives no part; a persistent one that is not active is not.
        let n = completed.iter().filter(|&&i| self.ranks[rank].requests[i].active).count() as u32;
        let mut record = summary(operation, n, parts.last());
        if n == 0 {
            record.flags |= CallFlags::NOTHING | CallFlags::INACTIVE;
        }
        record.comm = last.map_or(NONE, |&i| self.ranks[rank].requests[i].open.posted.comm);
        let waits = self.request_waits(rank, &completed);
        self.close(rank, &completed);
        self.found(rank, Outcome::Requests(places));
        self.end(rank, time, record, parts, waits);
    }

    fn part(&self, rank: usize, request: usize) -> Option<Record> {
        let found = &self.ranks[rank].requests[request];
        let mut part = Record::new(Operation::Completed, 0);
        self.store_completed(rank, request, &mut part);
        (found.active && !found.open.empty).then_some(part)
    }

    fn end_probe(
        &mut self,
        rank: usize,
        operation: Operation,
        incoming: &Incoming,
        waits: bool,
        name: Option<&'s str>,
        time: u64,
    ) {
        let mut record = Record::new(operation, 0);
        record::posts(&mut record, incoming, self.comm_id(rank, incoming.comm));
        if incoming.source == Peer::Null {
            self.found(rank, Outcome::Nothing);
            return self.end(rank, time, record, Vec::new(), Vec::new());
        }
        // A run is made again: the same message is found, or none.
        let (found, waits) = match self.found_before(rank) {
            Some(&Outcome::Message(source, tag)) => {
                let same = Incoming { source: Peer::Rank(source), tag: Some(tag), ..*incoming };
                (self.find_head(rank, &same), true)
            }
            Some(_) => (None, false),
            None => (self.find_head(rank, incoming), waits),
        };
        match found {
            Some(message) => self.end_probe_with(rank, record, message, name, time),
            None if waits => {}
            None => {
                let subject = u64::from(record.comm) ^ (record.peer as u64) << 20 ^ (record.tag as u64) << 36;
                self.end_poll(rank, time, record, subject);
            }
        }
    }

    fn end_probe_with(&mut self, rank: usize, mut record: Record, found: usize, name: Option<&'s str>, time: u64) {
        let message = &self.messages[found];
        let (source, tag) = (message.arrived.source, message.arrived.tag);
        (record.peer, record.tag) = (source as i32, tag);
        let wait = Wait { by: message.sender(), did_ns: message.begun, came_ns: message.head };
        let begin = self.ranks[rank].blocked.as_ref().map_or(time, |blocked| blocked.begin);
        let waits = if message.head > begin { vec![wait] } else { Vec::new() };
        if let Some(name) = name {
            self.ranks[rank].heads.retain(|&message| message != found);
            // The recorder keeps the message among the requests, under an id of its own.
            self.new_id(rank);
            self.ranks[rank].matched.insert(name, found);
        }
        self.found(rank, Outcome::Message(source, tag));
        self.end(rank, time, record, Vec::new(), waits);
    }
}

/// The record of a call that starts or completes several requests; `last` is the part that it goes by.
fn summary(operation: Operation, count: u32, last: Option<&Record>) -> Record {
    let mut record = Record::new(operation, 0);
    record.count = count;
    if let Some(last) = last {
        record.comm = last.comm;
        record.flags = record.flags.with_activity(last.activity());
    } else {
        record.flags = record.flags.with_activity(Activity::PointToPoint);
    }
    record
}
