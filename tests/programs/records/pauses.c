// ranks: 4
// truth: what is begun, made and freed while recording is paused is known afterwards, also where handles are given out again
#include <lbprof.h>

#include "expect.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    begin_expecting();
    make_communicators();
    const Known *on = &reversed;
    int right = (on->rank + 1) % on->size, left = (on->rank + on->size - 1) % on->size;
    static int out[8], in[8];
    MPI_Request request;
    MPI_Status status;

    /* A request that is completed in a pause; its handle is most likely that of the next one. */
    for (int n = 1; n < 4; n++) {
        PLAIN(Irecv, (in, 8, MPI_INT, left, n, on->comm, &request), .on = on, .peer = left, .tag = n);
        PLAIN(Send, (out, n, MPI_INT, right, n, on->comm), .on = on, .peer = right, .tag = n, .sent = 4 * n);
        if (n == 1) {
            LBPROF_RECORD(0);
            check(MPI_Wait(&request, &status), "Wait");
            LBPROF_RECORD(1);
        } else {
            PLAIN(Wait, (&request, &status), .on = on, .peer = left, .tag = n, .received = 4 * n);
        }
    }

    /* One that is begun in a pause. */
    LBPROF_RECORD(0);
    LBPROF_RECORD(0);
    check(MPI_Irecv(in, 8, MPI_INT, left, 5, on->comm, &request), "Irecv");
    LBPROF_RECORD(1);
    PLAIN(Send, (out, 5, MPI_INT, right, 5, on->comm), .on = on, .peer = right, .tag = 5, .sent = 20);
    PLAIN(Waitall, (1, &request, &status), .on = on);
    PART(Completed, .on = on, .peer = left, .tag = 5, .received = 20);

    /* Communicators: only one rank pauses, and all give the same one the same id. */
    MPI_Comm comm;
    activity = "management";
    PLAIN(Comm_dup, (half.comm, &comm), .on = &half);
    PLAIN(Barrier, (comm), .on = &(Known){.label = world.rank % 2 ? "odd-dup" : "even-dup", .peers = half.peers},
          .as = "synchronization");
    LBPROF_RECORD(0);
    check(MPI_Comm_free(&comm), "Comm_free");
    LBPROF_RECORD(1);
    if (world.rank == 0) {
        LBPROF_RECORD(0);
        check(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "Comm_dup");
        LBPROF_RECORD(1);
    } else {
        PLAIN(Comm_dup, (MPI_COMM_WORLD, &comm), .on = &world);
    }
    Known dup = known(comm, "dup");
    PLAIN(Barrier, (comm), .on = &dup, .as = "synchronization");
    PLAIN(Comm_dup, (MPI_COMM_WORLD, &comm), .on = &world);
    Known another = known(comm, "another");
    PLAIN(Barrier, (comm), .on = &another, .as = "synchronization");
    PLAIN(Comm_free, (&another.comm), .on = &another);
    PLAIN(Comm_free, (&dup.comm), .on = &dup);

    /* Windows. */
    MPI_Win win;
    activity = "one-sided";
    PLAIN(Win_create, (out, sizeof out, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win), .on = &world, .tag = 0);
    LBPROF_RECORD(0);
    check(MPI_Win_free(&win), "Win_free");
    check(MPI_Win_create(out, sizeof out, 4, MPI_INFO_NULL, on->comm, &win), "Win_create");
    LBPROF_RECORD(1);
    PLAIN(Win_fence, (0, win), .on = on, .tag = 1);
    PLAIN(Win_free, (&win), .on = on, .tag = 1);

    activity = "point-to-point";
    free_communicators();
    printf("%d: done\n", world.rank);
    MPI_Finalize();
    return 0;
}
