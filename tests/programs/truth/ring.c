// ranks: 4 8
// truth: in each of 8 steps, each rank works (rank 0 160 ms, the others 40 ms), then sends to its right and receives from its left
// truth: with nonblocking calls and one Waitall. Rank 0 never waits. Rank p > 0 gets the messages of step k at
// truth: 160(k-p+2) + 40(p-1) ms once k >= p-1, before that without delay: it waits (8-p+1) times 120 ms. The barrier at the end makes
// truth: up for the p-1 steps that it ran ahead.
// expect: computation[p] = 8 * (0.040 + 0.120*(p == 0))
// expect: point-to-point[p] = (1 - (p == 0)) * (8-p+1) * 0.120
// expect: load_balance = (160 + 40*(P-1)) / P / 160
// expect: micro_load_balance = 1
// expect: t_ideal_phase_profile_s = 8 * 0.160
// expect: iterations = 8
#include "lbprof.h"
#include "work.h"

int main(int argc, char **argv)
{
    int rank, size, mine = 0, theirs = 0;
    double free_at[64] = {0}; /* when each rank's next step begins, in ms: all ranks know the whole schedule */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    for (int k = 0; k < 8; k++) {
        double sent_at[64];
        for (int p = 0; p < size; p++)
            sent_at[p] = free_at[p] + (p == 0 ? 160 : 40);
        for (int p = 0; p < size; p++) {
            double left = sent_at[(p + size - 1) % size];
            free_at[p] = left > sent_at[p] ? left : sent_at[p];
        }
        LBPROF_ITERATION_BEGIN("step");
        work(rank == 0 ? 160 : 40, free_at[rank]);
        MPI_Request requests[2];
        MPI_Irecv(&theirs, 1, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&mine, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        LBPROF_ITERATION_END("step");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    end_schedule();
    MPI_Finalize();
    return 0;
}
