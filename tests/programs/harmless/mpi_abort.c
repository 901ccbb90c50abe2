// ranks: 2
// records: Allreduce 2500
// end: abort
// abort-code: 7
// maybe: NotClosed Unfinished
// truth: rank 1 aborts while rank 0 waits for a message that never comes
#include "calls.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    reduce(2500);
    if (rank == 1)
        MPI_Abort(MPI_COMM_WORLD, 7);
    MPI_Recv(&size, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
