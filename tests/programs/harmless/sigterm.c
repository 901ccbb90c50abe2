// ranks: 2
// records: Allreduce 2600
// problems: NotClosed
// maybe: Unfinished
// truth: rank 0 ends rank 1 by SIGTERM from outside, in the middle of a call
#include "calls.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int pid = getpid(), other;
    MPI_Sendrecv(&pid, 1, MPI_INT, 1 - rank, 1, &other, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    reduce(2600);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        usleep(20000);
        kill(other, SIGTERM);
    }
    MPI_Recv(&size, 1, MPI_INT, 1 - rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
