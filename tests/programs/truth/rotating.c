// ranks: 4 8
// truth: in step k of 16, rank k mod P works 80 ms, the others 20 ms; a barrier ends each step. Over the run all work alike:
// truth: the load is balanced, each single step is not. The ideal time is that of the slow ones: 16 × 80 ms.
// expect: computation[p] = 16/P * 0.080 + (16 - 16/P) * 0.020
// expect: synchronization[p] = (16 - 16/P) * 0.060
// expect: load_balance = 1
// expect: micro_load_balance = (16/P * 0.080 + (16 - 16/P) * 0.020) / (16 * 0.080)
// expect: t_ideal_phase_profile_s = 16 * 0.080
// expect: iterations = 16
#include "lbprof.h"
#include "work.h"

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    for (int k = 0; k < 16; k++) {
        LBPROF_ITERATION_BEGIN("step");
        work_until(80 * k + (rank == k % size ? 80 : 20));
        MPI_Barrier(MPI_COMM_WORLD);
        LBPROF_ITERATION_END("step");
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
