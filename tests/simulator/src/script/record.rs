//! What the log of a simulated rank holds: records as the recorder writes them, with Open MPI's constants.

use super::program::Comm;
use super::step::{Collective, Data, Incoming, Outgoing, Peer};
use crate::scenario::RankScript;
use lbprof_collector::definition::{Definition, MpiObject, ObjectKind, RankGroup, RankList, RegionKind};
use lbprof_collector::record::{CallFlags, Record};

const ANY_SOURCE: i32 = -1;
const ANY_TAG: i32 = -1;
const PROC_NULL: i32 = -2;

#[derive(Clone, Debug)]
pub(super) enum Event {
    Enter { time: u64, name: String, kind: RegionKind, iterated: bool },
    Leave { time: u64 },
    Window { id: u32, comm: u32 },
    Group { id: u32, ranks: Vec<u32> },
    Record(Record, u64),
}

impl Event {
    pub fn write(self, log: RankScript) -> RankScript {
        match self {
            Event::Enter { time, name, kind, iterated } => log.enter_at(time, &name, kind, iterated),
            Event::Leave { time } => log.leave_at(time),
            Event::Window { id, comm } => {
                log.define(Definition::Object(MpiObject { kind: ObjectKind::Window, id, comm, name: String::new() }))
            }
            Event::Group { id, ranks } => {
                log.define(Definition::Group(RankGroup { id, ranks: RankList::from_ranks(ranks) }))
            }
            Event::Record(record, offset) => log.whole(record, offset),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    pub source: u32,
    pub tag: i32,
    pub bytes: u64,
}

pub(super) fn sends(record: &mut Record, outgoing: &Outgoing, comm: u32) {
    record.comm = comm;
    record.tag = outgoing.tag;
    match outgoing.dest {
        Peer::Rank(rank) => (record.peer, record.sent) = (rank as i32, outgoing.bytes),
        Peer::Any | Peer::Null => {
            record.peer = PROC_NULL;
            record.flags |= CallFlags::NOTHING;
        }
    }
}

pub(super) fn posts(record: &mut Record, incoming: &Incoming, comm: u32) {
    record.comm = comm;
    record.tag = incoming.tag.unwrap_or(ANY_TAG);
    let (peer, flags) = match incoming.source {
        Peer::Rank(rank) => (rank as i32, CallFlags::default()),
        Peer::Any => (ANY_SOURCE, CallFlags::ANY_SOURCE),
        Peer::Null => (PROC_NULL, CallFlags::NOTHING),
    };
    (record.peer, record.flags) = (peer, record.flags | flags);
    if incoming.tag.is_none() {
        record.flags |= CallFlags::ANY_TAG;
    }
}

pub(super) fn arrives(record: &mut Record, arrived: Option<Arrived>) {
    match arrived {
        Some(arrived) => {
            (record.peer, record.tag, record.received) = (arrived.source as i32, arrived.tag, arrived.bytes);
        }
        None => record.flags |= CallFlags::NOTHING,
    }
}

pub(super) fn meets(record: &mut Record, collective: &Collective, comm: u32, rank: u32, on: &Comm) {
    let (bytes, is_root) = (collective.bytes, rank == collective.root);
    let size = on.group.len() as u64;
    let (from, to) = (on.sources(rank).count() as u64, on.destinations(rank).count() as u64);
    record.comm = comm;
    (record.sent, record.received) = match collective.data {
        Data::None => (0, 0),
        Data::Broadcast => {
            if is_root {
                (bytes, 0)
            } else {
                (0, bytes)
            }
        }
        Data::Reduce => (bytes, if is_root { bytes } else { 0 }),
        Data::Gather => (bytes, if is_root { size * bytes } else { 0 }),
        Data::Scatter => (if is_root { size * bytes } else { 0 }, bytes),
        Data::Same => (bytes, bytes),
        Data::AllGather => (bytes, size * bytes),
        Data::AllToAll => (size * bytes, size * bytes),
        Data::ReduceScatter => (size * bytes, bytes),
        Data::NeighbourGather => (bytes, from * bytes),
        Data::NeighbourExchange => (to * bytes, from * bytes),
    };
    if matches!(collective.data, Data::Broadcast | Data::Reduce | Data::Gather | Data::Scatter) {
        record.peer = collective.root as i32;
    }
}

#[derive(Clone, Debug)]
pub(super) struct Open {
    /// The record of its start or preparation: communicator, peer, tag, bytes, flags and id as posted.
    pub posted: Record,
    pub receives: bool,
    /// Whether it stands for many, and has no id.
    pub empty: bool,
}

impl Open {
    fn flags(&self) -> CallFlags {
        let kept = CallFlags::ANY_SOURCE | CallFlags::ANY_TAG | CallFlags::PERSISTENT;
        CallFlags(self.posted.flags.0 & (kept.0 | 7))
    }

    pub fn complete(&self, record: &mut Record, arrived: Option<Arrived>, inactive: bool) {
        if self.empty {
            record.flags |= CallFlags::NOTHING;
            return;
        }
        record.comm = self.posted.comm;
        record.flags = CallFlags(record.flags.0 & !7) | self.flags();
        if inactive {
            record.flags |= CallFlags::NOTHING | CallFlags::INACTIVE;
            return;
        }
        record.request = self.posted.request;
        record.peer = self.posted.peer;
        record.tag = self.posted.tag;
        record.sent = self.posted.sent;
        if self.receives {
            arrives(record, arrived);
        }
    }

    pub fn start(&self, record: &mut Record) {
        let posted = &self.posted;
        (record.request, record.comm, record.peer, record.tag) = (posted.request, posted.comm, posted.peer, posted.tag);
        (record.sent, record.received) = (posted.sent, posted.received);
        record.flags = CallFlags(record.flags.0 & !7) | CallFlags::PERSISTENT | self.flags();
    }

    pub fn look(&self, record: &mut Record) {
        (record.comm, record.request) = (self.posted.comm, self.posted.request);
        record.flags = record.flags.with_activity(self.posted.flags.activity());
    }
}
