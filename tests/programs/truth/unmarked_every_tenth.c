// ranks: 4
// truth: without markers. 20 steps of 40 ms, of rank 0 80 ms; every tenth takes all ranks 80 ms longer and gathers its result.
// expect: computation[p] = 20 * (0.040 + 0.040*(p == 0)) + 2 * 0.080
// expect: load_balance = (20 * (40*P + 40) / P + 160) / (20 * 80 + 160)
// expect: micro_load_balance = 1
// expect: t_ideal_phase_profile_s = 20 * 0.080 + 2 * 0.080
// expect: iterations = 20
#include "work.h"

int main(int argc, char **argv)
{
    int rank, size, sum, all[64];
    double until_ms = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    for (int k = 0; k < 20; k++) {
        double longer_ms = k % 10 == 9 ? 80 : 0;
        until_ms += 80 + longer_ms;
        work((rank == 0 ? 80 : 40) + longer_ms, until_ms);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (k % 10 == 9)
            MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
