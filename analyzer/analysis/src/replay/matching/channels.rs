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

use crate::model::region_state::{Ns, RegionState};
use crate::replay::what_if::NotedClocks;

/// No transfer follows in the queue.
const LAST: u32 = u32::MAX;

/// Nobody.
const NOBODY: u32 = u32::MAX;

/// A sender, a receiver, a communicator and a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageChannel {
    /// Index of the communicator.
    pub comm: u32,
    /// World rank that sends.
    pub from: u32,
    /// World rank that receives.
    pub to: u32,
    /// The tag.
    pub tag: i32,
}

impl Hash for MessageChannel {
    /// By two numbers at a time, for this is looked up for each side of each message.
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.from) << 32 | u64::from(self.to));
        state.write_u64(u64::from(self.comm) << 32 | u64::from(self.tag as u32));
    }
}

/// A transfer that is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TransferId(u32);

/// The sender's or the receiver's side of a transfer.
#[derive(Clone, Copy, Debug)]
pub struct TransferSide {
    /// The thread.
    pub thread: u32,
    /// Time of the send, or of posting the receive.
    pub at: Ns,
    /// The thread's state at that time.
    pub kind: RegionState,
    /// Its clocks in the scenarios then.
    pub noted: NotedClocks,
    /// Bytes that it sends; 0 of a receive.
    pub bytes: u64,
    /// Of a send: whether it may wait for its receive.
    pub mode: SendMode,
    /// The request that it was started under; NONE where it is blocking.
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

/// A message in transit.
#[derive(Clone, Copy, Debug)]
pub struct MessageTransfer {
    /// The send, once it was begun.
    pub sent: Option<TransferSide>,
    /// The receive, once it was posted.
    pub posted: Option<TransferSide>,
    /// A thread that can't go on before the send is begun; none: [`MessageTransfer::take_waiter`].
    waiter: u32,
    /// Number of sides that are over.
    over: u8,
    next: u32,
    /// Time at which the first side was over.
    over_at: Ns,
    /// Time at which the sender, and the receiver, came back to MPI, where the message could not move before; else before all others.
    moved_at: [Ns; 2],
}

/// Transfers of one channel of which one side is missing.
#[derive(Clone, Copy, Debug)]
struct TransferQueue {
    first: u32,
    last: u32,
    /// True if they are sends.
    are_sends: bool,
}

/// The transfers that are not over.
#[derive(Debug, Default)]
pub struct OpenTransfers {
    all: Vec<MessageTransfer>,
    free: Vec<u32>,
    queues: FxHashMap<MessageChannel, TransferQueue>,
    /// Threads that wait for any message of a channel.
    probes: FxHashMap<MessageChannel, Vec<u32>>,
    /// Number of queues from which on the empty ones are dropped.
    sweep_at: usize,
}

/// Fewest queues of which the empty ones are dropped.
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

    /// Neither side is there.
    const NOTHING: MessageTransfer = MessageTransfer {
        sent: None,
        posted: None,
        waiter: NOBODY,
        over: 0,
        next: LAST,
        over_at: 0,
        moved_at: [Ns::MIN; 2],
    };

    /// Returns whether one side was over at a time: then nothing more is needed of it.
    pub fn is_over_at(&self, time: Ns) -> bool {
        self.over > 0 && self.over_at <= time
    }

    /// The thread that waits for the send, which waits no more.
    pub fn take_waiter(&mut self) -> Option<u32> {
        let waiter = std::mem::replace(&mut self.waiter, NOBODY);
        (waiter != NOBODY).then_some(waiter)
    }

    /// Lets a thread wait for the send.
    pub fn set_waiter(&mut self, thread: u32) {
        self.waiter = thread;
    }
}

impl OpenTransfers {
    /// A message is sent: its transfer, and the thread that waited for it.
    #[inline]
    pub fn send(&mut self, channel: MessageChannel, sent: TransferSide) -> (TransferId, Option<u32>) {
        match self.first_or_last(channel, true, || MessageTransfer { sent: Some(sent), ..MessageTransfer::NOTHING }) {
            (id, true) => {
                let transfer = &mut self.all[id as usize];
                transfer.sent = Some(sent);
                (TransferId(id), transfer.take_waiter())
            }
            (id, false) => (TransferId(id), None),
        }
    }

    /// Threads that waited for any message of a channel on which one was sent.
    pub fn take_probes(&mut self, channel: MessageChannel) -> Vec<u32> {
        if self.probes.is_empty() { Vec::new() } else { self.probes.remove(&channel).unwrap_or_default() }
    }

    /// A receive is posted.
    #[inline]
    pub fn post(&mut self, channel: MessageChannel, posted: TransferSide) -> TransferId {
        let (id, was_sent) =
            self.first_or_last(channel, false, || MessageTransfer { posted: Some(posted), ..MessageTransfer::NOTHING });
        if was_sent {
            self.all[id as usize].posted = Some(posted);
        }
        TransferId(id)
    }

    /// A receive is posted of which it is not known yet on which channel.
    pub fn post_any(&mut self, posted: TransferSide) -> TransferId {
        TransferId(add(
            &mut self.all,
            &mut self.free,
            MessageTransfer { posted: Some(posted), ..MessageTransfer::NOTHING },
        ))
    }

    /// Returns the side that a receive from any source has posted: it is no more.
    pub fn take_any(&mut self, id: TransferId) -> Option<TransferSide> {
        let posted = self.all.get_mut(id.0 as usize)?.posted.take()?;
        self.free.push(id.0);
        Some(posted)
    }

    /// The transfer.
    pub fn get(&self, id: TransferId) -> &MessageTransfer {
        &self.all[id.0 as usize]
    }

    /// The transfer, to change it.
    pub fn get_mut(&mut self, id: TransferId) -> &mut MessageTransfer {
        &mut self.all[id.0 as usize]
    }

    /// The first message of a channel that nobody receives yet.
    pub fn peek(&self, channel: MessageChannel) -> Option<TransferSide> {
        let queue = self.queues.get(&channel).filter(|queue| queue.are_sends)?;
        self.all.get(queue.first as usize)?.sent
    }

    /// Lets a thread wait for any message of a channel.
    pub fn wait_for_any(&mut self, channel: MessageChannel, thread: u32) {
        self.probes.entry(channel).or_default().push(thread);
    }

    /// Ends one side of a transfer: where both are, what they noted comes back and the transfer is no more.
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

    /// A send or a receive was cancelled. Returns it if it is still in the queue of the channel, where it is no more: nothing is transferred.
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
        self.free.push(at);
        let MessageTransfer { sent, posted, .. } =
            std::mem::replace(&mut self.all[at as usize], MessageTransfer::NOTHING);
        if sends { sent } else { posted }
    }

    /// Returns whether no message is in transit, and nobody waits for one.
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

    /// Takes the first of a channel's queue where that holds the other sides, and says so; else adds `new`, a send or not, as its last.
    #[inline]
    fn first_or_last(
        &mut self,
        channel: MessageChannel,
        is_send: bool,
        new: impl FnOnce() -> MessageTransfer,
    ) -> (u32, bool) {
        if self.queues.len() >= self.sweep_at.max(FEWEST) {
            self.sweep();
        }
        let queue = self.queues.entry(channel).or_insert(TransferQueue { first: LAST, last: LAST, are_sends: is_send });
        let first = queue.first;
        if first != LAST && queue.are_sends != is_send {
            queue.first = std::mem::replace(&mut self.all[first as usize].next, LAST);
            return (first, true);
        }
        let id = add(&mut self.all, &mut self.free, new());
        if first == LAST {
            *queue = TransferQueue { first: id, last: id, are_sends: is_send };
        } else {
            self.all[queue.last as usize].next = id;
            queue.last = id;
        }
        (id, false)
    }

    /// Drops empty queues.
    #[cold]
    fn sweep(&mut self) {
        self.queues.retain(|_, queue| queue.first != LAST);
        self.sweep_at = 2 * self.queues.len();
    }
}

/// A further one of `all`, or one that is `free`.
fn add(all: &mut Vec<MessageTransfer>, free: &mut Vec<u32>, transfer: MessageTransfer) -> u32 {
    match free.pop() {
        Some(id) => {
            all[id as usize] = transfer;
            id
        }
        None => {
            all.push(transfer);
            all.len() as u32 - 1
        }
    }
}
