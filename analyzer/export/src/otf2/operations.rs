//! MPI functions as OTF2 numbers them: roles of regions, and collective operations.

use lbprof_collector::semantics::{CollectiveScope, CommunicationPattern, OperationSemantics};
use lbprof_collector::{Activity, Operation};

/// Values of `OTF2_RegionRole`.
pub const FUNCTION: u8 = 1;
pub const CODE: u8 = 4;
pub const ARTIFICIAL: u8 = 31;
const ONE_TO_ALL: u8 = 23;
const ALL_TO_ONE: u8 = 24;
const ALL_TO_ALL: u8 = 25;

/// The values of `OTF2_CollectiveOp` by name of the function. It has none for collectives of neighbours, of files and windows and none
/// for what prepares or starts a collective.
const COLLECTIVES: [(Operation, u8); 17] = [
    (Operation::Barrier, 0),
    (Operation::Bcast, 1),
    (Operation::Gather, 2),
    (Operation::Gatherv, 3),
    (Operation::Scatter, 4),
    (Operation::Scatterv, 5),
    (Operation::Allgather, 6),
    (Operation::Allgatherv, 7),
    (Operation::Alltoall, 8),
    (Operation::Alltoallv, 9),
    (Operation::Alltoallw, 10),
    (Operation::Allreduce, 11),
    (Operation::Reduce, 12),
    (Operation::Reduce_scatter, 13),
    (Operation::Scan, 14),
    (Operation::Exscan, 15),
    (Operation::Reduce_scatter_block, 16),
];

/// Returns the value of `OTF2_CollectiveOp` of a blocking collective on a communicator, or `None` if OTF2 has none for it.
pub fn collective_operation(number: u16) -> Option<u8> {
    COLLECTIVES.iter().find(|&&(operation, _)| operation as u16 == number).map(|&(_, value)| value)
}

/// True if the operation has a root.
pub fn has_root(number: u16) -> bool {
    use CommunicationPattern::{AllToOne, OneToAll};
    let semantics = Operation::semantics(number);
    matches!(semantics, OperationSemantics::Collective(OneToAll | AllToOne, CollectiveScope::Communicator))
}

/// Returns the role of the region that a call of the operation is.
pub fn region_role(number: u16) -> u8 {
    let activity = Operation::from_number(number).map_or(Activity::Management, Operation::activity);
    match (activity, Operation::semantics(number)) {
        (Activity::Collective, OperationSemantics::Collective(pattern, _)) => match pattern {
            CommunicationPattern::OneToAll => ONE_TO_ALL,
            CommunicationPattern::AllToOne => ALL_TO_ONE,
            CommunicationPattern::AllToAll => ALL_TO_ALL,
            CommunicationPattern::Prefix | CommunicationPattern::Neighbours => activity.otf2_role(),
        },
        _ => activity.otf2_role(),
    }
}
