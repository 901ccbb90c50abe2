// ranks: 2
// records: Allreduce 2600 Ssend 77
// problems: NotClosed
// maybe: Unfinished
// truth: rank 1 ends by abort() after calls of a known number; all of them are there, those still in its ring too
#include "calls.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    reduce(2600);
    /* Both send, and both have sent all when one ends. */
    for (int i = 0; i < 77; i++) {
        MPI_Request request;
        int in;
        MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &request);
        MPI_Ssend(&i, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        abort();
    }
    MPI_Recv(&size, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
