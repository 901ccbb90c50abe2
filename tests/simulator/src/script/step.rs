//! What a rank of a script does, step by step, and the table of the calls that scripts know.

use lbprof_collector::definition::RegionKind;
use lbprof_collector::operation::Operation;

#[derive(Clone, Debug)]
pub(super) struct ScriptStep {
    pub line: u32,
    pub index: u32,
    pub action: Action,
}

#[derive(Clone, Debug)]
pub(super) enum Action {
    Compute(u64),
    Enter { name: String, kind: RegionKind, iterated: bool },
    Leave,
    Call(Call),
}

#[derive(Clone, Debug)]
pub(super) enum Call {
    Blocking(Operation, Start),
    /// Starts it; the name is that of its request.
    Nonblocking(Operation, Start, String),
    /// Prepares it as a persistent request of this name.
    Prepare(Operation, Start, String),
    Start(Operation, Vec<String>),
    /// Completes requests; `None`: all that are open.
    Complete {
        operation: Operation,
        which: Which,
        waits: bool,
        names: Option<Vec<String>>,
    },
    /// Looks for a message; a matched probe gives it a name.
    Probe {
        operation: Operation,
        incoming: Incoming,
        waits: bool,
        message: Option<String>,
    },
    Free(String),
    /// Moves bytes to or from a rank of the window's communicator, whose epoch bounds when.
    Access {
        operation: Operation,
        window: String,
        target: u32,
        bytes: u64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    One,
    All,
    Any,
    Some,
}

/// What is started, and a request stands for.
#[derive(Clone, Debug)]
pub(super) enum Start {
    Send(Outgoing),
    Receive(Incoming),
    /// Receives the message that a matched probe gave this name.
    Matched(String),
    Exchange(Outgoing, Incoming),
    Collective(Collective),
    Epoch(Epoch),
}

#[derive(Clone, Debug)]
pub(super) struct Epoch {
    pub does: EpochStep,
    pub window: String,
    /// The group, or the targets of a lock: ranks in the window's communicator.
    pub ranks: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EpochStep {
    Post,
    Start,
    Complete,
    Wait,
    Lock { exclusive: bool },
    Unlock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Peer {
    Rank(u32),
    Any,
    Null,
}

#[derive(Clone, Debug)]
pub(super) struct Outgoing {
    pub dest: Peer,
    pub tag: i32,
    pub bytes: u64,
    /// Index among the script's communicators.
    pub comm: usize,
    pub protocol: Protocol,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    /// At once, unless it is too large for an eager one.
    Standard,
    /// At once, however large.
    Buffered,
    /// When its receive is posted, however small.
    Synchronous,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Incoming {
    pub source: Peer,
    pub tag: Option<i32>,
    pub comm: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Collective {
    /// Blocking and nonblocking ones do not meet.
    pub operation: Operation,
    pub shape: Shape,
    pub data: Data,
    pub root: u32,
    pub bytes: u64,
    pub on: On,
}

#[derive(Clone, Debug)]
pub(super) enum On {
    Comm(usize),
    /// The window of this name is made on a communicator.
    NewWindow(usize, String),
    /// On the window of this name; `true`: the last time.
    Window(String, bool),
}

/// Who waits for whom in a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// All for the last.
    All,
    /// All for the root.
    FromRoot,
    /// The root for all.
    ToRoot,
    /// Each for those before it.
    Prefix,
    /// Each for those that send to it.
    Neighbours,
}

/// What bytes a rank contributes to a collective and is given, of `bytes` a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Data {
    None,
    Broadcast,
    /// All give a block, the root takes the result.
    Reduce,
    /// All give a block, the root takes all of them.
    Gather,
    Scatter,
    /// All give a block and take one.
    Same,
    /// All give a block and take all of them.
    AllGather,
    /// All give a block to each.
    AllToAll,
    /// All give a block for each and take their own.
    ReduceScatter,
    /// All give a block and take those of the neighbours that send to them.
    NeighbourGather,
    /// All give a block to each neighbour and take theirs.
    NeighbourExchange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Blocking = 0,
    Nonblocking = 1,
    Persistent = 2,
}

pub(super) type Styles = [Operation; 3];

macro_rules! styles {
    ($blocking:ident, $nonblocking:ident, $persistent:ident) => {
        [Operation::$blocking, Operation::$nonblocking, Operation::$persistent]
    };
}

pub(super) const SENDS: &[(Styles, Protocol)] = &[
    (styles!(Send, Isend, Send_init), Protocol::Standard),
    (styles!(Rsend, Irsend, Rsend_init), Protocol::Standard),
    (styles!(Bsend, Ibsend, Bsend_init), Protocol::Buffered),
    (styles!(Ssend, Issend, Ssend_init), Protocol::Synchronous),
];

pub(super) const RECEIVES: Styles = styles!(Recv, Irecv, Recv_init);

const NEIGHBOR_ALLGATHER: Styles = styles!(Neighbor_allgather, Ineighbor_allgather, Neighbor_allgather_init);
const NEIGHBOR_ALLGATHERV: Styles = styles!(Neighbor_allgatherv, Ineighbor_allgatherv, Neighbor_allgatherv_init);
const NEIGHBOR_ALLTOALL: Styles = styles!(Neighbor_alltoall, Ineighbor_alltoall, Neighbor_alltoall_init);
const NEIGHBOR_ALLTOALLV: Styles = styles!(Neighbor_alltoallv, Ineighbor_alltoallv, Neighbor_alltoallv_init);
const NEIGHBOR_ALLTOALLW: Styles = styles!(Neighbor_alltoallw, Ineighbor_alltoallw, Neighbor_alltoallw_init);

pub(super) const COLLECTIVES: &[(Styles, Shape, Data)] = &[
    (styles!(Barrier, Ibarrier, Barrier_init), Shape::All, Data::None),
    (styles!(Bcast, Ibcast, Bcast_init), Shape::FromRoot, Data::Broadcast),
    (styles!(Gather, Igather, Gather_init), Shape::ToRoot, Data::Gather),
    (styles!(Gatherv, Igatherv, Gatherv_init), Shape::ToRoot, Data::Gather),
    (styles!(Scatter, Iscatter, Scatter_init), Shape::FromRoot, Data::Scatter),
    (styles!(Scatterv, Iscatterv, Scatterv_init), Shape::FromRoot, Data::Scatter),
    (styles!(Allgather, Iallgather, Allgather_init), Shape::All, Data::AllGather),
    (styles!(Allgatherv, Iallgatherv, Allgatherv_init), Shape::All, Data::AllGather),
    (styles!(Alltoall, Ialltoall, Alltoall_init), Shape::All, Data::AllToAll),
    (styles!(Alltoallv, Ialltoallv, Alltoallv_init), Shape::All, Data::AllToAll),
    (styles!(Alltoallw, Ialltoallw, Alltoallw_init), Shape::All, Data::AllToAll),
    (styles!(Reduce, Ireduce, Reduce_init), Shape::ToRoot, Data::Reduce),
    (styles!(Allreduce, Iallreduce, Allreduce_init), Shape::All, Data::Same),
    (styles!(Reduce_scatter, Ireduce_scatter, Reduce_scatter_init), Shape::All, Data::ReduceScatter),
    (styles!(Reduce_scatter_block, Ireduce_scatter_block, Reduce_scatter_block_init), Shape::All, Data::ReduceScatter),
    (styles!(Scan, Iscan, Scan_init), Shape::Prefix, Data::Same),
    (styles!(Exscan, Iexscan, Exscan_init), Shape::Prefix, Data::Same),
    (NEIGHBOR_ALLGATHER, Shape::Neighbours, Data::NeighbourGather),
    (NEIGHBOR_ALLGATHERV, Shape::Neighbours, Data::NeighbourGather),
    (NEIGHBOR_ALLTOALL, Shape::Neighbours, Data::NeighbourExchange),
    (NEIGHBOR_ALLTOALLV, Shape::Neighbours, Data::NeighbourExchange),
    (NEIGHBOR_ALLTOALLW, Shape::Neighbours, Data::NeighbourExchange),
];

pub(super) const COMPLETIONS: &[(Operation, Which, bool)] = &[
    (Operation::Wait, Which::One, true),
    (Operation::Waitall, Which::All, true),
    (Operation::Waitany, Which::Any, true),
    (Operation::Waitsome, Which::Some, true),
    (Operation::Test, Which::One, false),
    (Operation::Testall, Which::All, false),
    (Operation::Testany, Which::Any, false),
    (Operation::Testsome, Which::Some, false),
];

/// The probes: whether they wait, and whether they give the message a name.
pub(super) const PROBES: &[(Operation, bool, bool)] = &[
    (Operation::Probe, true, false),
    (Operation::Iprobe, false, false),
    (Operation::Mprobe, true, true),
    (Operation::Improbe, false, true),
];

/// The steps of epochs that not all ranks of a window enter together.
pub(super) const EPOCHS: &[(Operation, EpochStep)] = &[
    (Operation::Win_post, EpochStep::Post),
    (Operation::Win_start, EpochStep::Start),
    (Operation::Win_complete, EpochStep::Complete),
    (Operation::Win_wait, EpochStep::Wait),
    (Operation::Win_lock, EpochStep::Lock { exclusive: true }),
    (Operation::Win_unlock, EpochStep::Unlock),
    (Operation::Win_lock_all, EpochStep::Lock { exclusive: false }),
    (Operation::Win_unlock_all, EpochStep::Unlock),
];

pub(super) fn is_called(operation: Operation, name: &str) -> bool {
    operation.name().eq_ignore_ascii_case(name)
}

pub(super) fn style(styles: &Styles, name: &str) -> Option<Style> {
    let all = [Style::Blocking, Style::Nonblocking, Style::Persistent];
    all.into_iter().find(|&style| is_called(styles[style as usize], name))
}
