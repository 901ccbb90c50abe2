//! The table of operations and activities. The numbers are in every log: append, never renumber.

/// What a rank's time is spent on (METRICS.md: the eight activities).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Activity {
    /// All time outside MPI.
    Computation = 0,
    /// Sends, receives, probes, and the waits and tests on their requests.
    PointToPoint = 1,
    /// Collectives other than barriers, and their waits.
    Collective = 2,
    /// Barriers and their waits.
    Synchronization = 3,
    /// One-sided communication.
    OneSided = 4,
    /// File input and output through MPI.
    Io = 5,
    /// Communicator, datatype, group and topology calls that communicate.
    Management = 6,
    /// The recorder's own flushes.
    Recorder = 7,
}

impl Activity {
    /// How many there are.
    pub const COUNT: usize = 8;

    /// All of them, each at the index of its number.
    pub const ALL: [Activity; Self::COUNT] = [
        Activity::Computation,
        Activity::PointToPoint,
        Activity::Collective,
        Activity::Synchronization,
        Activity::OneSided,
        Activity::Io,
        Activity::Management,
        Activity::Recorder,
    ];

    /// The name in reports and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Activity::Computation => "computation",
            Activity::PointToPoint => "point-to-point",
            Activity::Collective => "collective",
            Activity::Synchronization => "synchronization",
            Activity::OneSided => "one-sided",
            Activity::Io => "io",
            Activity::Management => "management",
            Activity::Recorder => "recorder",
        }
    }
}

macro_rules! operations {
    (calls { $($call:ident = $number:literal, $activity:ident $(, $polls:ident)?;)* } markers { $($(#[$doc:meta])* $marker:ident = $marker_number:literal, $marker_activity:ident;)* }) => {
        /// What a record records: an MPI function (its name without `MPI_` and without the `_c` of large counts), or a marker.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u16)]
        #[expect(missing_docs, non_camel_case_types, reason = "the MPI functions are named and described by the MPI standard")]
        pub enum Operation { $($call = $number,)* $($(#[$doc])* $marker = $marker_number,)* }

        impl Operation {
            /// All of them, in the order of the table.
            pub const ALL: &[Operation] = &[$(Operation::$call,)* $(Operation::$marker,)*];

            /// The operation of a number in a log, or `None` for one that this version does not know.
            #[inline]
            pub fn from_number(number: u16) -> Option<Operation> {
                static BY_NUMBER: [Option<Operation>; Operation::NUMBERS] = {
                    let mut all = [None; Operation::NUMBERS];
                    $(all[$number] = Some(Operation::$call);)*
                    $(all[$marker_number] = Some(Operation::$marker);)*
                    all
                };
                BY_NUMBER.get(usize::from(number)).copied().flatten()
            }

            /// The name: an MPI function's without `MPI_`, or the marker's.
            pub fn name(self) -> &'static str {
                match self { $(Operation::$call => stringify!($call),)* $(Operation::$marker => stringify!($marker),)* }
            }

            /// The activity to which a call's time belongs; completions take that of the request completed.
            pub const fn activity(self) -> Activity {
                match self { $(Operation::$call => Activity::$activity,)* $(Operation::$marker => Activity::$marker_activity,)* }
            }

            /// Whether a number is that of a call that asks without waiting, so that a program which waits by asking makes it again
            /// and again: the rows of the table that say `polls`.
            #[inline]
            pub const fn polls(number: u16) -> bool {
                static POLLS: [bool; Operation::NUMBERS] = {
                    let mut all = [false; Operation::NUMBERS];
                    $($(all[$number] = stringify!($polls).len() > 0;)?)*
                    all
                };
                (number as usize) < POLLS.len() && POLLS[number as usize]
            }
        }
    };
}

// Number, activity, and `polls` where the call returns by a flag or a count whether what it asks about has happened, without waiting for it.
operations! {
    calls {
        // The start and the end.
        Init = 1, Management;
        Init_thread = 2, Management;
        Finalize = 3, Management;
        Abort = 4, Management;
        Session_init = 5, Management;
        Session_finalize = 6, Management;

        // Point-to-point: blocking, then nonblocking.
        Send = 10, PointToPoint;
        Recv = 11, PointToPoint;
        Bsend = 12, PointToPoint;
        Rsend = 13, PointToPoint;
        Ssend = 14, PointToPoint;
        Sendrecv = 15, PointToPoint;
        Sendrecv_replace = 16, PointToPoint;
        Probe = 17, PointToPoint;
        Iprobe = 18, PointToPoint, polls;
        Mprobe = 19, PointToPoint;
        Improbe = 20, PointToPoint, polls;
        Mrecv = 21, PointToPoint;
        Isend = 30, PointToPoint;
        Ibsend = 31, PointToPoint;
        Irsend = 32, PointToPoint;
        Issend = 33, PointToPoint;
        Irecv = 34, PointToPoint;
        Imrecv = 35, PointToPoint;
        Isendrecv = 36, PointToPoint;
        Isendrecv_replace = 37, PointToPoint;

        // Buffers of buffered sends: the calls that wait for the messages in them.
        Buffer_detach = 45, PointToPoint;
        Buffer_flush = 46, PointToPoint;
        Buffer_iflush = 47, PointToPoint;
        Comm_detach_buffer = 48, PointToPoint;
        Comm_flush_buffer = 49, PointToPoint;
        Comm_iflush_buffer = 50, PointToPoint;
        Session_detach_buffer = 51, PointToPoint;
        Session_flush_buffer = 52, PointToPoint;
        Session_iflush_buffer = 53, PointToPoint;

        // Requests: completing, looking at, freeing and starting them.
        Wait = 60, PointToPoint;
        Test = 61, PointToPoint, polls;
        Waitall = 62, PointToPoint;
        Testall = 63, PointToPoint, polls;
        Waitany = 64, PointToPoint;
        Testany = 65, PointToPoint, polls;
        Waitsome = 66, PointToPoint;
        Testsome = 67, PointToPoint, polls;
        Request_get_status = 68, PointToPoint, polls;
        Request_get_status_all = 69, PointToPoint, polls;
        Request_get_status_any = 70, PointToPoint, polls;
        Request_get_status_some = 71, PointToPoint, polls;
        Request_free = 72, PointToPoint;
        Cancel = 73, PointToPoint;
        Start = 74, PointToPoint;
        Startall = 75, PointToPoint;
        Pready = 76, PointToPoint;
        Pready_range = 77, PointToPoint;
        Pready_list = 78, PointToPoint;
        Parrived = 79, PointToPoint, polls;
        Grequest_start = 80, PointToPoint;

        // Collectives.
        Barrier = 100, Synchronization;
        Bcast = 101, Collective;
        Gather = 102, Collective;
        Gatherv = 103, Collective;
        Scatter = 104, Collective;
        Scatterv = 105, Collective;
        Allgather = 106, Collective;
        Allgatherv = 107, Collective;
        Alltoall = 108, Collective;
        Alltoallv = 109, Collective;
        Alltoallw = 110, Collective;
        Reduce = 111, Collective;
        Allreduce = 112, Collective;
        Reduce_scatter = 113, Collective;
        Reduce_scatter_block = 114, Collective;
        Scan = 115, Collective;
        Exscan = 116, Collective;

        // Nonblocking collectives.
        Ibarrier = 150, Synchronization;
        Ibcast = 151, Collective;
        Igather = 152, Collective;
        Igatherv = 153, Collective;
        Iscatter = 154, Collective;
        Iscatterv = 155, Collective;
        Iallgather = 156, Collective;
        Iallgatherv = 157, Collective;
        Ialltoall = 158, Collective;
        Ialltoallv = 159, Collective;
        Ialltoallw = 160, Collective;
        Ireduce = 161, Collective;
        Iallreduce = 162, Collective;
        Ireduce_scatter = 163, Collective;
        Ireduce_scatter_block = 164, Collective;
        Iscan = 165, Collective;
        Iexscan = 166, Collective;

        // Persistent and partitioned point-to-point: preparing.
        Send_init = 200, PointToPoint;
        Bsend_init = 201, PointToPoint;
        Rsend_init = 202, PointToPoint;
        Ssend_init = 203, PointToPoint;
        Recv_init = 204, PointToPoint;
        Psend_init = 205, PointToPoint;
        Precv_init = 206, PointToPoint;

        // Persistent collectives: preparing.
        Barrier_init = 220, Synchronization;
        Bcast_init = 221, Collective;
        Gather_init = 222, Collective;
        Gatherv_init = 223, Collective;
        Scatter_init = 224, Collective;
        Scatterv_init = 225, Collective;
        Allgather_init = 226, Collective;
        Allgatherv_init = 227, Collective;
        Alltoall_init = 228, Collective;
        Alltoallv_init = 229, Collective;
        Alltoallw_init = 230, Collective;
        Reduce_init = 231, Collective;
        Allreduce_init = 232, Collective;
        Reduce_scatter_init = 233, Collective;
        Reduce_scatter_block_init = 234, Collective;
        Scan_init = 235, Collective;
        Exscan_init = 236, Collective;

        // Neighbourhood collectives: blocking.
        Neighbor_allgather = 300, Collective;
        Neighbor_allgatherv = 301, Collective;
        Neighbor_alltoall = 302, Collective;
        Neighbor_alltoallv = 303, Collective;
        Neighbor_alltoallw = 304, Collective;

        // Neighbourhood collectives: nonblocking.
        Ineighbor_allgather = 310, Collective;
        Ineighbor_allgatherv = 311, Collective;
        Ineighbor_alltoall = 312, Collective;
        Ineighbor_alltoallv = 313, Collective;
        Ineighbor_alltoallw = 314, Collective;

        // Neighbourhood collectives: preparing.
        Neighbor_allgather_init = 320, Collective;
        Neighbor_allgatherv_init = 321, Collective;
        Neighbor_alltoall_init = 322, Collective;
        Neighbor_alltoallv_init = 323, Collective;
        Neighbor_alltoallw_init = 324, Collective;

        // One-sided: data.
        Put = 400, OneSided;
        Get = 401, OneSided;
        Accumulate = 402, OneSided;
        Get_accumulate = 403, OneSided;
        Fetch_and_op = 404, OneSided;
        Compare_and_swap = 405, OneSided;
        Rput = 406, OneSided;
        Rget = 407, OneSided;
        Raccumulate = 408, OneSided;
        Rget_accumulate = 409, OneSided;

        // One-sided: synchronization.
        Win_fence = 420, OneSided;
        Win_post = 421, OneSided;
        Win_start = 422, OneSided;
        Win_complete = 423, OneSided;
        Win_wait = 424, OneSided;
        Win_test = 425, OneSided, polls;
        Win_lock = 426, OneSided;
        Win_unlock = 427, OneSided;
        Win_lock_all = 428, OneSided;
        Win_unlock_all = 429, OneSided;
        Win_flush = 430, OneSided;
        Win_flush_local = 431, OneSided;
        Win_flush_all = 432, OneSided;
        Win_flush_local_all = 433, OneSided;
        Win_sync = 434, OneSided;

        // One-sided: windows.
        Win_create = 440, OneSided;
        Win_allocate = 441, OneSided;
        Win_allocate_shared = 442, OneSided;
        Win_create_dynamic = 443, OneSided;
        Win_free = 444, OneSided;
        Win_set_info = 445, OneSided;

        // Files: opening, closing, and what else can block.
        File_open = 500, Io;
        File_close = 501, Io;
        File_delete = 502, Io;
        File_sync = 503, Io;
        File_set_size = 504, Io;
        File_get_size = 505, Io;
        File_preallocate = 506, Io;
        File_set_view = 507, Io;
        File_set_atomicity = 508, Io;
        File_set_info = 509, Io;
        File_seek = 510, Io;
        File_seek_shared = 511, Io;
        File_get_position_shared = 512, Io;

        // Files: reading.
        File_read = 520, Io;
        File_read_all = 521, Io;
        File_read_at = 522, Io;
        File_read_at_all = 523, Io;
        File_read_shared = 524, Io;
        File_read_ordered = 525, Io;

        // Files: writing.
        File_write = 530, Io;
        File_write_all = 531, Io;
        File_write_at = 532, Io;
        File_write_at_all = 533, Io;
        File_write_shared = 534, Io;
        File_write_ordered = 535, Io;

        // Files: nonblocking.
        File_iread = 540, Io;
        File_iread_all = 541, Io;
        File_iread_at = 542, Io;
        File_iread_at_all = 543, Io;
        File_iread_shared = 544, Io;
        File_iwrite = 545, Io;
        File_iwrite_all = 546, Io;
        File_iwrite_at = 547, Io;
        File_iwrite_at_all = 548, Io;
        File_iwrite_shared = 549, Io;

        // Files: split collectives.
        File_read_all_begin = 560, Io;
        File_read_all_end = 561, Io;
        File_read_at_all_begin = 562, Io;
        File_read_at_all_end = 563, Io;
        File_read_ordered_begin = 564, Io;
        File_read_ordered_end = 565, Io;
        File_write_all_begin = 566, Io;
        File_write_all_end = 567, Io;
        File_write_at_all_begin = 568, Io;
        File_write_at_all_end = 569, Io;
        File_write_ordered_begin = 570, Io;
        File_write_ordered_end = 571, Io;

        // Communicators.
        Comm_create = 700, Management;
        Comm_create_group = 701, Management;
        Comm_create_from_group = 702, Management;
        Comm_dup = 703, Management;
        Comm_dup_with_info = 704, Management;
        Comm_idup = 705, Management;
        Comm_idup_with_info = 706, Management;
        Comm_split = 707, Management;
        Comm_split_type = 708, Management;
        Intercomm_create = 709, Management;
        Intercomm_create_from_groups = 710, Management;
        Intercomm_merge = 711, Management;
        Comm_free = 712, Management;
        Comm_disconnect = 713, Management;
        Comm_set_info = 714, Management;

        // Topologies.
        Cart_create = 720, Management;
        Cart_sub = 721, Management;
        Graph_create = 722, Management;
        Dist_graph_create = 723, Management;
        Dist_graph_create_adjacent = 724, Management;

        // Other programs: ports and names.
        Comm_accept = 740, Management;
        Comm_connect = 741, Management;
        Comm_join = 742, Management;
        Open_port = 743, Management;
        Close_port = 744, Management;
        Publish_name = 745, Management;
        Unpublish_name = 746, Management;
        Lookup_name = 747, Management;
        Comm_spawn = 750, Management;
        Comm_spawn_multiple = 751, Management;
    }
    markers {
        /// A region begins.
        RegionEnter = 1000, Computation;
        /// A region ends.
        RegionLeave = 1001, Computation;
        /// Work done in a region: operations and quanta.
        Work = 1002, Computation;
        /// A user's counter.
        Counter = 1003, Computation;
        /// Memory of the process: resident, swapped.
        Memory = 1004, Computation;
        /// A full ring was encoded and written: the recorder's own time.
        Flush = 1005, Recorder;
        /// Recording was stopped by the program; the time until [`Operation::Resume`] belongs to no activity.
        Pause = 1006, Computation;
        /// Recording was resumed.
        Resume = 1007, Computation;
        /// Part of the call before it: one of the requests that it completed.
        Completed = 1008, PointToPoint;
        /// Part of the call before it: the receiving half of a combined send and receive.
        Received = 1009, PointToPoint;
        /// The program ended without MPI_Finalize; time up to here counts.
        ProgramEnd = 1010, Computation;
        /// Part of the MPI_Startall before it: one of the requests that it started.
        Started = 1011, PointToPoint;
    }
}

impl Operation {
    /// Numbers from here on are markers and parts of calls, not calls.
    pub const FIRST_MARKER: u16 = 1000;

    /// All numbers are below.
    pub const NUMBERS: usize = 1024;

    /// Whether a number is that of a part of the call before it: no call of its own, without time of its own.
    pub const fn is_part(number: u16) -> bool {
        number == Operation::Completed as u16
            || number == Operation::Received as u16
            || number == Operation::Started as u16
    }

    /// Whether a number is that of a call or part that completes requests, or of the end of a split transfer to a file: what they
    /// send was counted when they started.
    pub const fn completes(number: u16) -> bool {
        (Operation::Wait as u16 <= number && number <= Operation::Request_get_status_some as u16)
            || number == Operation::File_read_all_end as u16
            || number == Operation::File_read_at_all_end as u16
            || number == Operation::File_read_ordered_end as u16
            || number == Operation::File_write_all_end as u16
            || number == Operation::File_write_at_all_end as u16
            || number == Operation::File_write_ordered_end as u16
            || number == Operation::Completed as u16
    }

    /// Whether a number is that of a call that prepares a persistent or partitioned operation, which transfers nothing.
    pub const fn prepares(number: u16) -> bool {
        (Operation::Send_init as u16 <= number && number <= Operation::Exscan_init as u16)
            || (Operation::Neighbor_allgather_init as u16 <= number
                && number <= Operation::Neighbor_alltoallw_init as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_numbers_hold_the_operations_that_they_mean() {
        for &operation in Operation::ALL {
            let name = operation.name();
            let completes = ["Wait", "Test", "Request_get_status", "Completed"];
            let completes = completes.iter().any(|start| name.starts_with(start))
                || name.starts_with("File_") && name.ends_with("_end");
            assert_eq!(Operation::completes(operation as u16), completes, "{name}");
            let prepares = name.ends_with("_init") && name != "Session_init";
            assert_eq!(Operation::prepares(operation as u16), prepares, "{name}");
        }
    }

    #[test]
    fn calls_that_ask_without_waiting_are_polls() {
        // All calls of MPI-4.1 that say by a flag, or by how many requests were complete, whether something has happened.
        let asks = |name: &str| {
            ["Test", "Testall", "Testany", "Testsome", "Iprobe", "Improbe", "Parrived", "Win_test"].contains(&name)
                || name.starts_with("Request_get_status")
        };
        for number in 0..=u16::MAX {
            let name = Operation::from_number(number).map_or("", Operation::name);
            assert_eq!(Operation::polls(number), asks(name), "{number} {name}");
        }
        assert_eq!(Operation::ALL.iter().filter(|&&one| Operation::polls(one as u16)).count(), 12);
    }
}
