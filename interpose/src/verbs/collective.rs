//! Collectives (MPI-4.1 chapters 6 and 8.8).
//!
//! `sent` is what this rank contributes, `received` what it is given, its own block included. Arguments that the standard calls
//! insignificant on a rank are not looked at there, for they may be anything. With MPI_IN_PLACE a rank contributes
//! nothing but for reductions, where the data are merely elsewhere.

use std::ops::Range;

use super::point_to_point::bytes;
use super::{Event, known};
use crate::handles::{comms, datatypes};
use crate::mpi::abi::abi;
use crate::mpi::lang::{Convert, Language};
use crate::recording::slot::Facts;
use crate::state::comm::CommInfo;
use crate::state::thread::Thread;
use crate::word::Word;

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

/// The data that a rank gives or takes in a collective, in a block for each rank or neighbour.
///
/// Read only where the standard calls the arguments significant.
pub trait Data<L: Language>: Copy {
    /// Bytes of the blocks with these numbers.
    unsafe fn bytes(self, thread: *mut Thread, blocks: impl Iterator<Item = usize>) -> u64;
}

/// The blocks of `n` ranks.
#[inline(always)]
fn all(n: i64) -> Range<usize> {
    0..n as usize
}

/// The blocks of those of `n` neighbours that are there.
#[inline(always)]
fn present(n: i64, absent: u64) -> impl Iterator<Item = usize> {
    all(n).filter(move |&i| i >= 64 || absent >> i & 1 == 0)
}

/// See [`block`].
#[derive(Clone, Copy)]
pub struct Block(Word, Word);

/// See [`blocks`].
#[derive(Clone, Copy)]
pub struct Blocks(Word, Word);

/// See [`typed_blocks`].
#[derive(Clone, Copy)]
pub struct TypedBlocks(Word, Word);

/// A block of `count` elements, the same for each rank.
#[inline(always)]
pub unsafe fn block<L: Language>(_: *mut Thread, count: Word, datatype: Word) -> Block {
    Block(count, datatype)
}

/// Blocks of `counts` elements, one for each rank, all of one datatype.
#[inline(always)]
pub unsafe fn blocks<L: Language>(_: *mut Thread, counts: Word, datatype: Word) -> Blocks {
    Blocks(counts, datatype)
}

/// Blocks of `counts` elements, one for each rank, each with its own datatype.
#[inline(always)]
pub unsafe fn typed_blocks<L: Language>(_: *mut Thread, counts: Word, datatypes: Word) -> TypedBlocks {
    TypedBlocks(counts, datatypes)
}

impl<L: Language> Data<L> for Block {
    #[inline(always)]
    unsafe fn bytes(self, thread: *mut Thread, blocks: impl Iterator<Item = usize>) -> u64 {
        // SAFETY: the verbs' contract.
        unsafe { bytes::<L>(thread, self.0, self.1).wrapping_mul(blocks.count() as u64) }
    }
}

impl<L: Language> Data<L> for Blocks {
    unsafe fn bytes(self, thread: *mut Thread, blocks: impl Iterator<Item = usize>) -> u64 {
        // SAFETY: the verbs' contract: one count for each of the ranks.
        unsafe {
            let elements = blocks.fold(0u64, |sum, i| sum.wrapping_add(L::count_at(self.0, i)));
            elements.wrapping_mul(datatypes::size(thread, L::handle(self.1, Convert::Datatype)))
        }
    }
}

impl<L: Language> Data<L> for TypedBlocks {
    unsafe fn bytes(self, thread: *mut Thread, blocks: impl Iterator<Item = usize>) -> u64 {
        // SAFETY: the verbs' contract: one count and datatype for each of the ranks; where the count is 0 the datatype is not asked.
        unsafe {
            blocks.fold(0u64, |sum, i| match L::count_at(self.0, i) {
                0 => sum,
                count => {
                    let datatype = L::handle_at(self.1, i, Convert::Datatype);
                    sum.wrapping_add(count.wrapping_mul(datatypes::size(thread, datatype)))
                }
            })
        }
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
pub unsafe fn all_reduces<L: Language>(thread: *mut Thread, count: Word, datatype: Word, comm: Word) -> Event<()> {
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
    recvcounts: Word,
    datatype: Word,
    comm: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract; the rank lies in its communicator.
    unsafe {
        let info = on::<L>(thread, comm);
        let mut facts = Facts::on(info.id);
        facts.sent = Data::<L>::bytes(Blocks(recvcounts, datatype), thread, all(info.size));
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
    given: impl Data<L>,
    taken: impl Data<L>,
    root: Word,
    comm: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let (mut facts, role, info) = rooted::<L>(thread, root, comm);
        if role == Role::Root {
            facts.received = taken.bytes(thread, all(info.others));
        }
        if role == Role::Other || role == Role::Root && !info.inter && !L::in_place(sendbuf) {
            facts.sent = given.bytes(thread, all(1));
        }
        known(facts)
    }
}

/// A scatter from a root.
#[inline(always)]
pub unsafe fn scatters<L: Language>(
    thread: *mut Thread,
    recvbuf: Word,
    given: impl Data<L>,
    taken: impl Data<L>,
    root: Word,
    comm: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let (mut facts, role, info) = rooted::<L>(thread, root, comm);
        if role == Role::Root {
            facts.sent = given.bytes(thread, all(info.others));
        }
        if role == Role::Other || role == Role::Root && !info.inter && !L::in_place(recvbuf) {
            facts.received = taken.bytes(thread, all(1));
        }
        known(facts)
    }
}

/// A gather whose result all are given.
#[inline(always)]
pub unsafe fn all_gathers<L: Language>(
    thread: *mut Thread,
    sendbuf: Word,
    given: impl Data<L>,
    taken: impl Data<L>,
    comm: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let info = on::<L>(thread, comm);
        let mut facts = Facts::on(info.id);
        facts.received = taken.bytes(thread, all(info.others));
        if !L::in_place(sendbuf) {
            facts.sent = given.bytes(thread, all(1));
        }
        known(facts)
    }
}

/// A total exchange.
#[inline(always)]
pub unsafe fn all_to_all<L: Language>(
    thread: *mut Thread,
    sendbuf: Word,
    given: impl Data<L>,
    taken: impl Data<L>,
    comm: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let info = on::<L>(thread, comm);
        let mut facts = Facts::on(info.id);
        facts.received = taken.bytes(thread, all(info.others));
        if !L::in_place(sendbuf) {
            facts.sent = given.bytes(thread, all(info.others));
        }
        known(facts)
    }
}

/// A gather among neighbours: each is given the same block.
#[inline(always)]
pub unsafe fn neighbor_all_gathers<L: Language>(
    thread: *mut Thread,
    given: impl Data<L>,
    taken: impl Data<L>,
    comm: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let info = on::<L>(thread, comm);
        let mut facts = Facts::on(info.id);
        facts.sent = given.bytes(thread, all(1));
        facts.received = taken.bytes(thread, present(info.sources, info.absent));
        known(facts)
    }
}

/// An exchange among neighbours: each is given its own block.
#[inline(always)]
pub unsafe fn neighbor_all_to_all<L: Language>(
    thread: *mut Thread,
    given: impl Data<L>,
    taken: impl Data<L>,
    comm: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let info = on::<L>(thread, comm);
        let mut facts = Facts::on(info.id);
        facts.sent = given.bytes(thread, present(info.destinations, info.absent));
        facts.received = taken.bytes(thread, present(info.sources, info.absent));
        known(facts)
    }
}
