// ranks: 4 8
// truth: in step k of 8, rank k mod P works 200 ms, the others 50 ms; a barrier ends each step. Over the run all work alike:
// truth: the load is balanced, each single step is not. The ideal time is that of the slow ones: 8 × 200 ms.
// expect: computation[p] = 8/P * 0.200 + (8 - 8/P) * 0.050
// expect: synchronization[p] = (8 - 8/P) * 0.150
// expect: load_balance = 1
// expect: micro_load_balance = (8/P * 0.200 + (8 - 8/P) * 0.050) / (8 * 0.200)
// expect: t_ideal_phase_profile_s = 8 * 0.200
// expect: iterations = 8
// expect: verdict.slow_in_turn_s = 8 * 0.200 - (8/P * 0.200 + (8 - 8/P) * 0.050)
// expect: verdict.dependency_chains_s = 0
// expect: verdict.slow_in_turn_s = 8 * 0.200 - (8/P * 0.200 + (8 - 8/P) * 0.050)
// says: in each iteration a different rank is the slowest
// says-not: chain
#include "lbprof.h"
#include "work.h"

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    for (int k = 0; k < 8; k++) {
        LBPROF_ITERATION_BEGIN("step");
        work(rank == k % size ? 200 : 50, 200 * (k + 1));
        MPI_Barrier(MPI_COMM_WORLD);
        LBPROF_ITERATION_END("step");
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
