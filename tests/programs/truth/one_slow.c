// ranks: 4
// truth: the last rank works 160 ms a step, the others 40 ms; an all-reduce ends each of 10 steps
// expect: computation[p] = 10 * (0.040 + 0.120*(p == P-1))
// expect: collective[p] = 10 * 0.120 * (1 - (p == P-1))
// expect: load_balance = (160 + 40*(P-1)) / P / 160
// expect: micro_load_balance = 1
// expect: t_ideal_phase_profile_s = 10 * 0.160
// expect: iterations = 10
#include "lbprof.h"
#include "work.h"

int main(int argc, char **argv)
{
    int rank, size, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    for (int k = 0; k < 10; k++) {
        LBPROF_ITERATION_BEGIN("step");
        work(rank == size - 1 ? 160 : 40, 160 * (k + 1));
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        LBPROF_ITERATION_END("step");
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
