//! What is going on while a script runs: what was started and is not complete, messages, collectives, epochs.

use std::collections::{HashMap, VecDeque};

use lbprof_collector::operation::Operation;

use super::record::{Arrived, Open};
use super::step::{Incoming, Peer, Shape, Start};

/// When something was completed, and by whom.
#[derive(Clone, Copy)]
pub(super) struct Done {
    pub at: u64,
    pub by: u32,
    /// When that rank did what completes it.
    pub did: u64,
}

/// Something started that will be completed.
pub(super) struct Pending {
    pub rank: usize,
    /// When it was started.
    pub begun: u64,
    pub done: Option<Done>,
    /// What a receive asks for.
    pub incoming: Option<Incoming>,
    /// Which of the rank's receives it is.
    pub receive: Option<usize>,
    pub arrived: Option<Arrived>,
}

/// A request that has a name.
pub(super) struct Request<'s> {
    pub name: &'s str,
    pub open: Open,
    /// What it waits for; none where it is persistent and not active.
    pub pending: Vec<usize>,
    pub active: bool,
    /// What a persistent one starts, and where that meets if it is a collective.
    pub prepared: Option<(&'s Start, Option<Stream>)>,
}

/// A window of a rank.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub id: u32,
    pub comm: usize,
    pub stream: Stream,
}

/// A call that waits.
pub(super) struct Blocked {
    pub begin: u64,
    /// What the call itself started.
    pub own: Vec<usize>,
}

/// A message.
pub(super) struct Message {
    /// World ranks.
    pub sender: usize,
    pub receiver: usize,
    pub comm: usize,
    pub arrived: Arrived,
    /// When its send began.
    pub begun: u64,
    /// When its head arrives.
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

/// Where collectives meet, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stream {
    /// On a communicator.
    Comm(usize),
    /// On a persistent collective: the communicator, and its number among the collectives there.
    Prepared(usize, u32),
    /// On a window, made by the collective with this number there.
    Window(usize, u32),
}

/// A collective as its ranks enter it.
pub(super) struct Meeting {
    pub operation: Operation,
    pub shape: Shape,
    pub root: usize,
    /// By rank in the communicator.
    pub entries: Vec<Option<Entry>>,
    pub missing: usize,
    /// The world rank that entered first.
    pub first: usize,
}

#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub at: u64,
    /// World rank.
    pub rank: usize,
    pub pending: usize,
}

/// A rank's open epochs on a window, by the world ranks on the other side.
#[derive(Default)]
pub(super) struct OpenEpochs {
    pub exposed_to: Vec<u32>,
    pub accesses: Vec<u32>,
    /// What the start of the access epoch left to wait for.
    pub deferred: Vec<usize>,
}

/// A signal between two ranks on a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Signal {
    Posted,
    Completed,
}

/// A window, who signals, who is signalled, and what.
pub(super) type SignalKey = (Stream, u32, u32, Signal);

/// Signals sent and not awaited yet, or awaited and not sent yet.
#[derive(Default)]
pub(super) struct Exchange {
    pub sent: VecDeque<u64>,
    pub awaited: VecDeque<usize>,
}

/// Who holds a lock, and who waits for it.
#[derive(Default)]
pub(super) struct Lock {
    pub holders: Vec<Claim>,
    pub queue: VecDeque<Claim>,
}

#[derive(Clone, Copy)]
pub(super) struct Claim {
    pub rank: u32,
    pub exclusive: bool,
    pub pending: usize,
}

impl Lock {
    pub fn may_have(&self, claim: Claim) -> bool {
        self.holders.is_empty() || !claim.exclusive && self.holders.iter().all(|holder| !holder.exclusive)
    }
}

/// All epochs of a run.
#[derive(Default)]
pub(super) struct Epochs {
    pub signals: HashMap<SignalKey, Exchange>,
    /// By window and target.
    pub locks: HashMap<(Stream, u32), Lock>,
}
