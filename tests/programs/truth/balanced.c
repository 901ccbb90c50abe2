// ranks: 4 8
// truth: each rank works 200 ms a step; a barrier ends each of 8 steps
// expect: computation[p] = 8 * 0.200
// expect: synchronization[p] = 0
// expect: load_balance = 1
// says: slept or waited for I/O in
// says-not: to gain
// expect: micro_load_balance = 1
// expect: t_ideal_phase_profile_s = 8 * 0.200
// expect: iterations = 8
#include "lbprof.h"
#include "work.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    begin_schedule();
    for (int k = 0; k < 8; k++) {
        LBPROF_ITERATION_BEGIN("step");
        work(200, 200 * (k + 1));
        MPI_Barrier(MPI_COMM_WORLD);
        LBPROF_ITERATION_END("step");
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
