// ranks: 4 8
// truth: twice: rank 0 works 1200/P ms and sends to rank 1, which works as long and sends on, until the last; then a barrier.
// truth: Each waits for those before it in its receive, and for those behind it in the barrier.
// expect: computation[p] = 2 * 1.2/P
// expect: point-to-point[p] = 2 * p * 1.2/P
// expect: synchronization[p] = 2 * (P-1-p) * 1.2/P
// expect: load_balance = 1
// expect: verdict.serialization_s = 2 * (P-1) * 1.2/P
// expect: verdict.slow_in_turn_s = none
// says: ranks wait for one another more than the work of any of them explains
// says-not: a different rank is the slowest
#include "work.h"

int main(int argc, char **argv)
{
    int rank, size, token = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    for (int round = 0; round < 2; round++) {
        if (rank > 0)
            MPI_Recv(&token, 1, MPI_INT, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(1200.0 / size, 1200.0 * round + 1200.0 / size * (rank + 1));
        if (rank < size - 1)
            MPI_Send(&token, 1, MPI_INT, rank + 1, 7, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
