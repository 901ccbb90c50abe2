//! The facts about a communicator.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use lbprof_collector::record::NONE;

/// The facts about a communicator that calls need.
#[derive(Debug)]
pub struct CommInfo {
    /// Id of its definition in the log.
    pub id: u32,
    pub rank: i32,
    /// Size of its (local) group.
    pub size: i64,
    /// Size of the group that a collective addresses: the remote one of an inter-communicator, else the local one.
    pub others: i64,
    pub inter: bool,
    /// Neighbours that send to this rank, in its topology.
    pub sources: i64,
    /// Neighbours that this rank sends to.
    pub destinations: i64,
    /// Bits of the neighbours that are MPI_PROC_NULL, beyond the edge of a grid.
    pub absent: u64,
    /// Number that is the same on all members.
    pub uid: u64,
    /// Communicators made from it so far.
    pub children: AtomicU32,
}

impl CommInfo {
    /// Counts a communicator that is made from it, and returns how many were made before.
    pub fn next_child(&self) -> u64 {
        u64::from(self.children.fetch_add(1, Relaxed))
    }

    /// Returns the facts that go into the ids of communicators made from it.
    pub fn as_parent(&self) -> ParentId {
        ParentId { id: self.id, uid: self.uid }
    }
}

/// MPI_COMM_NULL, and communicators that cannot be asked.
pub static UNKNOWN: CommInfo = CommInfo {
    id: NONE,
    rank: -1,
    size: 0,
    others: 0,
    inter: false,
    sources: 0,
    destinations: 0,
    absent: 0,
    uid: 0,
    children: AtomicU32::new(0),
};

/// The components of a communicator's id that outlive its parent.
#[derive(Clone, Copy)]
pub struct ParentId {
    /// Id, see [`CommInfo::id`].
    pub id: u32,
    /// Unique number, see [`CommInfo::uid`].
    pub uid: u64,
}
