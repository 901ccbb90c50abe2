// ranks: 4
// truth: pipeline.c, but in step k of 8 rank k mod P works 80 ms, the others 40 ms. Both kinds of serialization at once: over the run all
// truth: work alike, (8 + 8/P) × 40 ms; the slowest of each step 8 × 80 ms; one after the other 8 × (P + 1) × 40 ms.
// expect: computation[p] = (8 + 8/P) * 0.040
// expect: load_balance = 1
// expect: iterations = 8
// expect: t_ideal_phase_profile_s = 8 * 0.080
// expect: t_ideal_replay_s = 8 * (P+1) * 0.040
// expect: verdict.slow_in_turn_s = 8 * 0.080 - (8 + 8/P) * 0.040
// expect: verdict.dependency_chains_s = 8 * (P-1) * 0.040
// expect: verdict.slow_in_turn_s = 8 * 0.080 - (8 + 8/P) * 0.040
// expect: verdict.dependency_chains_s = 8 * (P-1) * 0.040
// says: wait for one another in chains
// says: in each iteration a different rank is the slowest
#include "lbprof.h"
#include "work.h"

int main(int argc, char **argv)
{
    int rank, size, token = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    for (int k = 0; k < 8; k++) {
        LBPROF_ITERATION_BEGIN("step");
        if (rank > 0)
            MPI_Recv(&token, 1, MPI_INT, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(rank == k % size ? 80 : 40, 40 * (k * (size + 1) + rank + 1 + (rank >= k % size)));
        if (rank < size - 1)
            MPI_Send(&token, 1, MPI_INT, rank + 1, 7, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        LBPROF_ITERATION_END("step");
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
