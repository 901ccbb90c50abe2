// ranks: 2 4
// truth: three times, each even rank works 150 ms and sends 8 MB to the next rank, which works 150 ms and another 300 ms in the phase "busy"
// truth: before it receives: the message can't leave until then.
// expect: computation[p] = 3 * 0.150 + 3 * 0.300 * ((p == 1) + (p == 3))
// expect: waits[late receiver] = 3 * 0.300 * P/2
// expect: caused[main/round/busy] = 3 * 0.300 * P/2
// expect: caused[main/round/busy][1] = 3 * 0.300
// expect: caused[main/round/busy][0] = 0
// expect: critical[main/round/busy] = 3 * 0.300
// expect: by_class.imbalance_global = 3 * 0.300 * P/2
#include "lbprof.h"
#include "work.h"

#include <string.h>

int main(int argc, char **argv)
{
    enum { BYTES = 8 << 20 };
    int rank;
    char *message = malloc(BYTES);
    /* The pages are there, and below the buffers between the ranks, before the schedule begins. */
    memset(message, 1, BYTES);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2; i++) {
        if (rank % 2 == 0)
            MPI_Send(message, BYTES, MPI_CHAR, rank + 1, 1, MPI_COMM_WORLD);
        else
            MPI_Recv(message, BYTES, MPI_CHAR, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    begin_schedule();
    for (int k = 0; k < 3; k++) {
        LBPROF_ITERATION_BEGIN("round");
        /* Each round has 50 ms more than it needs, for the message to arrive. */
        double begin_ms = 500.0 * k;
        LBPROF_PHASE_BEGIN("work");
        work(150, begin_ms + 200);
        LBPROF_PHASE_END("work");
        if (rank % 2 == 0) {
            MPI_Send(message, BYTES, MPI_CHAR, rank + 1, 1, MPI_COMM_WORLD);
        } else {
            LBPROF_PHASE_BEGIN("busy");
            work(300, begin_ms + 500);
            LBPROF_PHASE_END("busy");
            MPI_Recv(message, BYTES, MPI_CHAR, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        LBPROF_ITERATION_END("round");
    }
    free(message);
    end_schedule();
    MPI_Finalize();
    return 0;
}
