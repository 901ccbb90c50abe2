// ranks: 4
// truth: without markers. 24 steps: even ranks work 60 ms and send to the odd rank behind them before they receive from it; odd ranks
// truth: work 30 ms and receive first, from other lines. Every twelfth step has an all-to-all in their place, once from lines
// truth: of their own, once from one line. An all-reduce ends each step.
// expect: computation[p] = 24 * (0.060 - 0.030*((p == 1) + (p == 3)))
// expect: load_balance = 0.75
// expect: micro_load_balance = 1
// expect: t_ideal_phase_profile_s = 24 * 0.060
// expect: iterations = 24
#include "work.h"

static int theirs, all[64], sent[64];

static void everyone_to_everyone(void)
{
    MPI_Alltoall(sent, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    begin_schedule();
    for (int k = 0; k < 24; k++) {
        int is_even = rank % 2 == 0, other = is_even ? rank + 1 : rank - 1;
        work(is_even ? 60 : 30, 60 * (k + 1));
        if (k == 19) {
            everyone_to_everyone();
        } else if (is_even) {
            if (k == 7) {
                MPI_Alltoall(sent, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
            } else {
                MPI_Send(&rank, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
                MPI_Recv(&theirs, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
        } else {
            if (k == 7) {
                MPI_Alltoall(sent, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
            } else {
                MPI_Recv(&theirs, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(&rank, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
            }
        }
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
