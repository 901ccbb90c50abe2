//! Collectives (MPI-4.1 chapters 6 and 8.8).
//!
//! `sent` is what this rank contributes, `received` what it is given, its own block included. Arguments that the standard calls
//! insignificant on a rank are not looked at there, for they may be anything. With MPI_IN_PLACE a rank contributes
//! nothing but for reductions, where the data are merely elsewhere.

use super::point_to_point::bytes;
use super::{Event, known};
use crate::abi::abi;
use crate::comms::{self, CommInfo};
use crate::datatypes;
use crate::lang::{Convert, Language};
use crate::thread::{Facts, Thread, Word};

/// What a rank is to a rooted collective.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Root,
    Other,
    /// In the root's group of an inter-communicator, but not the root.
    Outside,
}

#[inline(always)]
unsafe fn on<L: Language>(thread: *mut Thread, comm: Word) -> &'static CommInfo {
    // SAFETY: the verbs' contract.
    unsafe { comms::find(thread, L::handle(comm, Convert::Comm)) }
}

#[inline(always)]
unsafe fn rooted<L: Language>(thread: *mut Thread, root: Word, comm: Word) -> (Facts, Role, &'static CommInfo) {
    // SAFETY: the verbs' contract.
    unsafe {
        let info = on::<L>(thread, comm);
        let root = L::int(root);
        let mut facts = Facts::on(info.id);
        let role = if info.inter {
            if root == abi().root {
                // A peer is a rank of the remote group, in which the root is not.
                Role::Root
            } else if root == abi().proc_null {
                Role::Outside
            } else {
                facts.peer = root;
                Role::Other
            }
        } else {
            facts.peer = root;
            if root == info.rank { Role::Root } else { Role::Other }
        };
        (facts, role, info)
    }
}

#[inline(always)]
fn times(bytes: u64, ranks: i64) -> u64 {
    bytes.wrapping_mul(ranks as u64)
}

/// Bytes of arrays of counts, all of one datatype.
unsafe fn sum<L: Language>(thread: *mut Thread, counts: Word, datatype: Word, ranks: i64) -> u64 {
    // SAFETY: the verbs' contract: one count for each rank or neighbour.
    unsafe {
        let elements = (0..ranks as usize).fold(0u64, |sum, i| sum.wrapping_add(L::count_at(counts, i)));
        elements.wrapping_mul(datatypes::size(thread, L::handle(datatype, Convert::Datatype)))
    }
}

/// Bytes of arrays of counts, each with its own datatype.
unsafe fn sum_w<L: Language>(thread: *mut Thread, counts: Word, types: Word, ranks: i64) -> u64 {
    // SAFETY: the verbs' contract: one count and datatype for each rank or neighbour; where the count is 0 the datatype is not asked.
    unsafe {
        (0..ranks as usize).fold(0u64, |sum, i| match L::count_at(counts, i) {
            0 => sum,
            count => {
                sum.wrapping_add(count.wrapping_mul(datatypes::size(thread, L::handle_at(types, i, Convert::Datatype))))
            }
        })
    }
}

/// A barrier.
#[inline(always)]
pub unsafe fn meets<L: Language>(thread: *mut Thread, comm: Word) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe { known(Facts::on(on::<L>(thread, comm).id)) }
}

/// A broadcast: the root sends, the others receive.
#[inline(always)]
pub unsafe fn broadcasts<L: Language>(
    thread: *mut Thread,
    count: Word,
    datatype: Word,
    root: Word,
    comm: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let (mut facts, role, _) = rooted::<L>(thread, root, comm);
        match role {
            Role::Root => facts.sent = bytes::<L>(thread, count, datatype),
            Role::Other => facts.received = bytes::<L>(thread, count, datatype),
            Role::Outside => {}
        }
        known(facts)
    }
}

/// A reduction to a root.
#[inline(always)]
pub unsafe fn reduces<L: Language>(
    thread: *mut Thread,
    _sendbuf: Word,
    count: Word,
    datatype: Word,
    root: Word,
    comm: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let (mut facts, role, info) = rooted::<L>(thread, root, comm);
        if role != Role::Outside {
            let n = bytes::<L>(thread, count, datatype);
            if role == Role::Root {
                facts.received = n;
            }
            if role == Role::Other || !info.inter {
                facts.sent = n;
            }
        }
        known(facts)
    }
}

/// A reduction whose result all, or each in turn, are given.
#[inline(always)]
pub unsafe fn all_reduces<L: Language>(
    thread: *mut Thread,
    _sendbuf: Word,
    count: Word,
    datatype: Word,
    comm: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let mut facts = Facts::on(on::<L>(thread, comm).id);
        facts.sent = bytes::<L>(thread, count, datatype);
        facts.received = facts.sent;
        known(facts)
    }
}

/// A reduction whose result is scattered in equal blocks.
#[inline(always)]
pub unsafe fn all_reduces_blocks<L: Language>(
    thread: *mut Thread,
    _sendbuf: Word,
    recvcount: Word,
    datatype: Word,
    comm: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let info = on::<L>(thread, comm);
        let mut facts = Facts::on(info.id);
        facts.received = bytes::<L>(thread, recvcount, datatype);
        facts.sent = times(facts.received, info.size);
        known(facts)
    }
}

/// A reduction whose result is scattered.
#[inline(always)]
pub unsafe fn reduce_scatters<L: Language>(
    thread: *mut Thread,
    _sendbuf: Word,
    recvcounts: Word,
    datatype: Word,
    comm: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract; the rank lies in its communicator.
    unsafe {
        let info = on::<L>(thread, comm);
        let mut facts = Facts::on(info.id);
        facts.sent = sum::<L>(thread, recvcounts, datatype, info.size);
        if info.rank >= 0 {
            let own = L::count_at(recvcounts, info.rank as usize);
            facts.received = own.wrapping_mul(datatypes::size(thread, L::handle(datatype, Convert::Datatype)));
        }
        known(facts)
    }
}

/// A gather to a root.
#[inline(always)]
pub unsafe fn gathers<L: Language>(
    thread: *mut Thread,
    sendbuf: Word,
    sendcount: Word,
    sendtype: Word,
    recvcount: Word,
    recvtype: Word,
    root: Word,
    comm: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let (mut facts, role, info) = rooted::<L>(thread, root, comm);
        if role == Role::Root {
            facts.received = times(bytes::<L>(thread, recvcount, recvtype), info.others);
        }
        if role == Role::Other || role == Role::Root && !info.inter && !L::in_place(sendbuf) {
            facts.sent = bytes::<L>(thread, sendcount, sendtype);
        }
        known(facts)
    }
}

/// A gather of blocks that differ.
#[inline(always)]
pub unsafe fn gathers_v<L: Language>(
    thread: *mut Thread,
    sendbuf: Word,
    sendcount: Word,
    sendtype: Word,
    recvcounts: Word,
    recvtype: Word,
    root: Word,
    comm: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let (mut facts, role, info) = rooted::<L>(thread, root, comm);
        if role == Role::Root {
            facts.received = sum::<L>(thread, recvcounts, recvtype, info.others);
        }
        if role == Role::Other || role == Role::Root && !info.inter && !L::in_place(sendbuf) {
            facts.sent = bytes::<L>(thread, sendcount, sendtype);
        }
        known(facts)
    }
}

/// A scatter from a root.
#[inline(always)]
pub unsafe fn scatters<L: Language>(
    thread: *mut Thread,
    recvbuf: Word,
    sendcount: Word,
    sendtype: Word,
    recvcount: Word,
    recvtype: Word,
    root: Word,
    comm: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let (mut facts, role, info) = rooted::<L>(thread, root, comm);
        if role == Role::Root {
            facts.sent = times(bytes::<L>(thread, sendcount, sendtype), info.others);
        }
        if role == Role::Other || role == Role::Root && !info.inter && !L::in_place(recvbuf) {
            facts.received = bytes::<L>(thread, recvcount, recvtype);
        }
        known(facts)
    }
}

/// A scatter of blocks that differ.
#[inline(always)]
pub unsafe fn scatters_v<L: Language>(
    thread: *mut Thread,
    recvbuf: Word,
    sendcounts: Word,
    sendtype: Word,
    recvcount: Word,
    recvtype: Word,
    root: Word,
    comm: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let (mut facts, role, info) = rooted::<L>(thread, root, comm);
        if role == Role::Root {
            facts.sent = sum::<L>(thread, sendcounts, sendtype, info.others);
        }
        if role == Role::Other || role == Role::Root && !info.inter && !L::in_place(recvbuf) {
            facts.received = bytes::<L>(thread, recvcount, recvtype);
        }
        known(facts)
    }
}

/// A gather whose result all are given.
#[inline(always)]
pub unsafe fn all_gathers<L: Language>(
    thread: *mut Thread,
    sendbuf: Word,
    sendcount: Word,
    sendtype: Word,
    recvcount: Word,
    recvtype: Word,
    comm: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let info = on::<L>(thread, comm);
        let mut facts = Facts::on(info.id);
        facts.received = times(bytes::<L>(thread, recvcount, recvtype), info.others);
        if !L::in_place(sendbuf) {
            facts.sent = bytes::<L>(thread, sendcount, sendtype);
        }
        known(facts)
    }
}

/// The same with blocks that differ.
#[inline(always)]
pub unsafe fn all_gathers_v<L: Language>(
    thread: *mut Thread,
    sendbuf: Word,
    sendcount: Word,
    sendtype: Word,
    recvcounts: Word,
    recvtype: Word,
    comm: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let info = on::<L>(thread, comm);
        let mut facts = Facts::on(info.id);
        facts.received = sum::<L>(thread, recvcounts, recvtype, info.others);
        if !L::in_place(sendbuf) {
            facts.sent = bytes::<L>(thread, sendcount, sendtype);
        }
        known(facts)
    }
}

/// A total exchange.
#[inline(always)]
pub unsafe fn all_to_all<L: Language>(
    thread: *mut Thread,
    sendbuf: Word,
    sendcount: Word,
    sendtype: Word,
    recvcount: Word,
    recvtype: Word,
    comm: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let mut event = all_gathers::<L>(thread, sendbuf, sendcount, sendtype, recvcount, recvtype, comm);
        event.facts.sent = times(event.facts.sent, on::<L>(thread, comm).others);
        event
    }
}

/// The same with blocks that differ.
#[inline(always)]
pub unsafe fn all_to_all_v<L: Language>(
    thread: *mut Thread,
    sendbuf: Word,
    sendcounts: Word,
    sendtype: Word,
    recvcounts: Word,
    recvtype: Word,
    comm: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let info = on::<L>(thread, comm);
        let mut facts = Facts::on(info.id);
        facts.received = sum::<L>(thread, recvcounts, recvtype, info.others);
        if !L::in_place(sendbuf) {
            facts.sent = sum::<L>(thread, sendcounts, sendtype, info.others);
        }
        known(facts)
    }
}

/// The same with datatypes that differ, too.
#[inline(always)]
pub unsafe fn all_to_all_w<L: Language>(
    thread: *mut Thread,
    sendbuf: Word,
    sendcounts: Word,
    sendtypes: Word,
    recvcounts: Word,
    recvtypes: Word,
    comm: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let info = on::<L>(thread, comm);
        let mut facts = Facts::on(info.id);
        facts.received = sum_w::<L>(thread, recvcounts, recvtypes, info.others);
        if !L::in_place(sendbuf) {
            facts.sent = sum_w::<L>(thread, sendcounts, sendtypes, info.others);
        }
        known(facts)
    }
}

/// A gather among neighbours.
#[inline(always)]
pub unsafe fn neighbor_all_gathers<L: Language>(
    thread: *mut Thread,
    sendcount: Word,
    sendtype: Word,
    recvcount: Word,
    recvtype: Word,
    comm: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let info = on::<L>(thread, comm);
        let mut facts = Facts::on(info.id);
        facts.sent = bytes::<L>(thread, sendcount, sendtype);
        facts.received = times(bytes::<L>(thread, recvcount, recvtype), info.sources);
        known(facts)
    }
}

/// The same with blocks that differ.
#[inline(always)]
pub unsafe fn neighbor_all_gathers_v<L: Language>(
    thread: *mut Thread,
    sendcount: Word,
    sendtype: Word,
    recvcounts: Word,
    recvtype: Word,
    comm: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let info = on::<L>(thread, comm);
        let mut facts = Facts::on(info.id);
        facts.sent = bytes::<L>(thread, sendcount, sendtype);
        facts.received = sum::<L>(thread, recvcounts, recvtype, info.sources);
        known(facts)
    }
}

/// An exchange among neighbours.
#[inline(always)]
pub unsafe fn neighbor_all_to_all<L: Language>(
    thread: *mut Thread,
    sendcount: Word,
    sendtype: Word,
    recvcount: Word,
    recvtype: Word,
    comm: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let mut event = neighbor_all_gathers::<L>(thread, sendcount, sendtype, recvcount, recvtype, comm);
        event.facts.sent = times(event.facts.sent, on::<L>(thread, comm).destinations);
        event
    }
}

/// The same with blocks that differ.
#[inline(always)]
pub unsafe fn neighbor_all_to_all_v<L: Language>(
    thread: *mut Thread,
    sendcounts: Word,
    sendtype: Word,
    recvcounts: Word,
    recvtype: Word,
    comm: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let info = on::<L>(thread, comm);
        let mut facts = Facts::on(info.id);
        facts.sent = sum::<L>(thread, sendcounts, sendtype, info.destinations);
        facts.received = sum::<L>(thread, recvcounts, recvtype, info.sources);
        known(facts)
    }
}

/// The same with datatypes that differ, too.
#[inline(always)]
pub unsafe fn neighbor_all_to_all_w<L: Language>(
    thread: *mut Thread,
    sendcounts: Word,
    sendtypes: Word,
    recvcounts: Word,
    recvtypes: Word,
    comm: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let info = on::<L>(thread, comm);
        let mut facts = Facts::on(info.id);
        facts.sent = sum_w::<L>(thread, sendcounts, sendtypes, info.destinations);
        facts.received = sum_w::<L>(thread, recvcounts, recvtypes, info.sources);
        known(facts)
    }
}
