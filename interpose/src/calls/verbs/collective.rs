//! Collectives (MPI-4.1 chapters 6 and 8.8).
//!
//! `sent` counts the data that this rank contributes, `received` the data that it receives, including its own block. Arguments that the
//! standard calls insignificant on a rank are not read there, because they may be anything. With MPI_IN_PLACE a rank contributes nothing,
//! except in reductions, where the data are merely elsewhere.

use super::{VerbCall, VerbEvent, complete_event};
use crate::machine::word::Word;
use crate::mpi::abi::current_abi;
use crate::recording::slot::CallArguments;
use crate::state::comm::CommInfo;

#[derive(Clone, Copy, PartialEq, Eq)]
enum CollectiveRole {
    Root,
    Other,
    /// In the root's group of an inter-communicator, but not the root.
    Outside,
}

#[inline(always)]
fn rooted_arguments<C: VerbCall>(
    call: C,
    root: Word,
    comm: Word,
) -> (CallArguments, CollectiveRole, &'static CommInfo) {
    let info = call.comm(comm);
    let root = call.int(root);
    let mut facts = CallArguments::on(info.id);
    let role = if info.inter {
        if root == current_abi().root {
            // A peer would be a rank of the remote group, and the root is not in it.
            CollectiveRole::Root
        } else if root == current_abi().proc_null {
            CollectiveRole::Outside
        } else {
            facts.peer = root;
            CollectiveRole::Other
        }
    } else {
        facts.peer = root;
        if root == info.rank { CollectiveRole::Root } else { CollectiveRole::Other }
    };
    (facts, role, info)
}

/// The blocks that a rank gives or takes in a collective, one for each rank or neighbour. A function from these to bytes says how many, and reads
/// the arguments only where the standard calls them significant.
#[derive(Clone, Copy)]
pub struct BlockNumbers {
    n: usize,
    /// Bits of the first ones that are absent.
    absent: u64,
}

impl BlockNumbers {
    #[inline(always)]
    fn up_to(n: i64) -> Self {
        BlockNumbers { n: n as usize, absent: 0 }
    }

    #[inline(always)]
    fn iter(self) -> impl Iterator<Item = usize> {
        (0..self.n).filter(move |&i| i >= 64 || self.absent >> i & 1 == 0)
    }
}

/// A block of `count` elements for each rank.
#[inline(always)]
pub fn block<C: VerbCall>(call: C, count: Word, datatype: Word) -> impl Fn(BlockNumbers) -> u64 {
    move |blocks| call.bytes(count, datatype).wrapping_mul(blocks.iter().count() as u64)
}

/// One block of `count` elements, which all ranks receive.
#[inline(always)]
pub fn shared_block<C: VerbCall>(call: C, count: Word, datatype: Word) -> impl Fn(BlockNumbers) -> u64 {
    move |_| call.bytes(count, datatype)
}

/// Blocks of `counts` elements, one for each rank, all with one datatype.
#[inline(always)]
pub fn blocks<C: VerbCall>(call: C, counts: Word, datatype: Word) -> impl Fn(BlockNumbers) -> u64 {
    move |blocks| {
        let elements = blocks.iter().fold(0u64, |sum, i| sum.wrapping_add(call.count_at(counts, i)));
        elements.wrapping_mul(call.size(datatype))
    }
}

/// Blocks of `counts` elements, one for each rank, each with its own datatype.
#[inline(always)]
pub fn typed_blocks<C: VerbCall>(call: C, counts: Word, datatypes: Word) -> impl Fn(BlockNumbers) -> u64 {
    move |blocks| {
        blocks.iter().fold(0u64, |sum, i| match call.count_at(counts, i) {
            0 => sum,
            count => sum.wrapping_add(count.wrapping_mul(call.size_at(datatypes, i))),
        })
    }
}

/// Records a barrier, or another call on a communicator that can block.
#[inline(always)]
pub fn act_on_comm<C: VerbCall>(call: C, comm: Word) -> VerbEvent<()> {
    complete_event(CallArguments::on(call.comm_id(comm)))
}

/// Records a broadcast: the root sends, the others receive.
#[inline(always)]
pub fn broadcast<C: VerbCall>(call: C, count: Word, datatype: Word, root: Word, comm: Word) -> VerbEvent<()> {
    let (mut facts, role, _) = rooted_arguments(call, root, comm);
    match role {
        CollectiveRole::Root => facts.sent = call.bytes(count, datatype),
        CollectiveRole::Other => facts.received = call.bytes(count, datatype),
        CollectiveRole::Outside => {}
    }
    complete_event(facts)
}

#[inline(always)]
pub fn reduce<C: VerbCall>(call: C, count: Word, datatype: Word, root: Word, comm: Word) -> VerbEvent<()> {
    let (mut facts, role, info) = rooted_arguments(call, root, comm);
    if role != CollectiveRole::Outside {
        let n = call.bytes(count, datatype);
        if role == CollectiveRole::Root {
            facts.received = n;
        }
        if role == CollectiveRole::Other || !info.inter {
            facts.sent = n;
        }
    }
    complete_event(facts)
}

/// Records a reduction whose result all ranks receive, or a scan.
#[inline(always)]
pub fn all_reduce<C: VerbCall>(call: C, count: Word, datatype: Word, comm: Word) -> VerbEvent<()> {
    let (id, bytes) = (call.comm_id(comm), call.bytes(count, datatype));
    complete_event(CallArguments { sent: bytes, received: bytes, ..CallArguments::on(id) })
}

/// Records a reduction whose result is scattered in equal blocks.
#[inline(always)]
pub fn all_reduce_blocks<C: VerbCall>(call: C, recvcount: Word, datatype: Word, comm: Word) -> VerbEvent<()> {
    let info = call.comm(comm);
    let received = call.bytes(recvcount, datatype);
    let sent = received.wrapping_mul(info.size as u64);
    complete_event(CallArguments { sent, received, ..CallArguments::on(info.id) })
}

#[inline(always)]
pub fn reduce_scatter<C: VerbCall>(call: C, recvcounts: Word, datatype: Word, comm: Word) -> VerbEvent<()> {
    let info = call.comm(comm);
    let mut facts = CallArguments::on(info.id);
    facts.sent = blocks(call, recvcounts, datatype)(BlockNumbers::up_to(info.size));
    if info.rank >= 0 {
        let own = call.count_at(recvcounts, info.rank as usize);
        facts.received = own.wrapping_mul(call.size(datatype));
    }
    complete_event(facts)
}

/// Returns the facts of a rooted collective, the bytes of all ranks' blocks at the root, and the bytes of this rank's own block. The last are
/// 0 if `buffer` is MPI_IN_PLACE at the root.
#[inline(always)]
fn rooted_bytes<C: VerbCall>(
    call: C,
    buffer: Word,
    at_root: impl Fn(BlockNumbers) -> u64,
    own: impl Fn(BlockNumbers) -> u64,
    root: Word,
    comm: Word,
) -> (CallArguments, u64, u64) {
    let (facts, role, info) = rooted_arguments(call, root, comm);
    let is_root = role == CollectiveRole::Root;
    let gives = role == CollectiveRole::Other || is_root && !info.inter && !call.in_place(buffer);
    let all = if is_root { at_root(BlockNumbers::up_to(info.others)) } else { 0 };
    let own = if gives { own(BlockNumbers::up_to(1)) } else { 0 };
    (facts, all, own)
}

#[inline(always)]
pub fn gather<C: VerbCall>(
    call: C,
    sendbuf: Word,
    given: impl Fn(BlockNumbers) -> u64,
    taken: impl Fn(BlockNumbers) -> u64,
    root: Word,
    comm: Word,
) -> VerbEvent<()> {
    let (facts, all, own) = rooted_bytes(call, sendbuf, taken, given, root, comm);
    complete_event(CallArguments { sent: own, received: all, ..facts })
}

#[inline(always)]
pub fn scatter<C: VerbCall>(
    call: C,
    recvbuf: Word,
    given: impl Fn(BlockNumbers) -> u64,
    taken: impl Fn(BlockNumbers) -> u64,
    root: Word,
    comm: Word,
) -> VerbEvent<()> {
    let (facts, all, own) = rooted_bytes(call, recvbuf, given, taken, root, comm);
    complete_event(CallArguments { sent: all, received: own, ..facts })
}

/// Records a total exchange, or a gather whose result all ranks receive.
#[inline(always)]
pub fn all_to_all<C: VerbCall>(
    call: C,
    sendbuf: Word,
    given: impl Fn(BlockNumbers) -> u64,
    taken: impl Fn(BlockNumbers) -> u64,
    comm: Word,
) -> VerbEvent<()> {
    let info = call.comm(comm);
    let received = taken(BlockNumbers::up_to(info.others));
    let sent = if call.in_place(sendbuf) { 0 } else { given(BlockNumbers::up_to(info.others)) };
    complete_event(CallArguments { sent, received, ..CallArguments::on(info.id) })
}

/// Records an exchange or a gather among neighbours.
#[inline(always)]
pub fn neighbor_all_to_all<C: VerbCall>(
    call: C,
    given: impl Fn(BlockNumbers) -> u64,
    taken: impl Fn(BlockNumbers) -> u64,
    comm: Word,
) -> VerbEvent<()> {
    let info = call.comm(comm);
    let sent = given(BlockNumbers { n: info.destinations as usize, absent: info.absent });
    let received = taken(BlockNumbers { n: info.sources as usize, absent: info.absent });
    complete_event(CallArguments { sent, received, ..CallArguments::on(info.id) })
}
