//! What each operation does with other ranks.

use lbprof_collector::Operation;

use super::step::{EpochStep, Pattern, SendMode};

/// What an operation is to other ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// Nothing: it ends when its own rank has done its part, or what it waits for cannot be told from the log.
    Nothing,
    /// A blocking send.
    Send(SendMode),
    /// A blocking receive.
    Recv,
    /// A send and a receive at once; the receive is a part.
    Exchange,
    /// Starts a send.
    StartSend(SendMode),
    /// Starts a receive.
    StartRecv,
    /// Starts both under one request.
    StartExchange,
    /// A blocking probe.
    Probe,
    /// A probe that does not wait.
    AskForMessage,
    /// Prepares a persistent send.
    PrepareSend(SendMode),
    /// Prepares a persistent receive.
    PrepareRecv,
    /// Prepares a persistent collective.
    PrepareCollective(Pattern),
    /// Starts a persistent operation, or several, which are parts.
    Start,
    /// Makes partitions of a started send ready.
    Ready,
    /// Waits for a request, or for several, which are parts.
    Wait,
    /// Asks for a request, or for several.
    Test,
    /// Asks whether a request is complete, and leaves it as it is.
    AskForRequest,
    /// The same, having waited for it.
    Look,
    /// A collective on a communicator, or on a window or file.
    Collective(Pattern, On),
    /// Starts a collective.
    StartCollective(Pattern),
    /// Begins or ends an epoch on a window that not all its ranks enter together.
    Epoch(EpochStep),
}

/// What a collective is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// A communicator.
    Communicator,
    /// An RMA window: the record's tag.
    Window,
    /// A file: the record's tag.
    File,
}

/// What the operation of a number in a log is to other ranks.
#[inline]
pub fn semantics_of(number: u16) -> Semantics {
    static BY_NUMBER: [Semantics; Operation::NUMBERS] = {
        let mut all = [Semantics::Nothing; Operation::NUMBERS];
        let mut at = 0;
        while at < Operation::ALL.len() {
            all[Operation::ALL[at] as usize] = semantics(Operation::ALL[at]);
            at += 1;
        }
        all
    };
    BY_NUMBER.get(usize::from(number)).copied().unwrap_or(Semantics::Nothing)
}

/// What the operation of a number in a log is to other ranks where its call ends a wait by polling: what a call would be that waits.
pub fn semantics_of_polled(number: u16) -> Semantics {
    match semantics_of(number) {
        Semantics::Test => Semantics::Wait,
        Semantics::Epoch(EpochStep::Test) => Semantics::Epoch(EpochStep::Wait),
        Semantics::AskForMessage => Semantics::Probe,
        Semantics::AskForRequest => Semantics::Look,
        other => other,
    }
}

/// What `operation` is to other ranks (MPI-4.1 chapters 3 to 8, 12, 14).
///
/// Flushes and unlocks move data: whether they wait for another rank cannot be told.
const fn semantics(operation: Operation) -> Semantics {
    use Operation as O;
    use Pattern::{AllToAll, AllToOne, Neighbours, OneToAll, Prefix};
    use SendMode::{Buffered, Standard, Synchronous};
    match operation {
        O::Send | O::Rsend => Semantics::Send(Standard),
        O::Ssend => Semantics::Send(Synchronous),
        O::Bsend => Semantics::Send(Buffered),
        O::Recv | O::Mrecv => Semantics::Recv,
        O::Sendrecv | O::Sendrecv_replace => Semantics::Exchange,
        O::Probe | O::Mprobe => Semantics::Probe,
        O::Isend | O::Irsend => Semantics::StartSend(Standard),
        O::Issend => Semantics::StartSend(Synchronous),
        O::Ibsend => Semantics::StartSend(Buffered),
        O::Irecv | O::Imrecv => Semantics::StartRecv,
        O::Isendrecv | O::Isendrecv_replace => Semantics::StartExchange,
        O::Send_init | O::Rsend_init | O::Psend_init => Semantics::PrepareSend(Standard),
        O::Ssend_init => Semantics::PrepareSend(Synchronous),
        O::Bsend_init => Semantics::PrepareSend(Buffered),
        O::Recv_init | O::Precv_init => Semantics::PrepareRecv,
        O::Start | O::Startall => Semantics::Start,
        O::Wait | O::Waitall | O::Waitany | O::Waitsome => Semantics::Wait,
        O::Test | O::Testall | O::Testany | O::Testsome => Semantics::Test,
        O::Barrier | O::Allgather | O::Allgatherv | O::Alltoall | O::Alltoallv | O::Alltoallw | O::Allreduce => {
            Semantics::Collective(AllToAll, On::Communicator)
        }
        O::Reduce_scatter | O::Reduce_scatter_block => Semantics::Collective(AllToAll, On::Communicator),
        O::Bcast | O::Scatter | O::Scatterv => Semantics::Collective(OneToAll, On::Communicator),
        O::Gather | O::Gatherv | O::Reduce => Semantics::Collective(AllToOne, On::Communicator),
        O::Scan | O::Exscan => Semantics::Collective(Prefix, On::Communicator),
        O::Neighbor_allgather | O::Neighbor_allgatherv => Semantics::Collective(Neighbours, On::Communicator),
        O::Neighbor_alltoall | O::Neighbor_alltoallv | O::Neighbor_alltoallw => {
            Semantics::Collective(Neighbours, On::Communicator)
        }
        O::Ibarrier | O::Iallgather | O::Iallgatherv | O::Ialltoall | O::Ialltoallv | O::Ialltoallw => {
            Semantics::StartCollective(AllToAll)
        }
        O::Iallreduce | O::Ireduce_scatter | O::Ireduce_scatter_block | O::Comm_idup | O::Comm_idup_with_info => {
            Semantics::StartCollective(AllToAll)
        }
        O::Ibcast | O::Iscatter | O::Iscatterv => Semantics::StartCollective(OneToAll),
        O::Igather | O::Igatherv | O::Ireduce => Semantics::StartCollective(AllToOne),
        O::Iscan | O::Iexscan => Semantics::StartCollective(Prefix),
        O::Ineighbor_allgather | O::Ineighbor_allgatherv | O::Ineighbor_alltoall => {
            Semantics::StartCollective(Neighbours)
        }
        O::Ineighbor_alltoallv | O::Ineighbor_alltoallw => Semantics::StartCollective(Neighbours),
        O::Barrier_init | O::Allgather_init | O::Allgatherv_init | O::Alltoall_init | O::Alltoallv_init => {
            Semantics::PrepareCollective(AllToAll)
        }
        O::Alltoallw_init | O::Allreduce_init | O::Reduce_scatter_init | O::Reduce_scatter_block_init => {
            Semantics::PrepareCollective(AllToAll)
        }
        O::Bcast_init | O::Scatter_init | O::Scatterv_init => Semantics::PrepareCollective(OneToAll),
        O::Gather_init | O::Gatherv_init | O::Reduce_init => Semantics::PrepareCollective(AllToOne),
        O::Scan_init | O::Exscan_init => Semantics::PrepareCollective(Prefix),
        O::Neighbor_allgather_init | O::Neighbor_allgatherv_init => Semantics::PrepareCollective(Neighbours),
        O::Neighbor_alltoall_init | O::Neighbor_alltoallv_init | O::Neighbor_alltoallw_init => {
            Semantics::PrepareCollective(Neighbours)
        }
        O::Comm_create | O::Comm_dup | O::Comm_dup_with_info | O::Comm_split | O::Comm_split_type => {
            Semantics::Collective(AllToAll, On::Communicator)
        }
        O::Intercomm_merge | O::Cart_create | O::Cart_sub | O::Graph_create | O::Dist_graph_create => {
            Semantics::Collective(AllToAll, On::Communicator)
        }
        O::Dist_graph_create_adjacent | O::Win_create | O::Win_allocate | O::Win_allocate_shared => {
            Semantics::Collective(AllToAll, On::Communicator)
        }
        O::Win_create_dynamic => Semantics::Collective(AllToAll, On::Communicator),
        O::Win_fence | O::Win_free => Semantics::Collective(AllToAll, On::Window),
        O::Win_post => Semantics::Epoch(EpochStep::Post),
        O::Win_start => Semantics::Epoch(EpochStep::Start),
        O::Win_complete => Semantics::Epoch(EpochStep::Complete),
        O::Win_wait => Semantics::Epoch(EpochStep::Wait),
        O::Win_test => Semantics::Epoch(EpochStep::Test),
        O::Win_lock | O::Win_lock_all => Semantics::Epoch(EpochStep::Lock { exclusive: false }),
        O::Win_unlock | O::Win_unlock_all => Semantics::Epoch(EpochStep::Unlock),
        O::File_close | O::File_sync | O::File_set_size | O::File_preallocate | O::File_set_view => {
            Semantics::Collective(AllToAll, On::File)
        }
        O::File_read_all | O::File_read_at_all | O::File_read_ordered => Semantics::Collective(AllToAll, On::File),
        O::File_write_all | O::File_write_at_all | O::File_write_ordered => Semantics::Collective(AllToAll, On::File),
        O::Iprobe | O::Improbe => Semantics::AskForMessage,
        O::Request_get_status | O::Request_get_status_all | O::Request_get_status_any => Semantics::AskForRequest,
        O::Request_get_status_some | O::Parrived => Semantics::AskForRequest,
        O::Init | O::Init_thread | O::Finalize | O::Abort | O::Session_init => Semantics::Nothing,
        O::Session_finalize | O::Buffer_detach | O::Buffer_flush | O::Buffer_iflush => Semantics::Nothing,
        O::Comm_detach_buffer | O::Comm_flush_buffer | O::Comm_iflush_buffer => Semantics::Nothing,
        O::Session_detach_buffer | O::Session_flush_buffer | O::Session_iflush_buffer => Semantics::Nothing,
        O::Pready | O::Pready_range | O::Pready_list => Semantics::Ready,
        O::Request_free | O::Cancel => Semantics::Nothing,
        O::Grequest_start | O::Put | O::Get | O::Accumulate | O::Get_accumulate => Semantics::Nothing,
        O::Fetch_and_op | O::Compare_and_swap | O::Rput | O::Rget | O::Raccumulate => Semantics::Nothing,
        O::Rget_accumulate | O::Win_flush | O::Win_flush_local | O::Win_flush_all => Semantics::Nothing,
        O::Win_flush_local_all | O::Win_sync | O::Win_set_info | O::File_open | O::File_delete => Semantics::Nothing,
        O::File_get_size | O::File_set_atomicity | O::File_set_info | O::File_seek => Semantics::Nothing,
        O::File_seek_shared | O::File_get_position_shared | O::File_read | O::File_read_at => Semantics::Nothing,
        O::File_read_shared | O::File_write | O::File_write_at | O::File_write_shared => Semantics::Nothing,
        O::File_iread | O::File_iread_all | O::File_iread_at | O::File_iread_at_all => Semantics::Nothing,
        O::File_iread_shared | O::File_iwrite | O::File_iwrite_all | O::File_iwrite_at => Semantics::Nothing,
        O::File_iwrite_at_all | O::File_iwrite_shared | O::File_read_all_begin => Semantics::Nothing,
        O::File_read_all_end | O::File_read_at_all_begin | O::File_read_at_all_end => Semantics::Nothing,
        O::File_read_ordered_begin | O::File_read_ordered_end | O::File_write_all_begin => Semantics::Nothing,
        O::File_write_all_end | O::File_write_at_all_begin | O::File_write_at_all_end => Semantics::Nothing,
        O::File_write_ordered_begin | O::File_write_ordered_end | O::Comm_create_group => Semantics::Nothing,
        O::Comm_create_from_group | O::Intercomm_create | O::Intercomm_create_from_groups => Semantics::Nothing,
        O::Comm_free | O::Comm_disconnect | O::Comm_set_info | O::Comm_accept => Semantics::Nothing,
        O::Comm_connect | O::Comm_join | O::Open_port | O::Close_port | O::Publish_name => Semantics::Nothing,
        O::Unpublish_name | O::Lookup_name | O::Comm_spawn | O::Comm_spawn_multiple => Semantics::Nothing,
        O::RegionEnter | O::RegionLeave | O::Work | O::Counter | O::Memory | O::Flush => Semantics::Nothing,
        O::Pause | O::Resume | O::Completed | O::Received | O::ProgramEnd | O::Started => Semantics::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_polls_becomes_one_that_waits_where_it_ends_a_wait() {
        for &operation in Operation::ALL {
            let number = operation as u16;
            let asks = matches!(
                semantics_of(number),
                Semantics::Test
                    | Semantics::AskForMessage
                    | Semantics::AskForRequest
                    | Semantics::Epoch(EpochStep::Test)
            );
            assert_eq!(asks, Operation::polls(number), "{}", operation.name());
            assert_eq!(asks, semantics_of_polled(number) != semantics_of(number), "{}", operation.name());
        }
    }
}
