// ranks: 4 8
// truth: all work 50 ms before each collective. The root works 100 ms more in the phase "root" before a broadcast: all others wait for it. Rank
// truth: 1 works 100 ms more in the phase "late" before a reduction, and before a gather: rank 0, the root, waits for it, and the others
// truth: wait for both in the barrier behind. Three times.
// expect: computation[p] = 3 * (3*0.050 + 0.100*(p == 0) + 0.200*(p == 1))
// expect: waits[late broadcast] = 3 * 0.100 * (P-1)
// expect: waits[early reduce] = 3 * 2 * 0.100
// expect: waits[wait at barrier] = 3 * 2 * 0.100 * (P-2)
// expect: caused[main/round/root][p] = 3 * 0.100 * (P-1) * (p == 0)
// expect: caused[main/round/late][p] = 3 * 2 * 0.100 * (P-1) * (p == 1)
// expect: waits_for[0][1] = 3 * 2 * 0.100
// expect: waits_for[2][0] = 3 * 0.100
// expect: replay[ideal network] = 3 * 0.450
// expect: critical[main/round/root] = 3 * 0.100
// expect: critical[main/round/late] = 3 * 2 * 0.100
#include "lbprof.h"
#include "work.h"

/* All work, one of them longer. */
static void step(int longer, const char *phase, double *now_ms)
{
    *now_ms += 150;
    LBPROF_PHASE_BEGIN("work");
    work(50, *now_ms - 100);
    LBPROF_PHASE_END("work");
    if (longer) {
        LBPROF_PHASE_BEGIN(phase);
        work(100, *now_ms);
        LBPROF_PHASE_END(phase);
    }
}

int main(int argc, char **argv)
{
    int rank, sum, all[64];
    double now_ms = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    begin_schedule();
    for (int k = 0; k < 3; k++) {
        LBPROF_ITERATION_BEGIN("round");
        step(rank == 0, "root", &now_ms);
        MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD);
        step(rank == 1, "late", &now_ms);
        MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        step(rank == 1, "late", &now_ms);
        MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        LBPROF_ITERATION_END("round");
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
