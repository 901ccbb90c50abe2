// ranks: 4
// truth: neighbourhood collectives on a line of ranks, whose ends have a neighbour less, and on a graph in which rank 0 sends to all
#ifndef TWIN
enum { P = 4 };

#define SOURCE "records/neighbours.c"
#include "twice.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    begin_expecting();
    make_communicators();
    activity = "collective";
    MPI_Comm comm;
    /* A line: missing neighbours are MPI_PROC_NULL; they have blocks in the arguments, which nobody sends. */
    PLAIN(Cart_create, (reversed.comm, 1, (int[]){P}, (int[]){0}, 0, &comm), .on = &reversed, .as = "management");
    Known line = known(comm, "line");
    BOTH(on_a_line, &line);
    PLAIN(Comm_free, (&line.comm), .on = &line, .as = "management");
    /* Rank 0 sends to all others, these send nothing. */
    int me = reversed.rank;
    PLAIN(Dist_graph_create_adjacent,
          (reversed.comm, me ? 1 : 0, (int[]){0}, MPI_UNWEIGHTED, me ? 0 : P - 1, (int[]){1, 2, 3}, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
           &comm),
          .on = &reversed, .as = "management");
    Known star = known(comm, "star");
    BOTH(on_a_star, &star);
    PLAIN(Comm_free, (&star.comm), .on = &star, .as = "management");
    activity = "point-to-point";
    free_communicators();
    printf("%d: done\n", world.rank);
    MPI_Finalize();
    return 0;
}

#else

#define START(function, arguments, ...)                                                                                        \
    do {                                                                                                                       \
        LARGE(function, arguments, __VA_ARGS__);                                                                               \
        Expectation end = EXPECTED(__VA_ARGS__);                                                                               \
        end.received = 0; /* counted where it was started */                                                                   \
        check(MPI_Wait(&request, MPI_STATUS_IGNORE), "Wait");                                                                  \
        expect("Wait", end);                                                                                                   \
    } while (0)
#define PERSISTENT(function, arguments, ...)                                                                                   \
    do {                                                                                                                       \
        Expectation e = EXPECTED(.flags = "persistent", __VA_ARGS__);                                                          \
        check(TWIN(MPI_##function) arguments, #function);                                                                      \
        expect(#function SUFFIX, e);                                                                                           \
        check(MPI_Start(&request), "Start");                                                                                   \
        expect("Start", e);                                                                                                    \
        check(MPI_Wait(&request, MPI_STATUS_IGNORE), "Wait");                                                                  \
        e.received = 0; /* counted where it was started */                                                                     \
        expect("Wait", e);                                                                                                     \
        check(MPI_Request_free(&request), "Request_free");                                                                     \
        expect("Request_free", EXPECTED(.on = e.on, .as = "point-to-point"));                                                  \
    } while (0)

static void TWIN(on_a_line)(const Known *on)
{
    static int out[64], in[64];
    int n = 2 - (on->rank == 0) - (on->rank == P - 1); /* neighbours */
    MPI_Request request;
    COUNT to[] = {2, 2};
    DISPLACEMENT places[] = {0, 2};
    MPI_Aint bytes[] = {0, 8};
    MPI_Datatype types[] = {MPI_INT, MPI_INT};
    LARGE(Neighbor_allgather, (out, 3, MPI_INT, in, 3, MPI_INT, on->comm), .on = on, .sent = 12, .received = 12 * n);
    LARGE(Neighbor_allgatherv, (out, 2, MPI_INT, in, to, places, MPI_INT, on->comm), .on = on, .sent = 8, .received = 8 * n);
    LARGE(Neighbor_alltoall, (out, 3, MPI_INT, in, 3, MPI_INT, on->comm), .on = on, .sent = 12 * n, .received = 12 * n);
    LARGE(Neighbor_alltoallv, (out, to, places, MPI_INT, in, to, places, MPI_INT, on->comm), .on = on, .sent = 8 * n, .received = 8 * n);
    LARGE(Neighbor_alltoallw, (out, to, bytes, types, in, to, bytes, types, on->comm), .on = on, .sent = 8 * n, .received = 8 * n);
    START(Ineighbor_allgather, (out, 3, MPI_INT, in, 3, MPI_INT, on->comm, &request), .on = on, .sent = 12, .received = 12 * n);
    START(Ineighbor_allgatherv, (out, 2, MPI_INT, in, to, places, MPI_INT, on->comm, &request), .on = on, .sent = 8, .received = 8 * n);
    START(Ineighbor_alltoall, (out, 3, MPI_INT, in, 3, MPI_INT, on->comm, &request), .on = on, .sent = 12 * n, .received = 12 * n);
    START(Ineighbor_alltoallv, (out, to, places, MPI_INT, in, to, places, MPI_INT, on->comm, &request), .on = on, .sent = 8 * n,
          .received = 8 * n);
    START(Ineighbor_alltoallw, (out, to, bytes, types, in, to, bytes, types, on->comm, &request), .on = on, .sent = 8 * n,
          .received = 8 * n);
#ifdef HAS_PERSISTENT_COLLECTIVES
    MPI_Info info = MPI_INFO_NULL;
    PERSISTENT(Neighbor_allgather_init, (out, 3, MPI_INT, in, 3, MPI_INT, on->comm, info, &request), .on = on, .sent = 12,
               .received = 12 * n);
    PERSISTENT(Neighbor_allgatherv_init, (out, 2, MPI_INT, in, to, places, MPI_INT, on->comm, info, &request), .on = on, .sent = 8,
               .received = 8 * n);
    PERSISTENT(Neighbor_alltoall_init, (out, 3, MPI_INT, in, 3, MPI_INT, on->comm, info, &request), .on = on, .sent = 12 * n,
               .received = 12 * n);
    PERSISTENT(Neighbor_alltoallv_init, (out, to, places, MPI_INT, in, to, places, MPI_INT, on->comm, info, &request), .on = on,
               .sent = 8 * n, .received = 8 * n);
    PERSISTENT(Neighbor_alltoallw_init, (out, to, bytes, types, in, to, bytes, types, on->comm, info, &request), .on = on,
               .sent = 8 * n, .received = 8 * n);
#endif
}

static void TWIN(on_a_star)(const Known *on)
{
    static int out[64], in[64];
    int centre = on->rank == 0;
    COUNT to[] = {1, 2, 3}, from[] = {on->rank};
    DISPLACEMENT places[] = {0, 1, 3};
    LARGE(Neighbor_allgather, (out, 3, MPI_INT, in, 3, MPI_INT, on->comm), .on = on, .sent = 12, .received = centre ? 0 : 12);
    LARGE(Neighbor_alltoall, (out, 3, MPI_INT, in, 3, MPI_INT, on->comm), .on = on, .sent = centre ? 36 : 0,
          .received = centre ? 0 : 12);
    LARGE(Neighbor_alltoallv, (out, to, places, MPI_INT, in, from, places, MPI_INT, on->comm), .on = on, .sent = centre ? 24 : 0,
          .received = centre ? 0 : 4 * on->rank);
}
#undef START
#undef PERSISTENT
#endif
