// ranks: 4 8
// truth: the last rank works 80 ms a step, the others 20 ms; an all-reduce ends each of 20 steps
// expect: computation[p] = 20 * (0.020 + 0.060*(p == P-1))
// expect: collective[p] = 20 * 0.060 * (1 - (p == P-1))
// expect: load_balance = (80 + 20*(P-1)) / P / 80
// expect: micro_load_balance = 1
// expect: t_ideal_phase_profile_s = 20 * 0.080
// expect: iterations = 20
#include "lbprof.h"
#include "work.h"

int main(int argc, char **argv)
{
    int rank, size, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    for (int k = 0; k < 20; k++) {
        LBPROF_ITERATION_BEGIN("step");
        work_until(80 * k + (rank == size - 1 ? 80 : 20));
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        LBPROF_ITERATION_END("step");
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
