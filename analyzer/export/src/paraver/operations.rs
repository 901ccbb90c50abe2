//! MPI functions as Paraver's tools number them: an event type for each kind of function, and a value for each function.

use std::collections::BTreeMap;

use lbprof_collector::{Activity, Operation};

use lbprof_analysis::profile::operation_name;

/// Values that Extrae and Dimemas give to the functions that they know. Dimemas translates events by them.
const VALUES: &[(&str, u32)] = &[
    ("Send", 1),
    ("Recv", 2),
    ("Isend", 3),
    ("Irecv", 4),
    ("Wait", 5),
    ("Waitall", 6),
    ("Bcast", 7),
    ("Barrier", 8),
    ("Reduce", 9),
    ("Allreduce", 10),
    ("Alltoall", 11),
    ("Alltoallv", 12),
    ("Gather", 13),
    ("Gatherv", 14),
    ("Scatter", 15),
    ("Scatterv", 16),
    ("Allgather", 17),
    ("Allgatherv", 18),
    ("Comm_create", 21),
    ("Comm_dup", 22),
    ("Comm_split", 23),
    ("Comm_free", 25),
    ("Scan", 30),
    ("Init", 31),
    ("Finalize", 32),
    ("Bsend", 33),
    ("Ssend", 34),
    ("Rsend", 35),
    ("Ibsend", 36),
    ("Issend", 37),
    ("Irsend", 38),
    ("Test", 39),
    ("Cancel", 40),
    ("Sendrecv", 41),
    ("Sendrecv_replace", 42),
    ("Cart_create", 43),
    ("Cart_sub", 49),
    ("Graph_create", 54),
    ("Waitany", 59),
    ("Waitsome", 60),
    ("Probe", 61),
    ("Iprobe", 62),
    ("Win_create", 63),
    ("Win_free", 64),
    ("Put", 65),
    ("Get", 66),
    ("Accumulate", 67),
    ("Win_fence", 68),
    ("Win_start", 69),
    ("Win_complete", 70),
    ("Win_post", 71),
    ("Win_wait", 72),
    ("Win_test", 73),
    ("Win_lock", 74),
    ("Win_unlock", 75),
    ("Reduce_scatter", 80),
    ("Intercomm_create", 96),
    ("Intercomm_merge", 97),
    ("Abort", 100),
    ("Bsend_init", 112),
    ("Buffer_detach", 114),
    ("Request_free", 115),
    ("Recv_init", 116),
    ("Send_init", 117),
    ("Rsend_init", 121),
    ("Ssend_init", 122),
    ("Start", 123),
    ("Startall", 124),
    ("Testall", 125),
    ("Testany", 126),
    ("Testsome", 128),
    ("File_open", 141),
    ("File_close", 142),
    ("File_read", 143),
    ("File_read_all", 144),
    ("File_write", 145),
    ("File_write_all", 146),
    ("File_read_at", 147),
    ("File_read_at_all", 148),
    ("File_write_at", 149),
    ("File_write_at_all", 150),
    ("Comm_spawn", 151),
    ("Comm_spawn_multiple", 152),
    ("Request_get_status", 153),
    ("Ireduce", 154),
    ("Iallreduce", 155),
    ("Ibarrier", 156),
    ("Ibcast", 157),
    ("Ialltoall", 158),
    ("Ialltoallv", 159),
    ("Iallgather", 160),
    ("Iallgatherv", 161),
    ("Igather", 162),
    ("Igatherv", 163),
    ("Iscatter", 164),
    ("Iscatterv", 165),
    ("Ireduce_scatter", 166),
    ("Iscan", 167),
    ("Reduce_scatter_block", 168),
    ("Ireduce_scatter_block", 169),
    ("Alltoallw", 170),
    ("Ialltoallw", 171),
    ("Get_accumulate", 172),
    ("Dist_graph_create", 173),
    ("Neighbor_allgather", 174),
    ("Ineighbor_allgather", 175),
    ("Neighbor_allgatherv", 176),
    ("Ineighbor_allgatherv", 177),
    ("Neighbor_alltoall", 178),
    ("Ineighbor_alltoall", 179),
    ("Neighbor_alltoallv", 180),
    ("Ineighbor_alltoallv", 181),
    ("Neighbor_alltoallw", 182),
    ("Ineighbor_alltoallw", 183),
    ("Fetch_and_op", 184),
    ("Compare_and_swap", 185),
    ("Win_flush", 186),
    ("Win_flush_all", 187),
    ("Win_flush_local", 188),
    ("Win_flush_local_all", 189),
    ("Mprobe", 190),
    ("Improbe", 191),
    ("Mrecv", 192),
    ("Imrecv", 193),
    ("Init_thread", 194),
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
            // What prepares or starts a persistent operation, or frees a request, transfers nothing by itself.
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

/// The values by name.
pub fn values() -> BTreeMap<&'static str, u32> {
    VALUES.iter().copied().collect()
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
        let values = values();
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
        assert!(VALUES.iter().all(|(name, _)| names.contains(name)), "there are such functions");
    }
}
