//! What is going on while a script runs: what was started and is not complete, messages, collectives, epochs.

use std::collections::{HashMap, VecDeque};

use lbprof_collector::operation::Operation;

use crate::script::record::{Arrived, Open};
use crate::script::step::{Incoming, Peer, Shape, Start};

#[derive(Clone, Copy)]
pub(in crate::script) struct Done {
    pub at: u64,
    pub by: u32,
    pub did: u64,
}

pub(in crate::script) struct Pending {
    pub rank: usize,
    pub begun: u64,
    pub done: Option<Done>,
    pub incoming: Option<Incoming>,
    /// Which of the rank's receives it is.
    pub receive: Option<usize>,
    pub arrived: Option<Arrived>,
}

pub(in crate::script) struct Request<'s> {
    pub name: &'s str,
    pub open: Open,
    pub pending: Vec<usize>,
    pub active: bool,
    /// What a persistent one starts, and where that meets if it is a collective.
    pub prepared: Option<(&'s Start, Option<Stream>)>,
}

#[derive(Clone, Copy)]
pub(in crate::script) struct Window {
    pub id: u32,
    pub comm: usize,
    pub stream: Stream,
}

pub(in crate::script) struct Blocked {
    pub begin: u64,
    pub own: Vec<usize>,
}

pub(in crate::script) struct Message {
    pub sender: usize,
    pub receiver: usize,
    pub comm: usize,
    pub arrived: Arrived,
    pub begun: u64,
    pub head: u64,
    /// What its send started, where that waits for the receive.
    pub rendezvous: Option<usize>,
}

impl Message {
    pub fn is_wanted(&self, incoming: &Incoming) -> bool {
        let source = match incoming.source {
            Peer::Rank(source) => source == self.arrived.source,
            Peer::Any => true,
            Peer::Null => false,
        };
        self.comm == incoming.comm && source && incoming.tag.is_none_or(|tag| tag == self.arrived.tag)
    }

    pub fn sender(&self) -> u32 {
        self.sender as u32
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::script) enum Stream {
    Comm(usize),
    /// On a persistent collective: the communicator, and its number among the collectives there.
    Prepared(usize, u32),
    /// On a window, made by the collective with this number there.
    Window(usize, u32),
}

pub(in crate::script) struct Meeting {
    pub operation: Operation,
    pub shape: Shape,
    pub root: usize,
    pub entries: Vec<Option<Entry>>,
    pub missing: usize,
    pub first: usize,
}

#[derive(Clone, Copy)]
pub(in crate::script) struct Entry {
    pub at: u64,
    pub rank: usize,
    pub pending: usize,
}

#[derive(Default)]
pub(in crate::script) struct OpenEpochs {
    pub exposed_to: Vec<u32>,
    pub accesses: Vec<u32>,
    /// What the start of the access epoch left to wait for.
    pub deferred: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::script) enum Signal {
    Posted,
    Completed,
}

/// A window, who signals, who is signalled, and what.
pub(in crate::script) type SignalKey = (Stream, u32, u32, Signal);

#[derive(Default)]
pub(in crate::script) struct Exchange {
    pub sent: VecDeque<u64>,
    pub awaited: VecDeque<usize>,
}

#[derive(Default)]
pub(in crate::script) struct Lock {
    pub holders: Vec<Claim>,
    pub queue: VecDeque<Claim>,
}

#[derive(Clone, Copy)]
pub(in crate::script) struct Claim {
    pub rank: u32,
    pub exclusive: bool,
    pub pending: usize,
}

impl Lock {
    pub fn may_have(&self, claim: Claim) -> bool {
        self.holders.is_empty() || !claim.exclusive && self.holders.iter().all(|holder| !holder.exclusive)
    }
}

#[derive(Default)]
pub(in crate::script) struct Epochs {
    pub signals: HashMap<SignalKey, Exchange>,
    pub locks: HashMap<(Stream, u32), Lock>,
}
