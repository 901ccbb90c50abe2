// ranks: 4
// truth: Three times, in ms from the begin of each:
// truth: - all work 50. Rank 0 works 100 more in the phase "post" before it exposes its window to ranks 1 and 2: both wait for that in their
// truth:   start. Rank 2 works 100 in the phase "late" before it completes: rank 0 waits for that, then works 50 in the phase "after".
// truth:   A barrier ends it, which ranks 3, 1, 2 and 0 enter at 50, 150, 250 and 300.
// truth: - Rank 3 does nothing but wait in a barrier, so that locks of its window are given at once. Rank 0 has it for 100, rank 1 works 50 and
// truth:   waits 50 for it, has it for 100; rank 2 works 150, and waits 50 for rank 1. Then it works 50 in the phase "end".
// expect: computation[p] = 3 * (0.300*(p == 0) + 0.200*(p == 1) + 0.350*(p == 2) + 0.050*(p == 3))
// expect: waits[wait for post] = 3 * 2 * 0.100
// expect: waits[wait for complete] = 3 * 0.100
// expect: waits[wait for lock] = 3 * 2 * 0.050
// expect: waits[wait at barrier] = 3 * (0.450 + 0.450)
// expect: caused[main/round/post][p] = 3 * 0.300 * (p == 0)
// expect: caused[main/round/late][p] = 3 * 0.300 * (p == 2)
// expect: caused[main/round/after][p] = 3 * 0.150 * (p == 0)
// expect: waits_for[1][0] = 3 * 0.200
// expect: replay[ideal network] = 3 * 0.550
// expect: t_ideal_replay_s = 3 * 0.550
#include "lbprof.h"
#include "work.h"

static void phase(const char *name, double ms, double until_ms)
{
    LBPROF_PHASE_BEGIN(name);
    work(ms, until_ms);
    LBPROF_PHASE_END(name);
}

/* Rank 0 is accessed by ranks 1 and 2. */
static void exposed(int rank, MPI_Group origins, MPI_Group target, MPI_Win win, double now_ms)
{
    phase("work", 50, now_ms + 50);
    if (rank == 0) {
        phase("post", 100, now_ms + 150);
        MPI_Win_post(origins, 0, win);
        MPI_Win_wait(win);
        phase("after", 50, now_ms + 300);
    } else if (rank < 3) {
        MPI_Win_start(target, 0, win);
        MPI_Put(&rank, 1, MPI_INT, 0, rank, 1, MPI_INT, win);
        if (rank == 2)
            phase("late", 100, now_ms + 250);
        MPI_Win_complete(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* One after the other has a lock of rank 3. */
static void locked(int rank, MPI_Win win, double now_ms)
{
    static const int before_ms[] = {0, 50, 150};
    if (rank < 3) {
        if (rank > 0)
            phase("work", before_ms[rank], now_ms + before_ms[rank]);
        MPI_Win_lock(rank < 2 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 3, 0, win);
        MPI_Put(&rank, 1, MPI_INT, 3, rank, 1, MPI_INT, win);
        if (rank < 2)
            phase("hold", 100, now_ms + (rank == 0 ? 100 : 200));
        MPI_Win_unlock(3, win);
        if (rank == 2)
            phase("end", 50, now_ms + 250);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank, *memory;
    MPI_Group all, origins, target;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, (int[]){1, 2}, &origins);
    MPI_Group_incl(all, 1, (int[]){0}, &target);
    MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    begin_schedule();
    for (int k = 0; k < 3; k++) {
        LBPROF_ITERATION_BEGIN("round");
        exposed(rank, origins, target, win, 550 * k);
        locked(rank, win, 550 * k + 300);
        LBPROF_ITERATION_END("round");
    }
    end_schedule();
    MPI_Win_free(&win);
    MPI_Group_free(&all);
    MPI_Group_free(&origins);
    MPI_Group_free(&target);
    MPI_Finalize();
    return 0;
}
