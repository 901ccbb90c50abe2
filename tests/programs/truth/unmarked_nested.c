// ranks: 4
// truth: without markers. 8 steps of 3 substeps: the last rank works 40 ms a substep, the others 20 ms, and ranks exchange with their
// truth: neighbours; 40 ms more on all ranks, and a barrier, end each step.
// expect: computation[p] = 8 * (3 * (0.020 + 0.020*(p == P-1)) + 0.040)
// expect: load_balance = (3 * (20*P + 20) / P + 40) / 160
// expect: micro_load_balance = 1
// expect: t_ideal_phase_profile_s = 8 * 0.160
// expect: iterations = 8
#include "work.h"

int main(int argc, char **argv)
{
    int rank, size, sum;
    double until_ms = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    for (int k = 0; k < 8; k++) {
        for (int sub = 0; sub < 3; sub++) {
            until_ms += 40;
            work(rank == size - 1 ? 40 : 20, until_ms);
            MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        }
        until_ms += 40;
        work(40, until_ms);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
