// ranks: 4 8
// truth: without markers. In step k of 8, rank k mod P works 200 ms, the others 50 ms; a barrier ends each step. Over the run all
// truth: work alike, in each step one is slow: the load is balanced, the micro load is not.
// expect: computation[p] = 8/P * 0.200 + (8 - 8/P) * 0.050
// expect: load_balance = 1
// expect: micro_load_balance = (8/P * 0.200 + (8 - 8/P) * 0.050) / (8 * 0.200)
// expect: t_ideal_phase_profile_s = 8 * 0.200
// expect: iterations = 8
#include "work.h"

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    for (int k = 0; k < 8; k++) {
        work(rank == k % size ? 200 : 50, 200 * (k + 1));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
