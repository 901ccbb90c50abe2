//! Messages: which receive takes which, and when both sides are complete.

use super::state::{Done, Message};
use super::world::World;
use crate::script::record::Arrived;
use crate::script::step::{Incoming, Outgoing, Peer, Protocol};

impl World<'_> {
    /// The rank in a communicator of a world rank that is in it.
    pub fn rank_in(&self, comm: usize, rank: usize) -> u32 {
        let group = &self.script.comms[comm].group;
        group.iter().position(|&member| member as usize == rank).unwrap_or(0) as u32
    }

    pub fn send(&mut self, rank: usize, outgoing: &Outgoing) -> usize {
        let pending = self.start_pending(rank, None);
        let Peer::Rank(dest) = outgoing.dest else {
            self.complete_at_once(pending);
            return pending;
        };
        let eager = self.is_eager(outgoing);
        if eager {
            self.complete_at_once(pending);
        }
        let begun = self.ranks[rank].now;
        let comm = outgoing.comm;
        let arrived = Arrived { source: self.rank_in(comm, rank), tag: outgoing.tag, bytes: outgoing.bytes };
        let head = begun + self.latency;
        self.messages.push(Message {
            sender: rank,
            receiver: self.script.comms[comm].group[dest as usize] as usize,
            comm,
            arrived,
            begun,
            head,
            rendezvous: (!eager).then_some(pending),
        });
        self.head_at(head, rank, self.messages.len() - 1);
        pending
    }

    pub fn is_eager(&self, outgoing: &Outgoing) -> bool {
        match outgoing.protocol {
            Protocol::Standard => outgoing.bytes <= self.network.eager,
            Protocol::Buffered => true,
            Protocol::Synchronous => false,
        }
    }

    pub fn receive(&mut self, rank: usize, incoming: &Incoming) -> usize {
        let pending = self.start_pending(rank, Some(*incoming));
        let mut incoming = *incoming;
        if let Some((source, tag)) = self.start_receive(rank, pending) {
            incoming = Incoming { source: Peer::Rank(source), tag: Some(tag), ..incoming };
            self.pending[pending].incoming = Some(incoming);
        }
        if incoming.source == Peer::Null {
            self.complete_at_once(pending);
        } else if let Some(message) = self.take_head(rank, &incoming) {
            self.match_with(message, pending);
        } else {
            self.ranks[rank].posted.push(pending);
        }
        pending
    }

    pub fn receive_matched(&mut self, rank: usize, message: usize) -> usize {
        let pending = self.start_pending(rank, None);
        self.match_with(message, pending);
        pending
    }

    pub fn find_head(&self, rank: usize, incoming: &Incoming) -> Option<usize> {
        self.ranks[rank].heads.iter().copied().find(|&message| self.messages[message].is_wanted(incoming))
    }

    pub fn take_head(&mut self, rank: usize, incoming: &Incoming) -> Option<usize> {
        let found = self.find_head(rank, incoming)?;
        self.ranks[rank].heads.retain(|&message| message != found);
        Some(found)
    }

    pub fn head(&mut self, message: usize, time: u64) {
        let head = &self.messages[message];
        let receiver = head.receiver;
        let wants = |&pending: &usize| self.pending[pending].incoming.is_some_and(|incoming| head.is_wanted(&incoming));
        match self.ranks[receiver].posted.iter().position(wants) {
            Some(at) => {
                let pending = self.ranks[receiver].posted.remove(at);
                self.match_with(message, pending);
            }
            None => {
                self.ranks[receiver].heads.push(message);
                self.look_at(time, receiver);
            }
        }
    }

    fn match_with(&mut self, message: usize, receive: usize) {
        let &Message { sender, receiver, arrived, begun, rendezvous, .. } = &self.messages[message];
        let posted = self.pending[receive].begun;
        let transfer = self.network.transfer_ns(arrived.bytes);
        let at = match rendezvous {
            None => posted.max(begun + transfer),
            Some(_) => posted.max(begun) + transfer,
        };
        self.receives(receive, arrived);
        self.complete(receive, Done { at, by: sender as u32, did: begun });
        if let Some(send) = rendezvous {
            self.complete(send, Done { at, by: receiver as u32, did: posted });
        }
    }
}
