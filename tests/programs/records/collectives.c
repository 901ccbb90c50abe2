// ranks: 4
// truth: each collective, blocking, nonblocking and, where the MPI has them, persistent; over a communicator whose ranks are not those
// truth: of the world; with MPI_IN_PLACE, and between two groups. Sent is what a rank contributes, received what it is given.
#ifndef TWIN
enum { P = 4, ROOT = 1 };

#define SOURCE "records/collectives.c"
#include "twice.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    begin_expecting();
    make_communicators();
    activity = "collective";
    BOTH(blocking);
    BOTH(in_place);
    BOTH(between_groups);
    BOTH(nonblocking);
    BOTH(persistent);
    activity = "point-to-point";
    free_communicators();
    printf("%d: done\n", world.rank);
    MPI_Finalize();
    return 0;
}

#else

/* Blocks of different lengths: rank i has i + 1 integers; together 10. */
static COUNT TWIN(block_lengths)[P] = {1, 2, 3, 4};
static DISPLACEMENT TWIN(block_places)[P] = {0, 1, 3, 6};
static COUNT TWIN(halves_lengths)[2] = {3, 5};
static DISPLACEMENT TWIN(halves_places)[2] = {0, 3};

static void TWIN(blocking)(void)
{
    const Known *on = &reversed;
    int is_root = on->rank == ROOT, me = on->rank;
    static int out[64], in[64];
    COUNT *lengths = TWIN(block_lengths);
    DISPLACEMENT *places = TWIN(block_places);
    COUNT equal[P] = {5, 5, 5, 5};

    PLAIN(Barrier, (on->comm), .on = on, .as = "synchronization");
    LARGE(Bcast, (out, 6, MPI_INT, ROOT, on->comm), .on = on, .peer = ROOT, .sent = is_root ? 24 : 0, .received = is_root ? 0 : 24);
    /* What the standard calls insignificant is nonsense here. */
    LARGE(Gather, (out, 3, MPI_INT, is_root ? in : NULL, is_root ? 3 : -7, is_root ? MPI_INT : MPI_DATATYPE_NULL, ROOT, on->comm),
          .on = on, .peer = ROOT, .sent = 12, .received = is_root ? 48 : 0);
    LARGE(Gatherv, (out, me + 1, MPI_INT, in, is_root ? lengths : NULL, is_root ? places : NULL, MPI_INT, ROOT, on->comm), .on = on,
          .peer = ROOT, .sent = 4 * (me + 1), .received = is_root ? 40 : 0);
    LARGE(Scatter, (is_root ? out : NULL, is_root ? 4 : -7, is_root ? MPI_INT : MPI_DATATYPE_NULL, in, 4, MPI_INT, ROOT, on->comm),
          .on = on, .peer = ROOT, .sent = is_root ? 64 : 0, .received = 16);
    LARGE(Scatterv, (out, is_root ? lengths : NULL, is_root ? places : NULL, MPI_INT, in, me + 1, MPI_INT, ROOT, on->comm), .on = on,
          .peer = ROOT, .sent = is_root ? 40 : 0, .received = 4 * (me + 1));
    LARGE(Allgather, (out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, on->comm), .on = on, .sent = 16, .received = 64);
    LARGE(Allgatherv, (out, me + 1, MPI_INT, in, lengths, places, MPI_INT, on->comm), .on = on, .sent = 4 * (me + 1), .received = 40);
    LARGE(Alltoall, (out, 3, MPI_INT, in, 3, MPI_INT, on->comm), .on = on, .sent = 48, .received = 48);
    LARGE(Reduce, (out, in, 7, MPI_INT, MPI_SUM, ROOT, on->comm), .on = on, .peer = ROOT, .sent = 28, .received = is_root ? 28 : 0);
    LARGE(Allreduce, (out, in, 5, MPI_DOUBLE, MPI_MAX, on->comm), .on = on, .sent = 40, .received = 40);
    LARGE(Reduce_scatter, (out, in, lengths, MPI_INT, MPI_SUM, on->comm), .on = on, .sent = 40, .received = 4 * (me + 1));
    LARGE(Reduce_scatter_block, (out, in, 5, MPI_INT, MPI_SUM, on->comm), .on = on, .sent = 80, .received = 20);
    LARGE(Scan, (out, in, 3, MPI_INT, MPI_SUM, on->comm), .on = on, .sent = 12, .received = 12);
    LARGE(Exscan, (out, in, 4, MPI_INT, MPI_SUM, on->comm), .on = on, .sent = 16, .received = 16);

    /* Rank i sends j + 1 integers to rank j, and so receives i + 1 from each. */
    COUNT from[P] = {me + 1, me + 1, me + 1, me + 1};
    DISPLACEMENT from_places[P] = {0, me + 1, 2 * (me + 1), 3 * (me + 1)};
    LARGE(Alltoallv, (out, lengths, places, MPI_INT, in, from, from_places, MPI_INT, on->comm), .on = on, .sent = 40,
          .received = 16 * (me + 1));
    /* 5 doubles to even ranks, 5 integers to odd ones. */
    MPI_Datatype to_types[P] = {MPI_DOUBLE, MPI_INT, MPI_DOUBLE, MPI_INT}, own = me % 2 ? MPI_INT : MPI_DOUBLE;
    MPI_Datatype from_types[P] = {own, own, own, own};
    DISPLACEMENT bytes[P] = {0, 40, 80, 120};
    LARGE(Alltoallw, (out, equal, bytes, to_types, in, equal, bytes, from_types, on->comm), .on = on, .sent = 120,
          .received = me % 2 ? 80 : 160);
    /* Alone. */
    LARGE(Allreduce, (out, in, 3, MPI_INT, MPI_SUM, MPI_COMM_SELF), .on = &self, .sent = 12, .received = 12);
}

static void TWIN(in_place)(void)
{
    const Known *on = &reversed;
    int is_root = on->rank == ROOT, me = on->rank;
    static int out[64], in[64];
    COUNT *lengths = TWIN(block_lengths);
    DISPLACEMENT *places = TWIN(block_places);
    COUNT equal[P] = {2, 2, 2, 2};
    DISPLACEMENT even[P] = {0, 2, 4, 6}, bytes[P] = {0, 8, 16, 24};
    MPI_Datatype types[P] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};

    LARGE(Gather, (is_root ? MPI_IN_PLACE : out, 3, MPI_INT, in, 3, MPI_INT, ROOT, on->comm), .on = on, .peer = ROOT,
          .sent = is_root ? 0 : 12, .received = is_root ? 48 : 0);
    LARGE(Gatherv, (is_root ? MPI_IN_PLACE : out, me + 1, MPI_INT, in, lengths, places, MPI_INT, ROOT, on->comm), .on = on,
          .peer = ROOT, .sent = is_root ? 0 : 4 * (me + 1), .received = is_root ? 40 : 0);
    LARGE(Scatter, (out, 4, MPI_INT, is_root ? MPI_IN_PLACE : in, 4, MPI_INT, ROOT, on->comm), .on = on, .peer = ROOT,
          .sent = is_root ? 64 : 0, .received = is_root ? 0 : 16);
    LARGE(Scatterv, (out, lengths, places, MPI_INT, is_root ? MPI_IN_PLACE : in, me + 1, MPI_INT, ROOT, on->comm), .on = on,
          .peer = ROOT, .sent = is_root ? 40 : 0, .received = is_root ? 0 : 4 * (me + 1));
    LARGE(Allgather, (MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 2, MPI_INT, on->comm), .on = on, .received = 32);
    LARGE(Allgatherv, (MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, lengths, places, MPI_INT, on->comm), .on = on, .received = 40);
    LARGE(Alltoall, (MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 3, MPI_INT, on->comm), .on = on, .received = 48);
    LARGE(Alltoallv, (MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, equal, even, MPI_INT, on->comm), .on = on, .received = 32);
    LARGE(Alltoallw, (MPI_IN_PLACE, NULL, NULL, NULL, in, equal, bytes, types, on->comm), .on = on, .received = 32);
    /* A reduction's data are merely elsewhere. */
    LARGE(Reduce, (is_root ? MPI_IN_PLACE : out, in, 7, MPI_INT, MPI_SUM, ROOT, on->comm), .on = on, .peer = ROOT, .sent = 28,
          .received = is_root ? 28 : 0);
    LARGE(Allreduce, (MPI_IN_PLACE, in, 5, MPI_DOUBLE, MPI_MAX, on->comm), .on = on, .sent = 40, .received = 40);
    LARGE(Reduce_scatter, (MPI_IN_PLACE, in, lengths, MPI_INT, MPI_SUM, on->comm), .on = on, .sent = 40, .received = 4 * (me + 1));
    LARGE(Reduce_scatter_block, (MPI_IN_PLACE, in, 5, MPI_INT, MPI_SUM, on->comm), .on = on, .sent = 80, .received = 20);
    LARGE(Scan, (MPI_IN_PLACE, in, 3, MPI_INT, MPI_SUM, on->comm), .on = on, .sent = 12, .received = 12);
    LARGE(Exscan, (MPI_IN_PLACE, in, 3, MPI_INT, MPI_SUM, on->comm), .on = on, .sent = 12, .received = 12);
}

/* Between the two ranks of each group: data go from one group to the other. The root is rank 1 of the even one. */
static void TWIN(between_groups)(void)
{
    const Known *on = &inter;
    int even = world.rank % 2 == 0, is_root = even && on->rank == ROOT;
    int root = is_root ? MPI_ROOT : even ? MPI_PROC_NULL : ROOT;
    static int out[64], in[64];
    COUNT *lengths = TWIN(halves_lengths);
    DISPLACEMENT *places = TWIN(halves_places);

    PLAIN(Barrier, (on->comm), .on = on, .as = "synchronization");
    /* The root has no peer: its rank is one of its own group, peers are ranks of the other one. */
    if (even && !is_root) {
        LARGE(Bcast, (out, 6, MPI_INT, root, on->comm), .on = on);
        LARGE(Gather, (out, 3, MPI_INT, in, 3, MPI_INT, root, on->comm), .on = on);
        LARGE(Reduce, (out, in, 3, MPI_INT, MPI_SUM, root, on->comm), .on = on);
    } else if (!even) {
        LARGE(Bcast, (out, 6, MPI_INT, root, on->comm), .on = on, .peer = ROOT, .received = 24);
        LARGE(Gather, (out, 3, MPI_INT, in, 3, MPI_INT, root, on->comm), .on = on, .peer = ROOT, .sent = 12);
        LARGE(Reduce, (out, in, 3, MPI_INT, MPI_SUM, root, on->comm), .on = on, .peer = ROOT, .sent = 12);
    } else {
        LARGE(Bcast, (out, 6, MPI_INT, root, on->comm), .on = on, .sent = 24);
        LARGE(Gather, (out, 3, MPI_INT, in, 3, MPI_INT, root, on->comm), .on = on, .received = 24);
        LARGE(Reduce, (out, in, 3, MPI_INT, MPI_SUM, root, on->comm), .on = on, .received = 12);
    }
    LARGE(Allgather, (out, 2, MPI_INT, in, 2, MPI_INT, on->comm), .on = on, .sent = 8, .received = 16);
    LARGE(Allgatherv, (out, on->rank ? 5 : 3, MPI_INT, in, lengths, places, MPI_INT, on->comm), .on = on, .sent = on->rank ? 20 : 12,
          .received = 32);
    LARGE(Alltoall, (out, 3, MPI_INT, in, 3, MPI_INT, on->comm), .on = on, .sent = 24, .received = 24);
    LARGE(Allreduce, (out, in, 5, MPI_INT, MPI_SUM, on->comm), .on = on, .sent = 20, .received = 20);
}

#define START(function, arguments, ...)                                                                                        \
    do {                                                                                                                       \
        LARGE(function, arguments, __VA_ARGS__);                                                                               \
        Expectation end = EXPECTED(__VA_ARGS__);                                                                               \
        end.received = 0; /* counted where it was started */                                                                   \
        check(MPI_Wait(&request, MPI_STATUS_IGNORE), "Wait");                                                                  \
        expect("Wait", end);                                                                                                   \
    } while (0)

static void TWIN(nonblocking)(void)
{
    const Known *on = &reversed;
    int is_root = on->rank == ROOT, me = on->rank;
    static int out[64], in[64];
    COUNT *lengths = TWIN(block_lengths);
    DISPLACEMENT *places = TWIN(block_places);
    COUNT equal[P] = {5, 5, 5, 5};
    COUNT from[P] = {me + 1, me + 1, me + 1, me + 1};
    DISPLACEMENT from_places[P] = {0, me + 1, 2 * (me + 1), 3 * (me + 1)};
    MPI_Datatype to_types[P] = {MPI_DOUBLE, MPI_INT, MPI_DOUBLE, MPI_INT}, own = me % 2 ? MPI_INT : MPI_DOUBLE;
    MPI_Datatype from_types[P] = {own, own, own, own};
    DISPLACEMENT bytes[P] = {0, 40, 80, 120};
    MPI_Request request;

    PLAIN(Ibarrier, (on->comm, &request), .on = on, .as = "synchronization");
    PLAIN(Wait, (&request, MPI_STATUS_IGNORE), .on = on, .as = "synchronization");
    START(Ibcast, (out, 6, MPI_INT, ROOT, on->comm, &request), .on = on, .peer = ROOT, .sent = is_root ? 24 : 0,
          .received = is_root ? 0 : 24);
    START(Igather, (out, 3, MPI_INT, in, 3, MPI_INT, ROOT, on->comm, &request), .on = on, .peer = ROOT, .sent = 12,
          .received = is_root ? 48 : 0);
    START(Igatherv, (out, me + 1, MPI_INT, in, lengths, places, MPI_INT, ROOT, on->comm, &request), .on = on, .peer = ROOT,
          .sent = 4 * (me + 1), .received = is_root ? 40 : 0);
    START(Iscatter, (out, 4, MPI_INT, in, 4, MPI_INT, ROOT, on->comm, &request), .on = on, .peer = ROOT, .sent = is_root ? 64 : 0,
          .received = 16);
    START(Iscatterv, (out, lengths, places, MPI_INT, in, me + 1, MPI_INT, ROOT, on->comm, &request), .on = on, .peer = ROOT,
          .sent = is_root ? 40 : 0, .received = 4 * (me + 1));
    START(Iallgather, (out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, on->comm, &request), .on = on, .sent = 16, .received = 64);
    START(Iallgatherv, (out, me + 1, MPI_INT, in, lengths, places, MPI_INT, on->comm, &request), .on = on, .sent = 4 * (me + 1),
          .received = 40);
    START(Ialltoall, (out, 3, MPI_INT, in, 3, MPI_INT, on->comm, &request), .on = on, .sent = 48, .received = 48);
    START(Ialltoallv, (out, lengths, places, MPI_INT, in, from, from_places, MPI_INT, on->comm, &request), .on = on, .sent = 40,
          .received = 16 * (me + 1));
    START(Ialltoallw, (out, equal, bytes, to_types, in, equal, bytes, from_types, on->comm, &request), .on = on, .sent = 120,
          .received = me % 2 ? 80 : 160);
    START(Ireduce, (out, in, 7, MPI_INT, MPI_SUM, ROOT, on->comm, &request), .on = on, .peer = ROOT, .sent = 28,
          .received = is_root ? 28 : 0);
    START(Iallreduce, (out, in, 5, MPI_DOUBLE, MPI_MAX, on->comm, &request), .on = on, .sent = 40, .received = 40);
    START(Ireduce_scatter, (out, in, lengths, MPI_INT, MPI_SUM, on->comm, &request), .on = on, .sent = 40, .received = 4 * (me + 1));
    START(Ireduce_scatter_block, (out, in, 5, MPI_INT, MPI_SUM, on->comm, &request), .on = on, .sent = 80, .received = 20);
    START(Iscan, (out, in, 3, MPI_INT, MPI_SUM, on->comm, &request), .on = on, .sent = 12, .received = 12);
    START(Iexscan, (out, in, 4, MPI_INT, MPI_SUM, on->comm, &request), .on = on, .sent = 16, .received = 16);
}
#undef START

#define STARTS(times, function, arguments, ...)                                                                                \
    do {                                                                                                                       \
        Expectation e = EXPECTED(.flags = "persistent", __VA_ARGS__);                                                          \
        check(TWIN(MPI_##function) arguments, #function);                                                                      \
        expect(#function SUFFIX, e);                                                                                           \
        long long received = e.received;                                                                                       \
        for (int round = 0; round < times; round++) {                                                                          \
            check(MPI_Start(&request), "Start");                                                                               \
            e.received = received;                                                                                             \
            expect("Start", e);                                                                                                \
            check(MPI_Wait(&request, MPI_STATUS_IGNORE), "Wait");                                                              \
            e.received = 0; /* counted where it was started */                                                                 \
            expect("Wait", e);                                                                                                 \
        }                                                                                                                      \
        check(MPI_Request_free(&request), "Request_free");                                                                     \
        expect("Request_free", EXPECTED(.on = e.on, .peer = e.peer, .as = "point-to-point"));                                  \
    } while (0)
#define TWICE(function, arguments, ...) STARTS(2, function, arguments, __VA_ARGS__)

static void TWIN(persistent)(void)
{
#ifdef HAS_PERSISTENT_COLLECTIVES
    const Known *on = &reversed;
    int is_root = on->rank == ROOT, me = on->rank;
    static int out[64], in[64];
    COUNT *lengths = TWIN(block_lengths);
    DISPLACEMENT *places = TWIN(block_places);
    COUNT equal[P] = {5, 5, 5, 5};
    COUNT from[P] = {me + 1, me + 1, me + 1, me + 1};
    DISPLACEMENT from_places[P] = {0, me + 1, 2 * (me + 1), 3 * (me + 1)};
    MPI_Datatype to_types[P] = {MPI_DOUBLE, MPI_INT, MPI_DOUBLE, MPI_INT}, own = me % 2 ? MPI_INT : MPI_DOUBLE;
    MPI_Datatype from_types[P] = {own, own, own, own};
    DISPLACEMENT bytes[P] = {0, 40, 80, 120};
    MPI_Request request;
    MPI_Info info = MPI_INFO_NULL;

    PLAIN(Barrier_init, (on->comm, info, &request), .on = on, .as = "synchronization", .flags = "persistent");
    PLAIN(Start, (&request), .on = on, .as = "synchronization", .flags = "persistent");
    PLAIN(Wait, (&request, MPI_STATUS_IGNORE), .on = on, .as = "synchronization", .flags = "persistent");
    PLAIN(Request_free, (&request), .on = on, .as = "point-to-point");
    TWICE(Bcast_init, (out, 6, MPI_INT, ROOT, on->comm, info, &request), .on = on, .peer = ROOT, .sent = is_root ? 24 : 0,
          .received = is_root ? 0 : 24);
    TWICE(Gather_init, (out, 3, MPI_INT, in, 3, MPI_INT, ROOT, on->comm, info, &request), .on = on, .peer = ROOT, .sent = 12,
          .received = is_root ? 48 : 0);
    TWICE(Gatherv_init, (out, me + 1, MPI_INT, in, lengths, places, MPI_INT, ROOT, on->comm, info, &request), .on = on,
          .peer = ROOT, .sent = 4 * (me + 1), .received = is_root ? 40 : 0);
    /* MPICH 4.0 cannot start these again. */
    STARTS(1, Scatter_init, (out, 4, MPI_INT, in, 4, MPI_INT, ROOT, on->comm, info, &request), .on = on, .peer = ROOT,
          .sent = is_root ? 64 : 0, .received = 16);
    STARTS(1, Scatterv_init, (out, lengths, places, MPI_INT, in, me + 1, MPI_INT, ROOT, on->comm, info, &request), .on = on,
          .peer = ROOT, .sent = is_root ? 40 : 0, .received = 4 * (me + 1));
    TWICE(Allgather_init, (out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, on->comm, info, &request), .on = on, .sent = 16, .received = 64);
    TWICE(Allgatherv_init, (out, me + 1, MPI_INT, in, lengths, places, MPI_INT, on->comm, info, &request), .on = on,
          .sent = 4 * (me + 1), .received = 40);
    TWICE(Alltoall_init, (out, 3, MPI_INT, in, 3, MPI_INT, on->comm, info, &request), .on = on, .sent = 48, .received = 48);
    TWICE(Alltoallv_init, (out, lengths, places, MPI_INT, in, from, from_places, MPI_INT, on->comm, info, &request), .on = on,
          .sent = 40, .received = 16 * (me + 1));
    TWICE(Alltoallw_init, (out, equal, bytes, to_types, in, equal, bytes, from_types, on->comm, info, &request), .on = on,
          .sent = 120, .received = me % 2 ? 80 : 160);
    TWICE(Reduce_init, (out, in, 7, MPI_INT, MPI_SUM, ROOT, on->comm, info, &request), .on = on, .peer = ROOT, .sent = 28,
          .received = is_root ? 28 : 0);
    TWICE(Allreduce_init, (out, in, 5, MPI_DOUBLE, MPI_MAX, on->comm, info, &request), .on = on, .sent = 40, .received = 40);
    TWICE(Reduce_scatter_init, (out, in, lengths, MPI_INT, MPI_SUM, on->comm, info, &request), .on = on, .sent = 40,
          .received = 4 * (me + 1));
    TWICE(Reduce_scatter_block_init, (out, in, 5, MPI_INT, MPI_SUM, on->comm, info, &request), .on = on, .sent = 80,
          .received = 20);
    TWICE(Scan_init, (out, in, 3, MPI_INT, MPI_SUM, on->comm, info, &request), .on = on, .sent = 12, .received = 12);
    TWICE(Exscan_init, (out, in, 4, MPI_INT, MPI_SUM, on->comm, info, &request), .on = on, .sent = 16, .received = 16);
#endif
}
#undef STARTS
#undef TWICE
#endif
