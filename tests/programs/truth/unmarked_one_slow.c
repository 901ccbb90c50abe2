// ranks: 4
// truth: without markers. The last rank works 160 ms a step, the others 40 ms; ranks exchange with their neighbours, and an
// truth: all-reduce ends each of 10 steps. Before and behind the loop is one barrier each.
// expect: computation[p] = 10 * (0.040 + 0.120*(p == P-1))
// expect: load_balance = (160 + 40*(P-1)) / P / 160
// expect: micro_load_balance = 1
// expect: t_ideal_phase_profile_s = 10 * 0.160
// expect: iterations = 10
#include "work.h"

int main(int argc, char **argv)
{
    int rank, size, sum, theirs;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < 10; k++) {
        work(rank == size - 1 ? 160 : 40, 160 * (k + 1));
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &theirs, 1, MPI_INT, (rank + size - 1) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    end_schedule();
    MPI_Finalize();
    return 0;
}
