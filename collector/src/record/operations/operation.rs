//! The table of operations. The numbers are in every log: append, never renumber.
//!
//! A row states all columns, so none can be forgotten: what they mean is in [`crate::semantics`].

// The arguments in the table's cells.
use crate::semantics::{CollectiveScope::*, CommunicationPattern::*, EpochStep::*, SendMode::*};
use crate::semantics::{CompletionEffect, OperationSemantics, SynchronisesWith};
use crate::states::Activity;

/// A cell of the table as a value; a dash stands for the column's nothing.
macro_rules! cell {
    (OperationSemantics, -) => {
        OperationSemantics::Nothing
    };
    (OperationSemantics, $does:ident $(($($of:ident),*))?) => {
        OperationSemantics::$does $(($($of),*))?
    };
    (SynchronisesWith, -) => {
        SynchronisesWith::Nobody
    };
    (SynchronisesWith, $whom:ident) => {
        SynchronisesWith::$whom
    };
    (CompletionEffect, -) => {
        CompletionEffect::Nothing
    };
    (CompletionEffect, $what:ident) => {
        CompletionEffect::$what
    };
    (polls, -) => {
        false
    };
    (polls, polls) => {
        true
    };
}

macro_rules! operations {
    ($(
        $(#[$doc:meta])* $name:ident = $number:literal,
        $activity:ident, $semantics:tt $(($($of:ident),*))?, $synchronises:tt, $completes:tt, $polls:tt;
    )*) => {
        /// The operation of a record: an MPI function (its name without `MPI_` and without the `_c` of large counts), or a marker.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u16)]
        #[expect(missing_docs, non_camel_case_types, reason = "the MPI functions are named and described by the MPI standard")]
        pub enum Operation { $($(#[$doc])* $name = $number,)* }

        impl Operation {
            /// The operations, in the order of the table.
            pub const ALL: &[Operation] = &[$(Operation::$name,)*];

            /// Returns the operation of a number in a log, or `None` for one that this version does not know.
            #[inline]
            pub fn from_number(number: u16) -> Option<Operation> {
                static BY_NUMBER: [Option<Operation>; Operation::NUMBERS] = {
                    let mut all = [None; Operation::NUMBERS];
                    $(all[$number] = Some(Operation::$name);)*
                    all
                };
                BY_NUMBER.get(usize::from(number)).copied().flatten()
            }

            /// Returns the name: of an MPI function without `MPI_`, or of a marker.
            pub fn name(self) -> &'static str {
                match self { $(Operation::$name => stringify!($name),)* }
            }

            /// Returns the activity to which a call's time belongs. A completion has the activity of the completed request.
            #[inline]
            pub const fn activity(self) -> Activity {
                match self { $(Operation::$name => Activity::$activity,)* }
            }
        }

        /// The columns by number; of a number that no operation has, all is a dash.
        static COLUMNS: OperationColumns = {
            let mut columns = OperationColumns {
                semantics: [cell!(OperationSemantics, -); Operation::NUMBERS],
                synchronises: [cell!(SynchronisesWith, -); Operation::NUMBERS],
                completes: [cell!(CompletionEffect, -); Operation::NUMBERS],
                polls: [cell!(polls, -); Operation::NUMBERS],
            };
            $(
                columns.semantics[$number] = cell!(OperationSemantics, $semantics $(($($of),*))?);
                columns.synchronises[$number] = cell!(SynchronisesWith, $synchronises);
                columns.completes[$number] = cell!(CompletionEffect, $completes);
                columns.polls[$number] = cell!(polls, $polls);
            )*
            columns
        };
    };
}

// Each operation with all that MPI says of it, columns as in `semantics.rs`; a dash: nothing. `polls`: the call reports by a flag or a
// count whether what it asks about has happened, without waiting for it.
operations! {
    // name = number                     activity         stage, pattern, mode or object         synchronises
    //                                                                                                     completes  polls

    // The start and the end.
    Init = 1,                            Management,      -,                                     -,        -,         -;
    Init_thread = 2,                     Management,      -,                                     -,        -,         -;
    Finalize = 3,                        Management,      -,                                     -,        -,         -;
    Abort = 4,                           Management,      -,                                     -,        -,         -;
    Session_init = 5,                    Management,      -,                                     -,        -,         -;
    Session_finalize = 6,                Management,      -,                                     -,        -,         -;

    // Point-to-point: blocking, then nonblocking.
    Send = 10,                           PointToPoint,    Send(Standard),                        -,        -,         -;
    Recv = 11,                           PointToPoint,    Recv,                                  -,        -,         -;
    Bsend = 12,                          PointToPoint,    Send(Buffered),                        -,        -,         -;
    Rsend = 13,                          PointToPoint,    Send(Standard),                        -,        -,         -;
    Ssend = 14,                          PointToPoint,    Send(Synchronous),                     -,        -,         -;
    Sendrecv = 15,                       PointToPoint,    Exchange,                              -,        -,         -;
    Sendrecv_replace = 16,               PointToPoint,    Exchange,                              -,        -,         -;
    Probe = 17,                          PointToPoint,    Probe,                                 -,        -,         -;
    Iprobe = 18,                         PointToPoint,    AskForMessage,                         -,        -,         polls;
    Mprobe = 19,                         PointToPoint,    Probe,                                 -,        -,         -;
    Improbe = 20,                        PointToPoint,    AskForMessage,                         -,        -,         polls;
    Mrecv = 21,                          PointToPoint,    Recv,                                  -,        -,         -;
    Isend = 30,                          PointToPoint,    StartSend(Standard),                   -,        -,         -;
    Ibsend = 31,                         PointToPoint,    StartSend(Buffered),                   -,        -,         -;
    Irsend = 32,                         PointToPoint,    StartSend(Standard),                   -,        -,         -;
    Issend = 33,                         PointToPoint,    StartSend(Synchronous),                -,        -,         -;
    Irecv = 34,                          PointToPoint,    StartRecv,                             -,        -,         -;
    Imrecv = 35,                         PointToPoint,    StartRecv,                             -,        -,         -;
    Isendrecv = 36,                      PointToPoint,    StartExchange,                         -,        -,         -;
    Isendrecv_replace = 37,              PointToPoint,    StartExchange,                         -,        -,         -;

    // Buffers of buffered sends: the calls that wait for the messages in them.
    Buffer_detach = 45,                  PointToPoint,    -,                                     -,        -,         -;
    Buffer_flush = 46,                   PointToPoint,    -,                                     -,        -,         -;
    Buffer_iflush = 47,                  PointToPoint,    -,                                     -,        -,         -;
    Comm_detach_buffer = 48,             PointToPoint,    -,                                     -,        -,         -;
    Comm_flush_buffer = 49,              PointToPoint,    -,                                     -,        -,         -;
    Comm_iflush_buffer = 50,             PointToPoint,    -,                                     -,        -,         -;
    Session_detach_buffer = 51,          PointToPoint,    -,                                     -,        -,         -;
    Session_flush_buffer = 52,           PointToPoint,    -,                                     -,        -,         -;
    Session_iflush_buffer = 53,          PointToPoint,    -,                                     -,        -,         -;

    // Requests: completing, looking at, freeing and starting them.
    Wait = 60,                           PointToPoint,    Wait,                                  -,        Request,   -;
    Test = 61,                           PointToPoint,    Test,                                  -,        Request,   polls;
    Waitall = 62,                        PointToPoint,    Wait,                                  -,        All,       -;
    Testall = 63,                        PointToPoint,    Test,                                  -,        All,       polls;
    Waitany = 64,                        PointToPoint,    Wait,                                  -,        Request,   -;
    Testany = 65,                        PointToPoint,    Test,                                  -,        Request,   polls;
    Waitsome = 66,                       PointToPoint,    Wait,                                  -,        Some,      -;
    Testsome = 67,                       PointToPoint,    Test,                                  -,        Some,      polls;
    Request_get_status = 68,             PointToPoint,    AskForRequest,                         -,        Status,    polls;
    Request_get_status_all = 69,         PointToPoint,    AskForRequest,                         -,        Status,    polls;
    Request_get_status_any = 70,         PointToPoint,    AskForRequest,                         -,        Status,    polls;
    Request_get_status_some = 71,        PointToPoint,    AskForRequest,                         -,        Status,    polls;
    Request_free = 72,                   PointToPoint,    -,                                     -,        -,         -;
    Cancel = 73,                         PointToPoint,    -,                                     -,        -,         -;
    Start = 74,                          PointToPoint,    Start,                                 -,        -,         -;
    Startall = 75,                       PointToPoint,    StartAll,                              -,        -,         -;
    Pready = 76,                         PointToPoint,    Ready,                                 -,        -,         -;
    Pready_range = 77,                   PointToPoint,    Ready,                                 -,        -,         -;
    Pready_list = 78,                    PointToPoint,    Ready,                                 -,        -,         -;
    Parrived = 79,                       PointToPoint,    AskForRequest,                         -,        -,         polls;
    Grequest_start = 80,                 PointToPoint,    -,                                     -,        -,         -;

    // Collectives.
    Barrier = 100,                       Synchronization, Collective(AllToAll, Communicator),    Members,  -,         -;
    Bcast = 101,                         Collective,      Collective(OneToAll, Communicator),    -,        -,         -;
    Gather = 102,                        Collective,      Collective(AllToOne, Communicator),    -,        -,         -;
    Gatherv = 103,                       Collective,      Collective(AllToOne, Communicator),    -,        -,         -;
    Scatter = 104,                       Collective,      Collective(OneToAll, Communicator),    -,        -,         -;
    Scatterv = 105,                      Collective,      Collective(OneToAll, Communicator),    -,        -,         -;
    Allgather = 106,                     Collective,      Collective(AllToAll, Communicator),    -,        -,         -;
    Allgatherv = 107,                    Collective,      Collective(AllToAll, Communicator),    -,        -,         -;
    Alltoall = 108,                      Collective,      Collective(AllToAll, Communicator),    -,        -,         -;
    Alltoallv = 109,                     Collective,      Collective(AllToAll, Communicator),    -,        -,         -;
    Alltoallw = 110,                     Collective,      Collective(AllToAll, Communicator),    -,        -,         -;
    Reduce = 111,                        Collective,      Collective(AllToOne, Communicator),    -,        -,         -;
    Allreduce = 112,                     Collective,      Collective(AllToAll, Communicator),    Members,  -,         -;
    Reduce_scatter = 113,                Collective,      Collective(AllToAll, Communicator),    -,        -,         -;
    Reduce_scatter_block = 114,          Collective,      Collective(AllToAll, Communicator),    -,        -,         -;
    Scan = 115,                          Collective,      Collective(Prefix, Communicator),      -,        -,         -;
    Exscan = 116,                        Collective,      Collective(Prefix, Communicator),      -,        -,         -;

    // Nonblocking collectives.
    Ibarrier = 150,                      Synchronization, StartCollective(AllToAll),             Members,  -,         -;
    Ibcast = 151,                        Collective,      StartCollective(OneToAll),             -,        -,         -;
    Igather = 152,                       Collective,      StartCollective(AllToOne),             -,        -,         -;
    Igatherv = 153,                      Collective,      StartCollective(AllToOne),             -,        -,         -;
    Iscatter = 154,                      Collective,      StartCollective(OneToAll),             -,        -,         -;
    Iscatterv = 155,                     Collective,      StartCollective(OneToAll),             -,        -,         -;
    Iallgather = 156,                    Collective,      StartCollective(AllToAll),             -,        -,         -;
    Iallgatherv = 157,                   Collective,      StartCollective(AllToAll),             -,        -,         -;
    Ialltoall = 158,                     Collective,      StartCollective(AllToAll),             -,        -,         -;
    Ialltoallv = 159,                    Collective,      StartCollective(AllToAll),             -,        -,         -;
    Ialltoallw = 160,                    Collective,      StartCollective(AllToAll),             -,        -,         -;
    Ireduce = 161,                       Collective,      StartCollective(AllToOne),             -,        -,         -;
    Iallreduce = 162,                    Collective,      StartCollective(AllToAll),             Members,  -,         -;
    Ireduce_scatter = 163,               Collective,      StartCollective(AllToAll),             -,        -,         -;
    Ireduce_scatter_block = 164,         Collective,      StartCollective(AllToAll),             -,        -,         -;
    Iscan = 165,                         Collective,      StartCollective(Prefix),               -,        -,         -;
    Iexscan = 166,                       Collective,      StartCollective(Prefix),               -,        -,         -;

    // Persistent and partitioned point-to-point: preparing.
    Send_init = 200,                     PointToPoint,    PrepareSend(Standard),                 -,        -,         -;
    Bsend_init = 201,                    PointToPoint,    PrepareSend(Buffered),                 -,        -,         -;
    Rsend_init = 202,                    PointToPoint,    PrepareSend(Standard),                 -,        -,         -;
    Ssend_init = 203,                    PointToPoint,    PrepareSend(Synchronous),              -,        -,         -;
    Recv_init = 204,                     PointToPoint,    PrepareRecv,                           -,        -,         -;
    Psend_init = 205,                    PointToPoint,    PrepareSend(Standard),                 -,        -,         -;
    Precv_init = 206,                    PointToPoint,    PrepareRecv,                           -,        -,         -;

    // Persistent collectives: preparing.
    Barrier_init = 220,                  Synchronization, PrepareCollective(AllToAll),           Members,  -,         -;
    Bcast_init = 221,                    Collective,      PrepareCollective(OneToAll),           -,        -,         -;
    Gather_init = 222,                   Collective,      PrepareCollective(AllToOne),           -,        -,         -;
    Gatherv_init = 223,                  Collective,      PrepareCollective(AllToOne),           -,        -,         -;
    Scatter_init = 224,                  Collective,      PrepareCollective(OneToAll),           -,        -,         -;
    Scatterv_init = 225,                 Collective,      PrepareCollective(OneToAll),           -,        -,         -;
    Allgather_init = 226,                Collective,      PrepareCollective(AllToAll),           -,        -,         -;
    Allgatherv_init = 227,               Collective,      PrepareCollective(AllToAll),           -,        -,         -;
    Alltoall_init = 228,                 Collective,      PrepareCollective(AllToAll),           -,        -,         -;
    Alltoallv_init = 229,                Collective,      PrepareCollective(AllToAll),           -,        -,         -;
    Alltoallw_init = 230,                Collective,      PrepareCollective(AllToAll),           -,        -,         -;
    Reduce_init = 231,                   Collective,      PrepareCollective(AllToOne),           -,        -,         -;
    Allreduce_init = 232,                Collective,      PrepareCollective(AllToAll),           Members,  -,         -;
    Reduce_scatter_init = 233,           Collective,      PrepareCollective(AllToAll),           -,        -,         -;
    Reduce_scatter_block_init = 234,     Collective,      PrepareCollective(AllToAll),           -,        -,         -;
    Scan_init = 235,                     Collective,      PrepareCollective(Prefix),             -,        -,         -;
    Exscan_init = 236,                   Collective,      PrepareCollective(Prefix),             -,        -,         -;

    // Neighbourhood collectives: blocking.
    Neighbor_allgather = 300,            Collective,      Collective(Neighbours, Communicator),  Sources,  -,         -;
    Neighbor_allgatherv = 301,           Collective,      Collective(Neighbours, Communicator),  -,        -,         -;
    Neighbor_alltoall = 302,             Collective,      Collective(Neighbours, Communicator),  Sources,  -,         -;
    Neighbor_alltoallv = 303,            Collective,      Collective(Neighbours, Communicator),  -,        -,         -;
    Neighbor_alltoallw = 304,            Collective,      Collective(Neighbours, Communicator),  -,        -,         -;

    // Neighbourhood collectives: nonblocking.
    Ineighbor_allgather = 310,           Collective,      StartCollective(Neighbours),           Sources,  -,         -;
    Ineighbor_allgatherv = 311,          Collective,      StartCollective(Neighbours),           -,        -,         -;
    Ineighbor_alltoall = 312,            Collective,      StartCollective(Neighbours),           Sources,  -,         -;
    Ineighbor_alltoallv = 313,           Collective,      StartCollective(Neighbours),           -,        -,         -;
    Ineighbor_alltoallw = 314,           Collective,      StartCollective(Neighbours),           -,        -,         -;

    // Neighbourhood collectives: preparing.
    Neighbor_allgather_init = 320,       Collective,      PrepareCollective(Neighbours),         -,        -,         -;
    Neighbor_allgatherv_init = 321,      Collective,      PrepareCollective(Neighbours),         -,        -,         -;
    Neighbor_alltoall_init = 322,        Collective,      PrepareCollective(Neighbours),         -,        -,         -;
    Neighbor_alltoallv_init = 323,       Collective,      PrepareCollective(Neighbours),         -,        -,         -;
    Neighbor_alltoallw_init = 324,       Collective,      PrepareCollective(Neighbours),         -,        -,         -;

    // One-sided: data.
    Put = 400,                           OneSided,        -,                                     -,        -,         -;
    Get = 401,                           OneSided,        -,                                     -,        -,         -;
    Accumulate = 402,                    OneSided,        -,                                     -,        -,         -;
    Get_accumulate = 403,                OneSided,        Fetch,                                 -,        -,         -;
    Fetch_and_op = 404,                  OneSided,        Fetch,                                 -,        -,         -;
    Compare_and_swap = 405,              OneSided,        Fetch,                                 -,        -,         -;
    Rput = 406,                          OneSided,        StartAccess,                           -,        -,         -;
    Rget = 407,                          OneSided,        StartAccess,                           -,        -,         -;
    Raccumulate = 408,                   OneSided,        StartAccess,                           -,        -,         -;
    Rget_accumulate = 409,               OneSided,        StartAccess,                           -,        -,         -;

    // One-sided: synchronization.
    Win_fence = 420,                     OneSided,        Collective(AllToAll, Window),          -,        -,         -;
    Win_post = 421,                      OneSided,        Epoch(Post),                           -,        -,         -;
    Win_start = 422,                     OneSided,        Epoch(Start),                          -,        -,         -;
    Win_complete = 423,                  OneSided,        Epoch(Complete),                       -,        -,         -;
    Win_wait = 424,                      OneSided,        Epoch(Wait),                           -,        -,         -;
    Win_test = 425,                      OneSided,        Epoch(Test),                           -,        -,         polls;
    Win_lock = 426,                      OneSided,        Lock,                                  -,        -,         -;
    Win_unlock = 427,                    OneSided,        Unlock,                                -,        -,         -;
    Win_lock_all = 428,                  OneSided,        Lock,                                  -,        -,         -;
    Win_unlock_all = 429,                OneSided,        Unlock,                                -,        -,         -;
    Win_flush = 430,                     OneSided,        Flush,                                 -,        -,         -;
    Win_flush_local = 431,               OneSided,        Flush,                                 -,        -,         -;
    Win_flush_all = 432,                 OneSided,        Flush,                                 -,        -,         -;
    Win_flush_local_all = 433,           OneSided,        Flush,                                 -,        -,         -;
    Win_sync = 434,                      OneSided,        -,                                     -,        -,         -;

    // One-sided: windows.
    Win_create = 440,                    OneSided,        Collective(AllToAll, Communicator),    -,        -,         -;
    Win_allocate = 441,                  OneSided,        Collective(AllToAll, Communicator),    -,        -,         -;
    Win_allocate_shared = 442,           OneSided,        Collective(AllToAll, Communicator),    -,        -,         -;
    Win_create_dynamic = 443,            OneSided,        Collective(AllToAll, Communicator),    -,        -,         -;
    Win_free = 444,                      OneSided,        Collective(AllToAll, Window),          -,        -,         -;
    Win_set_info = 445,                  OneSided,        -,                                     -,        -,         -;

    // Files: opening, closing, and what else can block.
    File_open = 500,                     Io,              -,                                     -,        -,         -;
    File_close = 501,                    Io,              Collective(AllToAll, File),            -,        -,         -;
    File_delete = 502,                   Io,              -,                                     -,        -,         -;
    File_sync = 503,                     Io,              Collective(AllToAll, File),            -,        -,         -;
    File_set_size = 504,                 Io,              Collective(AllToAll, File),            -,        -,         -;
    File_get_size = 505,                 Io,              -,                                     -,        -,         -;
    File_preallocate = 506,              Io,              Collective(AllToAll, File),            -,        -,         -;
    File_set_view = 507,                 Io,              Collective(AllToAll, File),            -,        -,         -;
    File_set_atomicity = 508,            Io,              -,                                     -,        -,         -;
    File_set_info = 509,                 Io,              -,                                     -,        -,         -;
    File_seek = 510,                     Io,              -,                                     -,        -,         -;
    File_seek_shared = 511,              Io,              -,                                     -,        -,         -;
    File_get_position_shared = 512,      Io,              -,                                     -,        -,         -;

    // Files: reading.
    File_read = 520,                     Io,              -,                                     -,        -,         -;
    File_read_all = 521,                 Io,              Collective(AllToAll, File),            -,        -,         -;
    File_read_at = 522,                  Io,              -,                                     -,        -,         -;
    File_read_at_all = 523,              Io,              Collective(AllToAll, File),            -,        -,         -;
    File_read_shared = 524,              Io,              -,                                     -,        -,         -;
    File_read_ordered = 525,             Io,              Collective(AllToAll, File),            -,        -,         -;

    // Files: writing.
    File_write = 530,                    Io,              -,                                     -,        -,         -;
    File_write_all = 531,                Io,              Collective(AllToAll, File),            -,        -,         -;
    File_write_at = 532,                 Io,              -,                                     -,        -,         -;
    File_write_at_all = 533,             Io,              Collective(AllToAll, File),            -,        -,         -;
    File_write_shared = 534,             Io,              -,                                     -,        -,         -;
    File_write_ordered = 535,            Io,              Collective(AllToAll, File),            -,        -,         -;

    // Files: nonblocking.
    File_iread = 540,                    Io,              -,                                     -,        -,         -;
    File_iread_all = 541,                Io,              -,                                     -,        -,         -;
    File_iread_at = 542,                 Io,              -,                                     -,        -,         -;
    File_iread_at_all = 543,             Io,              -,                                     -,        -,         -;
    File_iread_shared = 544,             Io,              -,                                     -,        -,         -;
    File_iwrite = 545,                   Io,              -,                                     -,        -,         -;
    File_iwrite_all = 546,               Io,              -,                                     -,        -,         -;
    File_iwrite_at = 547,                Io,              -,                                     -,        -,         -;
    File_iwrite_at_all = 548,            Io,              -,                                     -,        -,         -;
    File_iwrite_shared = 549,            Io,              -,                                     -,        -,         -;

    // Files: split collectives.
    File_read_all_begin = 560,           Io,              -,                                     -,        -,         -;
    File_read_all_end = 561,             Io,              -,                                     -,        Transfer,  -;
    File_read_at_all_begin = 562,        Io,              -,                                     -,        -,         -;
    File_read_at_all_end = 563,          Io,              -,                                     -,        Transfer,  -;
    File_read_ordered_begin = 564,       Io,              -,                                     -,        -,         -;
    File_read_ordered_end = 565,         Io,              -,                                     -,        Transfer,  -;
    File_write_all_begin = 566,          Io,              -,                                     -,        -,         -;
    File_write_all_end = 567,            Io,              -,                                     -,        Transfer,  -;
    File_write_at_all_begin = 568,       Io,              -,                                     -,        -,         -;
    File_write_at_all_end = 569,         Io,              -,                                     -,        Transfer,  -;
    File_write_ordered_begin = 570,      Io,              -,                                     -,        -,         -;
    File_write_ordered_end = 571,        Io,              -,                                     -,        Transfer,  -;

    // Communicators.
    Comm_create = 700,                   Management,      Collective(AllToAll, Communicator),    -,        -,         -;
    Comm_create_group = 701,             Management,      -,                                     -,        -,         -;
    Comm_create_from_group = 702,        Management,      -,                                     -,        -,         -;
    Comm_dup = 703,                      Management,      Collective(AllToAll, Communicator),    -,        -,         -;
    Comm_dup_with_info = 704,            Management,      Collective(AllToAll, Communicator),    -,        -,         -;
    Comm_idup = 705,                     Management,      StartCollective(AllToAll),             -,        -,         -;
    Comm_idup_with_info = 706,           Management,      StartCollective(AllToAll),             -,        -,         -;
    Comm_split = 707,                    Management,      Collective(AllToAll, Communicator),    -,        -,         -;
    Comm_split_type = 708,               Management,      Collective(AllToAll, Communicator),    -,        -,         -;
    Intercomm_create = 709,              Management,      -,                                     -,        -,         -;
    Intercomm_create_from_groups = 710,  Management,      -,                                     -,        -,         -;
    Intercomm_merge = 711,               Management,      Collective(AllToAll, Communicator),    -,        -,         -;
    Comm_free = 712,                     Management,      -,                                     -,        -,         -;
    Comm_disconnect = 713,               Management,      -,                                     -,        -,         -;
    Comm_set_info = 714,                 Management,      -,                                     -,        -,         -;

    // Topologies.
    Cart_create = 720,                   Management,      Collective(AllToAll, Communicator),    -,        -,         -;
    Cart_sub = 721,                      Management,      Collective(AllToAll, Communicator),    -,        -,         -;
    Graph_create = 722,                  Management,      Collective(AllToAll, Communicator),    -,        -,         -;
    Dist_graph_create = 723,             Management,      Collective(AllToAll, Communicator),    -,        -,         -;
    Dist_graph_create_adjacent = 724,    Management,      Collective(AllToAll, Communicator),    -,        -,         -;

    // Other programs: ports and names.
    Comm_accept = 740,                   Management,      -,                                     -,        -,         -;
    Comm_connect = 741,                  Management,      -,                                     -,        -,         -;
    Comm_join = 742,                     Management,      -,                                     -,        -,         -;
    Open_port = 743,                     Management,      -,                                     -,        -,         -;
    Close_port = 744,                    Management,      -,                                     -,        -,         -;
    Publish_name = 745,                  Management,      -,                                     -,        -,         -;
    Unpublish_name = 746,                Management,      -,                                     -,        -,         -;
    Lookup_name = 747,                   Management,      -,                                     -,        -,         -;
    Comm_spawn = 750,                    Management,      -,                                     -,        -,         -;
    Comm_spawn_multiple = 751,           Management,      -,                                     -,        -,         -;

    // Markers and parts of calls.
    /// A region begins.
    RegionEnter = 1000,                  Computation,     -,                                     -,        -,         -;
    /// A region ends.
    RegionLeave = 1001,                  Computation,     -,                                     -,        -,         -;
    /// Work done in a region: operations and quanta.
    Work = 1002,                         Computation,     -,                                     -,        -,         -;
    /// A user's counter.
    Counter = 1003,                      Computation,     -,                                     -,        -,         -;
    /// Memory of the process: resident, swapped.
    Memory = 1004,                       Computation,     -,                                     -,        -,         -;
    /// A full ring was encoded and written: the recorder's own time.
    Flush = 1005,                        Recorder,        -,                                     -,        -,         -;
    /// Recording was stopped by the program; the time until [`Operation::Resume`] belongs to no activity.
    Pause = 1006,                        Computation,     -,                                     -,        -,         -;
    /// Recording was resumed.
    Resume = 1007,                       Computation,     -,                                     -,        -,         -;
    /// Part of the call before it: one of the requests that it completed.
    Completed = 1008,                    PointToPoint,    -,                                     -,        Request,   -;
    /// Part of the call before it: the receiving half of a combined send and receive.
    Received = 1009,                     PointToPoint,    -,                                     -,        -,         -;
    /// The program ended without MPI_Finalize; time up to here counts.
    ProgramEnd = 1010,                   Computation,     -,                                     -,        -,         -;
    /// Part of the MPI_Startall before it: one of the requests that it started.
    Started = 1011,                      PointToPoint,    -,                                     -,        -,         -;
    /// An instance of a parallel region (OpenMP) begins.
    ParallelBegin = 1012,                Computation,     -,                                     -,        -,         -;
    /// The region ends.
    ParallelEnd = 1013,                  Computation,     -,                                     -,        -,         -;
    /// Waits of one kind in the instance that the next [`Operation::ParallelEnd`] ends.
    ParallelWaits = 1014,                Computation,     -,                                     -,        -,         -;
    /// The times of one thread in the instance that the next [`Operation::ParallelEnd`] ends.
    ParallelThread = 1015,               Computation,     -,                                     -,        -,         -;
    /// An interval of computation in a state that the recorder has seen begin and end, as in a call of a library that is not MPI's.
    InState = 1016,                      Computation,     -,                                     -,        -,         -;
}

impl Operation {
    /// Numbers from here on are markers and parts of calls, not calls.
    pub const FIRST_MARKER: u16 = 1000;

    /// Upper bound of the numbers.
    pub const NUMBERS: usize = 1024;
    const END: u16 = Self::NUMBERS as u16;

    /// Returns whether a number stands for a part of the call before it, which has no time of its own.
    pub const fn is_part(number: u16) -> bool {
        number == Operation::Completed as u16
            || number == Operation::Received as u16
            || number == Operation::Started as u16
    }

    /// Returns the meaning to other ranks of the operation with a number in a log.
    #[inline]
    pub const fn semantics(number: u16) -> OperationSemantics {
        if number < Operation::END { COLUMNS.semantics[number as usize] } else { OperationSemantics::Nothing }
    }

    /// Returns the ranks that a call must wait for before it can end.
    #[inline]
    pub const fn synchronises(number: u16) -> SynchronisesWith {
        if number < Operation::END { COLUMNS.synchronises[number as usize] } else { SynchronisesWith::Nobody }
    }

    /// Returns the requests of earlier calls that it completes or tests. Their bytes were counted when they started.
    #[inline]
    pub const fn completes(number: u16) -> CompletionEffect {
        if number < Operation::END { COLUMNS.completes[number as usize] } else { CompletionEffect::Nothing }
    }

    /// Returns whether it asks without waiting, so that a program which waits by asking makes it again and again.
    #[inline]
    pub const fn polls(number: u16) -> bool {
        number < Operation::END && COLUMNS.polls[number as usize]
    }

    /// Returns whether a program may make it again and again until it reads another value in a window.
    #[inline]
    pub const fn is_window_read(number: u16) -> bool {
        let operations = [
            Operation::Get,
            Operation::Rget,
            Operation::Get_accumulate,
            Operation::Rget_accumulate,
            Operation::Fetch_and_op,
            Operation::Compare_and_swap,
            Operation::Win_lock,
            Operation::Win_unlock,
            Operation::Win_sync,
            Operation::Win_flush,
            Operation::Win_flush_local,
            Operation::Win_flush_all,
            Operation::Win_flush_local_all,
        ];
        is_among(number, &operations)
    }

    /// Returns whether the recorder folds repetitions of it into one record: it reads a window, and starts no request.
    #[inline]
    pub const fn folds_in_spin(number: u16) -> bool {
        Operation::is_window_read(number) && !is_among(number, &[Operation::Rget, Operation::Rget_accumulate])
    }

    /// Returns whether a program may make it again and again while it waits: a poll ([`Operation::polls`]), or a call that reads a window.
    #[inline]
    pub const fn may_spin(number: u16) -> bool {
        Operation::polls(number) || Operation::is_window_read(number)
    }
}

const fn is_among(number: u16, operations: &[Operation]) -> bool {
    let mut i = 0;
    while i < operations.len() {
        if operations[i] as u16 == number {
            return true;
        }
        i += 1;
    }
    false
}

/// The table by columns, each by number.
struct OperationColumns {
    semantics: [OperationSemantics; Operation::NUMBERS],
    synchronises: [SynchronisesWith; Operation::NUMBERS],
    completes: [CompletionEffect; Operation::NUMBERS],
    polls: [bool; Operation::NUMBERS],
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of calls whose name, after an I of a nonblocking one or before an _init, is one of `names`.
    fn named(names: &str) -> Vec<(Operation, &'static str)> {
        let name_of = |&operation: &Operation| (operation, operation.name());
        let base = |name: &str| {
            let name = name.strip_suffix("_init").unwrap_or(name);
            let nonblocking = name.strip_prefix('I').map(|rest| rest[..1].to_uppercase() + &rest[1..]);
            [Some(name.to_owned()), nonblocking].into_iter().flatten().collect::<Vec<_>>()
        };
        let names: Vec<&str> = names.split_whitespace().collect();
        let is_named =
            |(_, name): &(Operation, &'static str)| base(name).iter().any(|base| names.contains(&base.as_str()));
        Operation::ALL.iter().map(name_of).filter(is_named).collect()
    }

    #[test]
    fn an_operation_has_the_pattern_of_its_name_in_every_stage() {
        let patterns = [
            (
                AllToAll,
                "Barrier Allgather Allgatherv Alltoall Alltoallv Alltoallw Allreduce Reduce_scatter Reduce_scatter_block",
                9,
            ),
            (OneToAll, "Bcast Scatter Scatterv", 3),
            (AllToOne, "Gather Gatherv Reduce", 3),
            (Prefix, "Scan Exscan", 2),
            (
                Neighbours,
                "Neighbor_allgather Neighbor_allgatherv Neighbor_alltoall Neighbor_alltoallv Neighbor_alltoallw",
                5,
            ),
        ];
        for (pattern, names, n) in patterns {
            let rows = named(names);
            assert_eq!(rows.len(), 3 * n, "{names}");
            for (operation, name) in rows {
                let expected = match name {
                    name if name.ends_with("_init") => OperationSemantics::PrepareCollective(pattern),
                    name if name.starts_with('I') => OperationSemantics::StartCollective(pattern),
                    _ => OperationSemantics::Collective(pattern, Communicator),
                };
                assert_eq!(Operation::semantics(operation as u16), expected, "{name}");
            }
        }
    }

    #[test]
    fn only_barriers_and_reductions_of_all_to_all_synchronise_whatever_they_transfer() {
        for &operation in Operation::ALL {
            let name = operation.name().to_lowercase();
            let expected = match name.as_str() {
                name if name.contains("allreduce") || name.contains("barrier") => SynchronisesWith::Members,
                name if name.ends_with("neighbor_allgather") || name.ends_with("neighbor_alltoall") => {
                    SynchronisesWith::Sources
                }
                _ => SynchronisesWith::Nobody,
            };
            assert_eq!(Operation::synchronises(operation as u16), expected, "{name}");
        }
    }

    #[test]
    fn a_call_completes_or_prepares_what_its_name_says() {
        for &operation in Operation::ALL {
            let (number, name) = (operation as u16, operation.name());
            let completes = match name {
                "Wait" | "Test" | "Waitany" | "Testany" | "Completed" => CompletionEffect::Request,
                "Waitsome" | "Testsome" => CompletionEffect::Some,
                "Waitall" | "Testall" => CompletionEffect::All,
                name if name.starts_with("Request_get_status") => CompletionEffect::Status,
                name if name.starts_with("File_") && name.ends_with("_end") => CompletionEffect::Transfer,
                _ => CompletionEffect::Nothing,
            };
            assert_eq!(Operation::completes(number), completes, "{name}");
            let prepares = name.ends_with("_init") && name != "Session_init";
            assert_eq!(Operation::semantics(number).prepares(), prepares, "{name}");
        }
    }

    #[test]
    fn a_call_that_polls_becomes_one_that_waits_where_it_ends_a_wait() {
        for &operation in Operation::ALL {
            let (polls, semantics) = (Operation::polls(operation as u16), Operation::semantics(operation as u16));
            assert_eq!(polls, semantics.after_polling() != semantics, "{}", operation.name());
        }
    }

    #[test]
    fn calls_that_ask_may_spin_and_those_that_wait_do_not() {
        for operation in [Operation::Testany, Operation::Iprobe, Operation::Parrived, Operation::Win_test] {
            assert!(Operation::may_spin(operation as u16), "{}", operation.name());
        }
        for operation in [Operation::Wait, Operation::Probe, Operation::Win_wait, Operation::Win_fence] {
            assert!(!Operation::may_spin(operation as u16), "{}", operation.name());
        }
        assert!(Operation::may_spin(Operation::Fetch_and_op as u16));
        assert!(!Operation::polls(Operation::Fetch_and_op as u16));
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
