//! MPI functions as Paraver's tools number them: an event type for each kind of function, and a value for each function.

use std::collections::BTreeMap;

use lbprof_collector::{Activity, Operation};

use lbprof_analysis::profile::operation_name;

/// Values that Extrae and Dimemas give to the functions that they know: the value of the first function of a row, whose names have successive
/// values. Dimemas translates events by them.
const VALUES: &[(u32, &str)] = &[
    (1, "Send Recv Isend Irecv Wait Waitall Bcast"),
    (8, "Barrier Reduce Allreduce Alltoall Alltoallv"),
    (13, "Gather Gatherv Scatter Scatterv Allgather Allgatherv"),
    (21, "Comm_create Comm_dup Comm_split"),
    (25, "Comm_free"),
    (30, "Scan Init Finalize"),
    (33, "Bsend Ssend Rsend Ibsend Issend Irsend Test Cancel"),
    (41, "Sendrecv Sendrecv_replace Cart_create"),
    (49, "Cart_sub"),
    (54, "Graph_create"),
    (59, "Waitany Waitsome Probe Iprobe"),
    (63, "Win_create Win_free Put Get Accumulate"),
    (68, "Win_fence Win_start Win_complete Win_post"),
    (72, "Win_wait Win_test Win_lock Win_unlock"),
    (80, "Reduce_scatter"),
    (96, "Intercomm_create Intercomm_merge"),
    (100, "Abort"),
    (112, "Bsend_init"),
    (114, "Buffer_detach Request_free Recv_init Send_init"),
    (121, "Rsend_init Ssend_init Start Startall Testall Testany"),
    (128, "Testsome"),
    (141, "File_open File_close File_read File_read_all File_write File_write_all File_read_at"),
    (148, "File_read_at_all File_write_at File_write_at_all"),
    (151, "Comm_spawn Comm_spawn_multiple Request_get_status"),
    (154, "Ireduce Iallreduce Ibarrier Ibcast Ialltoall Ialltoallv Iallgather Iallgatherv Igather"),
    (163, "Igatherv Iscatter Iscatterv Ireduce_scatter Iscan"),
    (168, "Reduce_scatter_block Ireduce_scatter_block Alltoallw Ialltoallw Get_accumulate"),
    (173, "Dist_graph_create"),
    (174, "Neighbor_allgather Ineighbor_allgather Neighbor_allgatherv Ineighbor_allgatherv"),
    (178, "Neighbor_alltoall Ineighbor_alltoall"),
    (180, "Neighbor_alltoallv Ineighbor_alltoallv Neighbor_alltoallw Ineighbor_alltoallw"),
    (184, "Fetch_and_op Compare_and_swap Win_flush Win_flush_all Win_flush_local Win_flush_local_all"),
    (190, "Mprobe Improbe Mrecv Imrecv"),
    (194, "Init_thread"),
];

/// Added to the number of a function that is not in the table: no other has such a value.
const OTHERS: u32 = 10_000;

/// Event types, by kind of function, and their names.
pub const TYPES: [(u32, &str); 5] = [
    (50_000_001, "MPI Point-to-point"),
    (50_000_002, "MPI Collective Comm"),
    (50_000_003, "MPI Other"),
    (50_000_004, "MPI One-sided"),
    (50_000_005, "MPI I/O"),
];

/// The event of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParaverCallEvent {
    /// Its type.
    pub kind: u32,
    /// Its value; at the end of the call it is 0.
    pub value: u32,
    /// The state of the thread in the call, see [`super::config::STATES`].
    pub state: u8,
}

impl ParaverCallEvent {
    /// Returns the event of an operation, given by its number.
    pub fn for_operation(number: u16, values: &BTreeMap<&str, u32>) -> ParaverCallEvent {
        let name = operation_name(number);
        let name: &str = &name;
        let value = values.get(name).copied().unwrap_or(OTHERS + u32::from(number));
        let activity = Operation::from_number(number).map_or(Activity::Management, Operation::activity);
        let (kind, state) = match activity {
            // Preparing or starting a persistent operation, or freeing a request, transfers nothing by itself.
            Activity::PointToPoint if is_other(name) => (2, activity.paraver_state()),
            Activity::PointToPoint => (0, point_to_point_state(name)),
            Activity::Collective | Activity::Synchronization => (1, activity.paraver_state()),
            Activity::OneSided => (3, activity.paraver_state()),
            Activity::Io => (4, activity.paraver_state()),
            _ => (2, Activity::Management.paraver_state()),
        };
        ParaverCallEvent { kind: TYPES[kind].0, value, state }
    }
}

/// Returns the values by name.
pub fn function_values() -> BTreeMap<&'static str, u32> {
    VALUES.iter().flat_map(|&(first, names)| names.split(' ').zip(first..)).collect()
}

fn is_other(name: &str) -> bool {
    name.ends_with("_init")
        || ["Start", "Startall", "Request_free", "Request_get_status", "Buffer_detach", "Buffer_flush"].contains(&name)
}

fn point_to_point_state(name: &str) -> u8 {
    match name {
        "Recv" | "Mrecv" => 3,
        "Send" | "Ssend" | "Bsend" | "Rsend" => 4,
        "Isend" | "Issend" | "Ibsend" | "Irsend" => 10,
        "Irecv" | "Imrecv" => 11,
        "Sendrecv" | "Sendrecv_replace" => 16,
        _ if name.starts_with("Wait") => 8,
        _ if name.starts_with("Test") || name.contains("probe") || name.contains("Probe") => 6,
        _ => 15,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_the_values_that_readers_know_and_others_one_of_their_own() {
        let values = function_values();
        let of = |operation: Operation| ParaverCallEvent::for_operation(operation as u16, &values);
        assert_eq!(of(Operation::Waitall), ParaverCallEvent { kind: 50_000_001, value: 6, state: 8 });
        assert_eq!(of(Operation::Barrier), ParaverCallEvent { kind: 50_000_002, value: 8, state: 5 });
        assert_eq!(of(Operation::Send_init), ParaverCallEvent { kind: 50_000_003, value: 117, state: 15 });
        let mut all: Vec<u32> = Operation::ALL.iter().map(|&operation| of(operation).value).collect();
        let n = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), n, "each has another value");
        let names: Vec<&str> = Operation::ALL.iter().map(|operation| operation.name()).collect();
        assert!(values.keys().all(|name| names.contains(name)), "there are such functions");
    }
}
