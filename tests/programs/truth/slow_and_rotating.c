// ranks: 4 8
// truth: in step k of 16, rank 0 works 40 ms, the others 20 ms, and rank k mod P 40 ms more; a barrier ends each step. The longest of
// truth: a step is 80 ms when rank 0 has its turn (16/P times), else 60 ms.
// expect: computation[p] = 16 * (0.020 + 0.020*(p == 0)) + 16/P * 0.040
// expect: load_balance = (16*0.020 + 16/P*0.040 + 16*0.020/P) / (16*0.040 + 16/P*0.040)
// expect: micro_load_balance = (16*0.040 + 16/P*0.040) / (16/P*0.080 + (16 - 16/P)*0.060)
// expect: t_ideal_phase_profile_s = 16/P*0.080 + (16 - 16/P)*0.060
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
    double step_begin = 0;
    for (int k = 0; k < 16; k++) {
        LBPROF_ITERATION_BEGIN("step");
        work_until(step_begin + 20 + (rank == 0 ? 20 : 0) + (rank == k % size ? 40 : 0));
        MPI_Barrier(MPI_COMM_WORLD);
        LBPROF_ITERATION_END("step");
        step_begin += k % size == 0 ? 80 : 60;
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
