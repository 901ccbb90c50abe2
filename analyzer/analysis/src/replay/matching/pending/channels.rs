//! Matches sends with receives (MPI-4.1 §3.5).
//!
//! Messages from one sender to one receiver with the same communicator and tag do not overtake each other, and receives that match the same
//! message take it in the order in which they were posted. The n-th send of such a channel therefore belongs to the n-th receive from it. The
//! channel of a receive from any source or with any tag may be unknown until the receive ends; until then it is in no queue, so that a later receive
//! from that very channel may be given its message.

use std::hash::{Hash, Hasher};

use lbprof_collector::semantics::SendMode;
use lbprof_thresholds::replay::MIN_BYTES_THAT_NEED_PROGRESS;
use rustc_hash::FxHashMap;

use super::free_places::put_in_free_place;
use crate::model::code::region_state::{Ns, RegionState};
use crate::replay::what_if::NotedClocks;

const LAST: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageChannel {
    pub comm: u32,
    /// World rank that sends.
    pub from: u32,
    /// World rank that receives.
    pub to: u32,
    pub tag: i32,
}

impl Hash for MessageChannel {
    /// Hashes two numbers at a time, because each side of each message is looked up.
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.from) << 32 | u64::from(self.to));
        state.write_u64(u64::from(self.comm) << 32 | u64::from(self.tag as u32));
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TransferId(u32);

#[derive(Clone, Copy, Debug)]
pub struct TransferSide {
    pub thread: u32,
    /// Time of the send, or of posting the receive.
    pub at: Ns,
    pub kind: RegionState,
    pub noted: NotedClocks,
    /// Bytes of a send; 0 for a receive.
    pub bytes: u64,
    /// The mode of a send, which says whether it may wait for its receive.
    pub mode: SendMode,
    /// The request; NONE if the call is blocking.
    pub request: u32,
}

impl TransferSide {
    /// Returns whether it is a send that may wait for its receive.
    pub fn is_rendezvous(&self) -> bool {
        match self.mode {
            SendMode::Standard => self.bytes > MIN_BYTES_THAT_NEED_PROGRESS,
            SendMode::Synchronous => true,
            SendMode::Buffered => false,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct MessageTransfer {
    pub sent: Option<TransferSide>,
    pub posted: Option<TransferSide>,
    /// A thread that cannot go on before the send is begun.
    pub waiter: Option<u32>,
    /// Number of messages of its channel that no receive had taken when it was sent, if others had been taken.
    pub ahead: u32,
    over: u8,
    next: u32,
    over_at: Ns,
    /// Time at which the sender, and the receiver, came back to MPI, if the message could not move before; else `Ns::MIN`.
    moved_at: [Ns; 2],
}

#[derive(Clone, Copy, Debug)]
struct TransferQueue {
    first: u32,
    last: u32,
    /// Number of transfers in it.
    n: u32,
    /// True if it has had the other sides of some.
    has_matched: bool,
    are_sends: bool,
}

#[derive(Debug, Default)]
pub struct OpenTransfers {
    all: Vec<MessageTransfer>,
    free: Vec<u32>,
    queues: FxHashMap<MessageChannel, TransferQueue>,
    probes: FxHashMap<MessageChannel, Vec<u32>>,
    /// Number of queues from which on the empty ones are dropped.
    sweep_at: usize,
}

/// Minimum number of queues at which empty ones are dropped.
const FEWEST: usize = 1 << 12;

impl MessageTransfer {
    /// Records that the message could not move before its sender, or its receiver, came back to MPI.
    pub fn set_moved(&mut self, by_receiver: bool, at: Ns) {
        self.moved_at[usize::from(by_receiver)] = at;
    }

    /// Returns when the sender, or the receiver, had done what the other side needs of it, which was begun at `begun`.
    pub fn available_at(&self, by_receiver: bool, begun: Ns) -> Ns {
        begun.max(self.moved_at[usize::from(by_receiver)])
    }

    const NOTHING: MessageTransfer = MessageTransfer {
        sent: None,
        posted: None,
        waiter: None,
        ahead: 0,
        over: 0,
        next: LAST,
        over_at: 0,
        moved_at: [Ns::MIN; 2],
    };

    /// Returns whether one side was over at a time. It has no further needs then.
    pub fn is_over_at(&self, time: Ns) -> bool {
        self.over > 0 && self.over_at <= time
    }
}

impl OpenTransfers {
    /// Adds the send of a message. Returns its transfer, and the thread that waited for it.
    #[inline]
    pub fn send(&mut self, channel: MessageChannel, sent: TransferSide) -> (TransferId, Option<u32>) {
        let id = self.first_or_last(channel, true);
        let transfer = &mut self.all[id as usize];
        transfer.sent = Some(sent);
        (TransferId(id), transfer.waiter.take())
    }

    pub fn take_probes(&mut self, channel: MessageChannel) -> Vec<u32> {
        if self.probes.is_empty() { Vec::new() } else { self.probes.remove(&channel).unwrap_or_default() }
    }

    #[inline]
    pub fn post(&mut self, channel: MessageChannel, posted: TransferSide) -> TransferId {
        let id = self.first_or_last(channel, false);
        self.all[id as usize].posted = Some(posted);
        TransferId(id)
    }

    pub fn post_any(&mut self, posted: TransferSide) -> TransferId {
        let id = put_in_free_place(&mut self.all, &mut self.free, MessageTransfer::NOTHING);
        self.all[id as usize].posted = Some(posted);
        TransferId(id)
    }

    /// Removes and returns the side that a receive from any source has posted.
    pub fn take_any(&mut self, id: TransferId) -> Option<TransferSide> {
        let posted = self.all.get_mut(id.0 as usize)?.posted.take()?;
        self.free.push(id.0);
        Some(posted)
    }

    pub fn get(&self, id: TransferId) -> &MessageTransfer {
        &self.all[id.0 as usize]
    }

    pub fn get_mut(&mut self, id: TransferId) -> &mut MessageTransfer {
        &mut self.all[id.0 as usize]
    }

    /// Returns the first message of a channel that no receive has taken.
    pub fn peek(&self, channel: MessageChannel) -> Option<TransferSide> {
        let queue = self.queues.get(&channel).filter(|queue| queue.are_sends)?;
        self.all.get(queue.first as usize)?.sent
    }

    pub fn wait_for_any(&mut self, channel: MessageChannel, thread: u32) {
        self.probes.entry(channel).or_default().push(thread);
    }

    /// Ends one side of a transfer. If both sides are over, removes the transfer and returns the notes of both.
    #[inline]
    pub fn end(&mut self, id: TransferId, at: Ns) -> Option<[Option<NotedClocks>; 2]> {
        let transfer = self.all.get_mut(id.0 as usize)?;
        transfer.over += 1;
        if transfer.over < 2 {
            transfer.over_at = at;
            return None;
        }
        self.free.push(id.0);
        Some([transfer.sent, transfer.posted].map(|side| side.map(|side| side.noted)))
    }

    /// Removes a cancelled send or receive from the queue of its channel. Returns it, or `None` if it was not there any more.
    pub fn cancel(&mut self, channel: MessageChannel, id: TransferId, sends: bool) -> Option<TransferSide> {
        let queue = self.queues.get_mut(&channel).filter(|queue| queue.are_sends == sends)?;
        let mut before = LAST;
        let mut at = queue.first;
        while at != LAST && at != id.0 {
            (before, at) = (at, self.all[at as usize].next);
        }
        if at == LAST {
            return None;
        }
        let next = self.all[at as usize].next;
        match self.all.get_mut(before as usize) {
            Some(before) => before.next = next,
            None => queue.first = next,
        }
        if queue.last == at {
            queue.last = before;
        }
        queue.n -= 1;
        self.free.push(at);
        let MessageTransfer { sent, posted, .. } =
            std::mem::replace(&mut self.all[at as usize], MessageTransfer::NOTHING);
        if sends { sent } else { posted }
    }

    /// Returns whether no message is in transit, and no thread waits for one.
    pub fn is_empty(&self) -> bool {
        self.free.len() == self.all.len() && self.probes.is_empty()
    }

    /// Returns the numbers of sends and of receives that found no other side. Receives from any source that never completed are in no queue, and
    /// not counted.
    pub fn left(&self) -> (u64, u64) {
        let (mut sends, mut receives) = (0, 0);
        for queue in self.queues.values() {
            let mut at = queue.first;
            while let Some(transfer) = self.all.get(at as usize) {
                *(if queue.are_sends { &mut sends } else { &mut receives }) += 1;
                at = transfer.next;
            }
        }
        (sends, receives)
    }

    /// Takes the first transfer of a channel's queue, if the queue holds the other sides; else adds an empty one as its last.
    #[inline]
    fn first_or_last(&mut self, channel: MessageChannel, is_send: bool) -> u32 {
        if self.queues.len() >= self.sweep_at.max(FEWEST) {
            self.sweep();
        }
        let OpenTransfers { all, free, queues, .. } = self;
        let queue = queues.entry(channel).or_insert(TransferQueue {
            first: LAST,
            last: LAST,
            n: 0,
            has_matched: false,
            are_sends: is_send,
        });
        let first = queue.first;
        if first != LAST && queue.are_sends != is_send {
            queue.first = std::mem::replace(&mut all[first as usize].next, LAST);
            (queue.n, queue.has_matched) = (queue.n - 1, true);
            return first;
        }
        let id = put_in_free_place(all, free, MessageTransfer::NOTHING);
        if first == LAST {
            (queue.first, queue.are_sends) = (id, is_send);
        } else {
            all[queue.last as usize].next = id;
            all[id as usize].ahead = if queue.has_matched { queue.n } else { 0 };
        }
        (queue.last, queue.n) = (id, queue.n + 1);
        id
    }

    #[cold]
    fn sweep(&mut self) {
        self.queues.retain(|_, queue| queue.first != LAST);
        self.sweep_at = 2 * self.queues.len();
    }
}
