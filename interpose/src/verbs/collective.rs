//! Collectives (MPI-4.1 chapters 6 and 8.8).
//!
//! `sent` is what this rank contributes, `received` what it is given, its own block included. Arguments that the standard calls
//! insignificant on a rank are not looked at there, for they may be anything. With MPI_IN_PLACE a rank contributes
//! nothing but for reductions, where the data are merely elsewhere.

use std::ops::Range;

use super::{VerbCall, VerbEvent, complete_event};
use crate::mpi::abi::abi;
use crate::recording::slot::CallArguments;
use crate::state::comm::CommInfo;
use crate::word::Word;

/// The role of a rank in a rooted collective.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CollectiveRole {
    Root,
    Other,
    /// In the root's group of an inter-communicator, but not the root.
    Outside,
}

#[inline(always)]
fn on<C: VerbCall>(call: C, comm: Word) -> &'static CommInfo {
    call.comm(comm)
}

#[inline(always)]
fn rooted<C: VerbCall>(call: C, root: Word, comm: Word) -> (CallArguments, CollectiveRole, &'static CommInfo) {
    let info = on(call, comm);
    let root = call.int(root);
    let mut facts = CallArguments::on(info.id);
    let role = if info.inter {
        if root == abi().root {
            // A peer is a rank of the remote group, in which the root is not.
            CollectiveRole::Root
        } else if root == abi().proc_null {
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

#[inline(always)]
fn times(bytes: u64, ranks: i64) -> u64 {
    bytes.wrapping_mul(ranks as u64)
}

/// The data that a rank gives or takes in a collective, in a block for each rank or neighbour.
///
/// Read only where the standard calls the arguments significant.
pub trait CollectiveData: Copy {
    /// Bytes of the blocks with these numbers.
    fn bytes<C: VerbCall>(self, call: C, blocks: impl Iterator<Item = usize>) -> u64;
}

/// The blocks of `n` ranks.
#[inline(always)]
fn whole_range(n: i64) -> Range<usize> {
    0..n as usize
}

/// The blocks of those of `n` neighbours that are there.
#[inline(always)]
fn present(n: i64, absent: u64) -> impl Iterator<Item = usize> {
    whole_range(n).filter(move |&i| i >= 64 || absent >> i & 1 == 0)
}

/// See [`block`].
#[derive(Clone, Copy)]
pub struct SingleBlock(Word, Word);

/// See [`blocks`].
#[derive(Clone, Copy)]
pub struct EqualBlocks(Word, Word);

/// See [`typed_blocks`].
#[derive(Clone, Copy)]
pub struct TypedBlocks(Word, Word);

/// A block of `count` elements, the same for each rank.
#[inline(always)]
pub fn block<C: VerbCall>(_: C, count: Word, datatype: Word) -> SingleBlock {
    SingleBlock(count, datatype)
}

/// Blocks of `counts` elements, one for each rank, all of one datatype.
#[inline(always)]
pub fn blocks<C: VerbCall>(_: C, counts: Word, datatype: Word) -> EqualBlocks {
    EqualBlocks(counts, datatype)
}

/// Blocks of `counts` elements, one for each rank, each with its own datatype.
#[inline(always)]
pub fn typed_blocks<C: VerbCall>(_: C, counts: Word, datatypes: Word) -> TypedBlocks {
    TypedBlocks(counts, datatypes)
}

impl CollectiveData for SingleBlock {
    #[inline(always)]
    fn bytes<C: VerbCall>(self, call: C, blocks: impl Iterator<Item = usize>) -> u64 {
        call.bytes(self.0, self.1).wrapping_mul(blocks.count() as u64)
    }
}

impl CollectiveData for EqualBlocks {
    fn bytes<C: VerbCall>(self, call: C, blocks: impl Iterator<Item = usize>) -> u64 {
        let elements = blocks.fold(0u64, |sum, i| sum.wrapping_add(call.count_at(self.0, i)));
        elements.wrapping_mul(call.size(self.1))
    }
}

impl CollectiveData for TypedBlocks {
    fn bytes<C: VerbCall>(self, call: C, blocks: impl Iterator<Item = usize>) -> u64 {
        // Where the count is 0 the datatype is not asked.
        blocks.fold(0u64, |sum, i| match call.count_at(self.0, i) {
            0 => sum,
            count => sum.wrapping_add(count.wrapping_mul(call.size_at(self.1, i))),
        })
    }
}

/// A barrier.
#[inline(always)]
pub fn synchronise_comm<C: VerbCall>(call: C, comm: Word) -> VerbEvent<()> {
    complete_event(CallArguments::on(call.comm_id(comm)))
}

/// A broadcast: the root sends, the others receive.
#[inline(always)]
pub fn broadcast<C: VerbCall>(call: C, count: Word, datatype: Word, root: Word, comm: Word) -> VerbEvent<()> {
    let (mut facts, role, _) = rooted(call, root, comm);
    match role {
        CollectiveRole::Root => facts.sent = call.bytes(count, datatype),
        CollectiveRole::Other => facts.received = call.bytes(count, datatype),
        CollectiveRole::Outside => {}
    }
    complete_event(facts)
}

/// A reduction to a root.
#[inline(always)]
pub fn reduce<C: VerbCall>(call: C, count: Word, datatype: Word, root: Word, comm: Word) -> VerbEvent<()> {
    let (mut facts, role, info) = rooted(call, root, comm);
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

/// A reduction whose result all, or each in turn, are given.
#[inline(always)]
pub fn all_reduce<C: VerbCall>(call: C, count: Word, datatype: Word, comm: Word) -> VerbEvent<()> {
    let mut facts = CallArguments::on(call.comm_id(comm));
    facts.sent = call.bytes(count, datatype);
    facts.received = facts.sent;
    complete_event(facts)
}

/// A reduction whose result is scattered in equal blocks.
#[inline(always)]
pub fn all_reduce_blocks<C: VerbCall>(call: C, recvcount: Word, datatype: Word, comm: Word) -> VerbEvent<()> {
    let info = on(call, comm);
    let mut facts = CallArguments::on(info.id);
    facts.received = call.bytes(recvcount, datatype);
    facts.sent = times(facts.received, info.size);
    complete_event(facts)
}

/// A reduction whose result is scattered.
#[inline(always)]
pub fn reduce_scatter<C: VerbCall>(call: C, recvcounts: Word, datatype: Word, comm: Word) -> VerbEvent<()> {
    let info = on(call, comm);
    let mut facts = CallArguments::on(info.id);
    facts.sent = EqualBlocks(recvcounts, datatype).bytes(call, whole_range(info.size));
    if info.rank >= 0 {
        let own = call.count_at(recvcounts, info.rank as usize);
        facts.received = own.wrapping_mul(call.size(datatype));
    }
    complete_event(facts)
}

/// A gather to a root.
#[inline(always)]
pub fn gather<C: VerbCall>(
    call: C,
    sendbuf: Word,
    given: impl CollectiveData,
    taken: impl CollectiveData,
    root: Word,
    comm: Word,
) -> VerbEvent<()> {
    let (mut facts, role, info) = rooted(call, root, comm);
    if role == CollectiveRole::Root {
        facts.received = taken.bytes(call, whole_range(info.others));
    }
    if role == CollectiveRole::Other || role == CollectiveRole::Root && !info.inter && !call.in_place(sendbuf) {
        facts.sent = given.bytes(call, whole_range(1));
    }
    complete_event(facts)
}

/// A scatter from a root.
#[inline(always)]
pub fn scatter<C: VerbCall>(
    call: C,
    recvbuf: Word,
    given: impl CollectiveData,
    taken: impl CollectiveData,
    root: Word,
    comm: Word,
) -> VerbEvent<()> {
    let (mut facts, role, info) = rooted(call, root, comm);
    if role == CollectiveRole::Root {
        facts.sent = given.bytes(call, whole_range(info.others));
    }
    if role == CollectiveRole::Other || role == CollectiveRole::Root && !info.inter && !call.in_place(recvbuf) {
        facts.received = taken.bytes(call, whole_range(1));
    }
    complete_event(facts)
}

/// A gather whose result all are given.
#[inline(always)]
pub fn all_gather<C: VerbCall>(
    call: C,
    sendbuf: Word,
    given: impl CollectiveData,
    taken: impl CollectiveData,
    comm: Word,
) -> VerbEvent<()> {
    let info = on(call, comm);
    let mut facts = CallArguments::on(info.id);
    facts.received = taken.bytes(call, whole_range(info.others));
    if !call.in_place(sendbuf) {
        facts.sent = given.bytes(call, whole_range(1));
    }
    complete_event(facts)
}

/// A total exchange.
#[inline(always)]
pub fn all_to_all<C: VerbCall>(
    call: C,
    sendbuf: Word,
    given: impl CollectiveData,
    taken: impl CollectiveData,
    comm: Word,
) -> VerbEvent<()> {
    let info = on(call, comm);
    let mut facts = CallArguments::on(info.id);
    facts.received = taken.bytes(call, whole_range(info.others));
    if !call.in_place(sendbuf) {
        facts.sent = given.bytes(call, whole_range(info.others));
    }
    complete_event(facts)
}

/// A gather among neighbours: each is given the same block.
#[inline(always)]
pub fn neighbor_all_gather<C: VerbCall>(
    call: C,
    given: impl CollectiveData,
    taken: impl CollectiveData,
    comm: Word,
) -> VerbEvent<()> {
    let info = on(call, comm);
    let mut facts = CallArguments::on(info.id);
    facts.sent = given.bytes(call, whole_range(1));
    facts.received = taken.bytes(call, present(info.sources, info.absent));
    complete_event(facts)
}

/// An exchange among neighbours: each is given its own block.
#[inline(always)]
pub fn neighbor_all_to_all<C: VerbCall>(
    call: C,
    given: impl CollectiveData,
    taken: impl CollectiveData,
    comm: Word,
) -> VerbEvent<()> {
    let info = on(call, comm);
    let mut facts = CallArguments::on(info.id);
    facts.sent = given.bytes(call, present(info.destinations, info.absent));
    facts.received = taken.bytes(call, present(info.sources, info.absent));
    complete_event(facts)
}
