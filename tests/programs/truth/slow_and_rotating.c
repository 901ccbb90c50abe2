// ranks: 4
// truth: in step k of 8, rank 0 works 100 ms, the others 50 ms, and rank k mod P 100 ms more; a barrier ends each step. The longest of
// truth: a step is 200 ms when rank 0 has its turn (8/P times), else 150 ms.
// expect: computation[p] = 8 * (0.050 + 0.050*(p == 0)) + 8/P * 0.100
// expect: load_balance = (8*0.050 + 8/P*0.100 + 8*0.050/P) / (8*0.100 + 8/P*0.100)
// expect: micro_load_balance = (8*0.100 + 8/P*0.100) / (8/P*0.200 + (8 - 8/P)*0.150)
// expect: t_ideal_phase_profile_s = 8/P*0.200 + (8 - 8/P)*0.150
// expect: iterations = 8
#include "lbprof.h"
#include "work.h"

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    double step_end = 0; /* ms */
    for (int k = 0; k < 8; k++) {
        LBPROF_ITERATION_BEGIN("step");
        step_end += k % size == 0 ? 200 : 150;
        work(50 + (rank == 0 ? 50 : 0) + (rank == k % size ? 100 : 0), step_end);
        MPI_Barrier(MPI_COMM_WORLD);
        LBPROF_ITERATION_END("step");
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
