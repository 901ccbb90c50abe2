// ranks: 4
// truth: rank 0 works 300 ms in the phase "first" and sends, and each rank receives from the one before it and sends on; then, three times, all
// truth: work 50 ms and the last rank another 150 ms in the phase "last", and they sum up.
// expect: caused[main/first] = 0.300 * (P-1)
// expect: caused[main/round/last][p] = 3 * 0.150 * (P-1) * (p == P-1)
// expect: waits[late sender] = 0.300 * (P-1)
// expect: waits[wait at N×N] = 3 * 0.150 * (P-1)
// expect: waits_for[0][3] = 3 * 0.150
// expect: waits_for[3][0] = 0.300
// expect: replay[ideal network] = 0.900
// expect: critical[main/first] = 0.300
/* Time namespaces shift the monotonic clock, but not this one. */
#define WORK_CLOCK CLOCK_REALTIME
#include "lbprof.h"
#include "work.h"

int main(int argc, char **argv)
{
    int rank, size, token = 0, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    if (rank == 0) {
        LBPROF_PHASE_BEGIN("first");
        work(300, 300);
        LBPROF_PHASE_END("first");
    } else {
        MPI_Recv(&token, 1, MPI_INT, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank < size - 1)
        MPI_Send(&token, 1, MPI_INT, rank + 1, 7, MPI_COMM_WORLD);
    for (int k = 0; k < 3; k++) {
        LBPROF_ITERATION_BEGIN("round");
        LBPROF_PHASE_BEGIN("work");
        work(50, 350 + 200 * k);
        LBPROF_PHASE_END("work");
        if (rank == size - 1) {
            LBPROF_PHASE_BEGIN("last");
            work(150, 500 + 200 * k);
            LBPROF_PHASE_END("last");
        }
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        LBPROF_ITERATION_END("round");
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
