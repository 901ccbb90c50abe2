// ranks: 4
// truth: in each of 12 steps rank 0 works 20 ms and sends to rank 1, which works as long and sends on, until the last; a barrier ends the
// truth: step. No step is marked. All ranks are equal, in each step too: none is slow, each waits for those before it.
// truth: What rank 0 works in the first step lies before its first call, and so before the loop that is found: it is one stretch with its first
// truth: iteration, and nobody is slow in turn. Nor is it less work between two calls of rank 0 than others do between two others of theirs:
// truth: there is nothing to balance.
// expect: computation[p] = 12 * 0.020
// expect: load_balance = 1
// expect: loop[iterations] = 12
// expect: t_ideal_replay_s = 12 * P * 0.020
// expect: verdict.lost_s = 12 * (P-1) * 0.020
// expect: verdict.imbalance_s = 0
// expect: verdict.slow_in_turn_s = 0
// expect: verdict.dependency_chains_s = 12 * (P-1) * 0.020
// expect: t_ideal_phase_profile_s = 12 * 0.020
// expect: verdict.dependency_chains_s = 12 * (P-1) * 0.020
// says: wait for one another in chains, though all have about the same work
// says-not: Gain:
#include "work.h"

int main(int argc, char **argv)
{
    int rank, size, token = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    for (int k = 0; k < 12; k++) {
        if (rank > 0)
            MPI_Recv(&token, 1, MPI_INT, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(20, 20 * (k * size + rank + 1));
        if (rank < size - 1)
            MPI_Send(&token, 1, MPI_INT, rank + 1, 7, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
