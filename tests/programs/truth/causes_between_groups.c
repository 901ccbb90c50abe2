// ranks: 4
// truth: ranks 0 and 1 have an inter-communicator with 2 and 3. Three times:
// truth: - all work 50 ms, rank 0 another 100 ms in the phase "long" before a barrier of both groups, in which all others wait for it;
// truth: - all work 50 ms, rank 1 another 100 ms in the phase "root" before it broadcasts to the other group: that waits for it, rank 0 does not.
// truth:   Then rank 2 sends to rank 0, which has waited for as long: the phase of rank 1 is the cause.
// expect: computation[p] = 3 * (0.100 + 0.100*((p == 0) + (p == 1)))
// expect: waits[wait at barrier] = 3 * 3 * 0.100
// expect: waits[late broadcast] = 3 * 2 * 0.100
// expect: waits[late sender] = 3 * 0.100
// expect: caused[main/round/long][p] = 3 * 3 * 0.100 * (p == 0)
// expect: caused[main/round/root][p] = 3 * 3 * 0.100 * (p == 1)
// expect: waits_for[0][1] = 3 * 0.100
// expect: replay[ideal network] = 3 * 0.300
// expect: t_ideal_replay_s = 3 * 0.300
#include "lbprof.h"
#include "work.h"

/* All work, one of them longer. */
static void step(int longer, const char *phase, double now_ms)
{
    LBPROF_PHASE_BEGIN("work");
    work(50, now_ms + 50);
    LBPROF_PHASE_END("work");
    if (longer) {
        LBPROF_PHASE_BEGIN(phase);
        work(100, now_ms + 150);
        LBPROF_PHASE_END(phase);
    }
}

int main(int argc, char **argv)
{
    int rank, data = 0;
    MPI_Comm group, both;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &group);
    MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 7, &both);
    begin_schedule();
    for (int k = 0; k < 3; k++) {
        LBPROF_ITERATION_BEGIN("round");
        step(rank == 0, "long", 300 * k);
        MPI_Barrier(both);
        step(rank == 1, "root", 300 * k + 150);
        MPI_Bcast(&data, 1, MPI_INT, rank == 1 ? MPI_ROOT : rank == 0 ? MPI_PROC_NULL : 1, both);
        /* In both groups, the first one. */
        if (rank == 2)
            MPI_Send(&data, 1, MPI_INT, 0, 5, both);
        if (rank == 0)
            MPI_Recv(&data, 1, MPI_INT, 0, 5, both, MPI_STATUS_IGNORE);
        LBPROF_ITERATION_END("round");
    }
    end_schedule();
    MPI_Comm_free(&both);
    MPI_Comm_free(&group);
    MPI_Finalize();
    return 0;
}
