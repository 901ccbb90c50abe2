// ranks: 4
// truth: in each of 3 steps rank 0 works 80 ms and sends to rank 1, which works as long and sends on, until the last; a barrier ends the
// truth: step. All ranks are equal, in each step too: none is slow, each waits for those before it. A step takes P × 80 ms.
// expect: computation[p] = 3 * 0.080
// expect: load_balance = 1
// expect: iterations = 3
// expect: t_ideal_phase_profile_s = 3 * 0.080
// expect: t_ideal_replay_s = 3 * P * 0.080
// expect: verdict.lost_s = 3 * (P-1) * 0.080
// expect: verdict.imbalance_s = 0
// expect: verdict.slow_in_turn_s = 0
// expect: verdict.dependency_chains_s = 3 * (P-1) * 0.080
// expect: verdict.dependency_chains_s = 3 * (P-1) * 0.080
// says: wait for one another in chains, though all have about the same work
// says-not: a different rank is the slowest
#include "lbprof.h"
#include "work.h"

int main(int argc, char **argv)
{
    int rank, size, token = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    for (int k = 0; k < 3; k++) {
        LBPROF_ITERATION_BEGIN("step");
        if (rank > 0)
            MPI_Recv(&token, 1, MPI_INT, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(80, 80 * (k * size + rank + 1));
        if (rank < size - 1)
            MPI_Send(&token, 1, MPI_INT, rank + 1, 7, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        LBPROF_ITERATION_END("step");
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
