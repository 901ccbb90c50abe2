// ranks: 4
// truth: in each of 8 steps, one rank works 300 ms, the others 75 ms: rank 0, then 3, 2, 1, and again. Each then sends to its right and
// truth: receives from its left, and waits for both. The steps end, in ms from the begin of each round of four:
// truth:
// truth:     rank 0   300    375    450    750 (waits for 3)
// truth:     rank 1   300 (waits for 0)    375    450    750
// truth:     rank 2    75    375 (waits for 1)    675    750
// truth:     rank 3    75    375    675 (waits for 2)    750
// truth:
// truth: Each waits once for 225 ms. What the second wait is for is the work of rank 0, for which rank 1 waited; that of the fourth rank 2's.
// truth: Steps are nowhere held up by all of the slow ranks: the ideal time is 750 ms a round, not four times 300 ms.
// expect: computation[p] = 2 * 0.525
// expect: waits[late sender] = 2 * 4 * 0.225
// expect: caused[main/step/work][p] = 2 * 0.450 * ((p == 0) + (p == 2))
// expect: waits_for[2][0] = 2 * 0.225
// expect: waits_for[0][2] = 2 * 0.225
// expect: by_class.imbalance_temporal = 2 * 4 * 0.225
// expect: verdict.slow_in_turn_s = 2 * 0.225
// expect: verdict.dependency_chains_s = 0
// expect: load_balance = 1
// expect: micro_load_balance = 0.525 / 0.750
// expect: t_ideal_replay_s = 2 * 0.750
// expect: t_ideal_phase_profile_s = 8 * 0.300
// expect: replay[ideal network] = 2 * 0.750
// expect: critical[main/step/work] = 2 * 0.750
// expect: iterations = 8
#include "lbprof.h"
#include "work.h"

int main(int argc, char **argv)
{
    static const int ends_ms[4][4] = {
        {300, 300, 75, 75},
        {375, 375, 375, 375},
        {450, 450, 675, 675},
        {750, 750, 750, 750},
    };
    static const int waits_ms[4][4] = {{0, 225, 0, 0}, {0, 0, 225, 0}, {0, 0, 0, 225}, {225, 0, 0, 0}};
    int rank, size, mine = 0, theirs = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    for (int k = 0; k < 8; k++) {
        LBPROF_ITERATION_BEGIN("step");
        LBPROF_PHASE_BEGIN("work");
        work(rank == (8 - k) % 4 ? 300 : 75, 750 * (k / 4) + ends_ms[k % 4][rank] - waits_ms[k % 4][rank]);
        LBPROF_PHASE_END("work");
        MPI_Request requests[2];
        MPI_Irecv(&theirs, 1, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&mine, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        LBPROF_ITERATION_END("step");
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
