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
    exchange(77);
    if (rank == 1) {
        abort();
    }
    MPI_Recv(&size, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
