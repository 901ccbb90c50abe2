// ranks: 2 4
// truth: in step k of 6, rank k mod 2 and every second one from there works 200 ms, the others 50 ms. Recording is paused from the
// truth: end of step 1 to the begin of step 4: step 1 ends, 2 and 3 pass and 4 begins in the pause. What is recorded is four whole
// truth: steps, in which all work alike in the sum; the pause is nobody's computation.
// expect: computation[p] = 2 * 0.200 + 2 * 0.050
// expect: load_balance = 1
// expect: t_ideal_phase_profile_s = 4 * 0.200
// expect: iterations = 4
#include "lbprof.h"
#include "work.h"

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    begin_schedule();
    for (int k = 0; k < 6; k++) {
        int recorded = k < 2 || k > 3;
        LBPROF_ITERATION_BEGIN("step");
        LBPROF_PHASE_BEGIN(recorded ? "solve" : "unseen");
        if (k == 4)
            LBPROF_RECORD(1);
        if (recorded)
            work(rank % 2 == k % 2 ? 200 : 50, 200 * (k + 1));
        else
            nanosleep(&(struct timespec){0, 200000000}, NULL);
        MPI_Barrier(MPI_COMM_WORLD);
        if (k == 1)
            LBPROF_RECORD(0);
        LBPROF_PHASE_END(recorded ? "solve" : "unseen");
        LBPROF_ITERATION_END("step");
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
