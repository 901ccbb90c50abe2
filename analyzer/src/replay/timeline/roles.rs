//! What each operation does with other ranks.

use lbprof_collector::Operation;

use super::step::{EpochStep, Meeting, SendMode};

/// What an operation is to other ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Talk {
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
    PrepareMeeting(Meeting),
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
    Meet(Meeting, On),
    /// Starts a collective.
    StartMeet(Meeting),
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
pub fn talk_of(number: u16) -> Talk {
    static BY_NUMBER: [Talk; Operation::NUMBERS] = {
        let mut all = [Talk::Nothing; Operation::NUMBERS];
        let mut at = 0;
        while at < Operation::ALL.len() {
            all[Operation::ALL[at] as usize] = talk(Operation::ALL[at]);
            at += 1;
        }
        all
    };
    BY_NUMBER.get(usize::from(number)).copied().unwrap_or(Talk::Nothing)
}

/// What the operation of a number in a log is to other ranks where its call ends a wait by polling: what a call would be that waits.
pub fn talk_of_polled(number: u16) -> Talk {
    match talk_of(number) {
        Talk::Test => Talk::Wait,
        Talk::Epoch(EpochStep::Test) => Talk::Epoch(EpochStep::Wait),
        Talk::AskForMessage => Talk::Probe,
        Talk::AskForRequest => Talk::Look,
        other => other,
    }
}

/// What `operation` is to other ranks (MPI-4.1 chapters 3 to 8, 12, 14).
///
/// Flushes and unlocks move data: whether they wait for another rank cannot be told.
const fn talk(operation: Operation) -> Talk {
    use Meeting::{All, FromRoot, Neighbours, Prefix, ToRoot};
    use Operation as O;
    use SendMode::{Buffered, Standard, Synchronous};
    match operation {
        O::Send | O::Rsend => Talk::Send(Standard),
        O::Ssend => Talk::Send(Synchronous),
        O::Bsend => Talk::Send(Buffered),
        O::Recv | O::Mrecv => Talk::Recv,
        O::Sendrecv | O::Sendrecv_replace => Talk::Exchange,
        O::Probe | O::Mprobe => Talk::Probe,
        O::Isend | O::Irsend => Talk::StartSend(Standard),
        O::Issend => Talk::StartSend(Synchronous),
        O::Ibsend => Talk::StartSend(Buffered),
        O::Irecv | O::Imrecv => Talk::StartRecv,
        O::Isendrecv | O::Isendrecv_replace => Talk::StartExchange,
        O::Send_init | O::Rsend_init | O::Psend_init => Talk::PrepareSend(Standard),
        O::Ssend_init => Talk::PrepareSend(Synchronous),
        O::Bsend_init => Talk::PrepareSend(Buffered),
        O::Recv_init | O::Precv_init => Talk::PrepareRecv,
        O::Start | O::Startall => Talk::Start,
        O::Wait | O::Waitall | O::Waitany | O::Waitsome => Talk::Wait,
        O::Test | O::Testall | O::Testany | O::Testsome => Talk::Test,
        O::Barrier | O::Allgather | O::Allgatherv | O::Alltoall | O::Alltoallv | O::Alltoallw | O::Allreduce => {
            Talk::Meet(All, On::Communicator)
        }
        O::Reduce_scatter | O::Reduce_scatter_block => Talk::Meet(All, On::Communicator),
        O::Bcast | O::Scatter | O::Scatterv => Talk::Meet(FromRoot, On::Communicator),
        O::Gather | O::Gatherv | O::Reduce => Talk::Meet(ToRoot, On::Communicator),
        O::Scan | O::Exscan => Talk::Meet(Prefix, On::Communicator),
        O::Neighbor_allgather | O::Neighbor_allgatherv => Talk::Meet(Neighbours, On::Communicator),
        O::Neighbor_alltoall | O::Neighbor_alltoallv | O::Neighbor_alltoallw => {
            Talk::Meet(Neighbours, On::Communicator)
        }
        O::Ibarrier | O::Iallgather | O::Iallgatherv | O::Ialltoall | O::Ialltoallv | O::Ialltoallw => {
            Talk::StartMeet(All)
        }
        O::Iallreduce | O::Ireduce_scatter | O::Ireduce_scatter_block | O::Comm_idup | O::Comm_idup_with_info => {
            Talk::StartMeet(All)
        }
        O::Ibcast | O::Iscatter | O::Iscatterv => Talk::StartMeet(FromRoot),
        O::Igather | O::Igatherv | O::Ireduce => Talk::StartMeet(ToRoot),
        O::Iscan | O::Iexscan => Talk::StartMeet(Prefix),
        O::Ineighbor_allgather | O::Ineighbor_allgatherv | O::Ineighbor_alltoall => Talk::StartMeet(Neighbours),
        O::Ineighbor_alltoallv | O::Ineighbor_alltoallw => Talk::StartMeet(Neighbours),
        O::Barrier_init | O::Allgather_init | O::Allgatherv_init | O::Alltoall_init | O::Alltoallv_init => {
            Talk::PrepareMeeting(All)
        }
        O::Alltoallw_init | O::Allreduce_init | O::Reduce_scatter_init | O::Reduce_scatter_block_init => {
            Talk::PrepareMeeting(All)
        }
        O::Bcast_init | O::Scatter_init | O::Scatterv_init => Talk::PrepareMeeting(FromRoot),
        O::Gather_init | O::Gatherv_init | O::Reduce_init => Talk::PrepareMeeting(ToRoot),
        O::Scan_init | O::Exscan_init => Talk::PrepareMeeting(Prefix),
        O::Neighbor_allgather_init | O::Neighbor_allgatherv_init => Talk::PrepareMeeting(Neighbours),
        O::Neighbor_alltoall_init | O::Neighbor_alltoallv_init | O::Neighbor_alltoallw_init => {
            Talk::PrepareMeeting(Neighbours)
        }
        O::Comm_create | O::Comm_dup | O::Comm_dup_with_info | O::Comm_split | O::Comm_split_type => {
            Talk::Meet(All, On::Communicator)
        }
        O::Intercomm_merge | O::Cart_create | O::Cart_sub | O::Graph_create | O::Dist_graph_create => {
            Talk::Meet(All, On::Communicator)
        }
        O::Dist_graph_create_adjacent | O::Win_create | O::Win_allocate | O::Win_allocate_shared => {
            Talk::Meet(All, On::Communicator)
        }
        O::Win_create_dynamic => Talk::Meet(All, On::Communicator),
        O::Win_fence | O::Win_free => Talk::Meet(All, On::Window),
        O::Win_post => Talk::Epoch(EpochStep::Post),
        O::Win_start => Talk::Epoch(EpochStep::Start),
        O::Win_complete => Talk::Epoch(EpochStep::Complete),
        O::Win_wait => Talk::Epoch(EpochStep::Wait),
        O::Win_test => Talk::Epoch(EpochStep::Test),
        O::Win_lock | O::Win_lock_all => Talk::Epoch(EpochStep::Lock { exclusive: false }),
        O::Win_unlock | O::Win_unlock_all => Talk::Epoch(EpochStep::Unlock),
        O::File_close | O::File_sync | O::File_set_size | O::File_preallocate | O::File_set_view => {
            Talk::Meet(All, On::File)
        }
        O::File_read_all | O::File_read_at_all | O::File_read_ordered => Talk::Meet(All, On::File),
        O::File_write_all | O::File_write_at_all | O::File_write_ordered => Talk::Meet(All, On::File),
        O::Iprobe | O::Improbe => Talk::AskForMessage,
        O::Request_get_status | O::Request_get_status_all | O::Request_get_status_any => Talk::AskForRequest,
        O::Request_get_status_some | O::Parrived => Talk::AskForRequest,
        O::Init | O::Init_thread | O::Finalize | O::Abort | O::Session_init => Talk::Nothing,
        O::Session_finalize | O::Buffer_detach | O::Buffer_flush | O::Buffer_iflush => Talk::Nothing,
        O::Comm_detach_buffer | O::Comm_flush_buffer | O::Comm_iflush_buffer => Talk::Nothing,
        O::Session_detach_buffer | O::Session_flush_buffer | O::Session_iflush_buffer => Talk::Nothing,
        O::Pready | O::Pready_range | O::Pready_list => Talk::Ready,
        O::Request_free | O::Cancel => Talk::Nothing,
        O::Grequest_start | O::Put | O::Get | O::Accumulate | O::Get_accumulate => Talk::Nothing,
        O::Fetch_and_op | O::Compare_and_swap | O::Rput | O::Rget | O::Raccumulate => Talk::Nothing,
        O::Rget_accumulate | O::Win_flush | O::Win_flush_local | O::Win_flush_all => Talk::Nothing,
        O::Win_flush_local_all | O::Win_sync | O::Win_set_info | O::File_open | O::File_delete => Talk::Nothing,
        O::File_get_size | O::File_set_atomicity | O::File_set_info | O::File_seek => Talk::Nothing,
        O::File_seek_shared | O::File_get_position_shared | O::File_read | O::File_read_at => Talk::Nothing,
        O::File_read_shared | O::File_write | O::File_write_at | O::File_write_shared => Talk::Nothing,
        O::File_iread | O::File_iread_all | O::File_iread_at | O::File_iread_at_all => Talk::Nothing,
        O::File_iread_shared | O::File_iwrite | O::File_iwrite_all | O::File_iwrite_at => Talk::Nothing,
        O::File_iwrite_at_all | O::File_iwrite_shared | O::File_read_all_begin => Talk::Nothing,
        O::File_read_all_end | O::File_read_at_all_begin | O::File_read_at_all_end => Talk::Nothing,
        O::File_read_ordered_begin | O::File_read_ordered_end | O::File_write_all_begin => Talk::Nothing,
        O::File_write_all_end | O::File_write_at_all_begin | O::File_write_at_all_end => Talk::Nothing,
        O::File_write_ordered_begin | O::File_write_ordered_end | O::Comm_create_group => Talk::Nothing,
        O::Comm_create_from_group | O::Intercomm_create | O::Intercomm_create_from_groups => Talk::Nothing,
        O::Comm_free | O::Comm_disconnect | O::Comm_set_info | O::Comm_accept => Talk::Nothing,
        O::Comm_connect | O::Comm_join | O::Open_port | O::Close_port | O::Publish_name => Talk::Nothing,
        O::Unpublish_name | O::Lookup_name | O::Comm_spawn | O::Comm_spawn_multiple => Talk::Nothing,
        O::RegionEnter | O::RegionLeave | O::Work | O::Counter | O::Memory | O::Flush => Talk::Nothing,
        O::Pause | O::Resume | O::Completed | O::Received | O::ProgramEnd | O::Started => Talk::Nothing,
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
                talk_of(number),
                Talk::Test | Talk::AskForMessage | Talk::AskForRequest | Talk::Epoch(EpochStep::Test)
            );
            assert_eq!(asks, Operation::polls(number), "{}", operation.name());
            assert_eq!(asks, talk_of_polled(number) != talk_of(number), "{}", operation.name());
        }
    }
}
