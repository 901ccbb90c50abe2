// ranks: 2
// truth: in each of 12 steps rank 0 works 40 ms and rank 1 works 20 ms, then rank 1 waits for what rank 0 writes into a window, or for its message, in one of five
// truth: ways by turns: it calls MPI_Win_sync again and again; it reads its own window by MPI_Fetch_and_op and MPI_Win_flush, or by
// truth: MPI_Win_lock, MPI_Get and MPI_Win_unlock; it probes for eight tags; it tests three requests by MPI_Testsome. All this is waiting, 20 ms in each step.
// expect: computation[p] = 12 * 0.020 + (p == 0) * 12 * 0.020
// expect: one-sided[p] = (p == 1) * 8 * 0.020
// expect: point-to-point[p] = (p == 1) * 4 * 0.020
// expect: load_balance = 30 / 40
// truth: The recorder folds what is repeated.
// expect: events_above[4000] = 0
// expect: iterations = 12
#include "lbprof.h"
#include "work.h"

enum { STEPS = 12, WAYS = 5, DATA = 8, TAGS = 8 };

static int rank, mine, theirs[3];
static volatile int *shared;
static int *number, *locked;
static MPI_Win shared_window, window, locked_window;

/* Rank 0 lets rank 1 go on in step `k`. */
static void release(int k, int way)
{
    switch (way) {
    case 0:
        *shared = k;
        MPI_Win_sync(shared_window);
        break;
    case 1:
        MPI_Accumulate(&k, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_REPLACE, window);
        MPI_Win_flush(1, window);
        break;
    case 2:
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, locked_window);
        MPI_Put(&k, 1, MPI_INT, 1, 0, 1, MPI_INT, locked_window);
        MPI_Win_unlock(1, locked_window);
        break;
    default: MPI_Send(&k, 1, MPI_INT, 1, DATA, MPI_COMM_WORLD); break;
    }
}

/* Rank 1 waits for that. */
static void wait_for_release(int k, int way)
{
    int got = 0, flag = 0, count = 0, indices[3];
    MPI_Request requests[3];
    MPI_Status statuses[3];
    switch (way) {
    case 0:
        while (*shared < k)
            MPI_Win_sync(shared_window);
        break;
    case 1:
        while (got < k) {
            MPI_Fetch_and_op(NULL, &got, MPI_INT, 1, 0, MPI_NO_OP, window);
            MPI_Win_flush(1, window);
        }
        break;
    case 2:
        while (got < k) {
            MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, locked_window);
            MPI_Get(&got, 1, MPI_INT, 1, 0, 1, MPI_INT, locked_window);
            MPI_Win_unlock(1, locked_window);
        }
        break;
    case 3:
        while (!flag)
            for (int tag = 1; tag <= TAGS && !flag; tag++)
                MPI_Iprobe(0, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        MPI_Recv(&got, 1, MPI_INT, 0, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        break;
    default:
        for (int i = 0; i < 3; i++)
            MPI_Irecv(&theirs[i], 1, MPI_INT, 0, DATA + i, MPI_COMM_WORLD, &requests[i]);
        while (count == 0)
            MPI_Testsome(3, requests, &count, indices, statuses);
        for (int i = 1; i < 3; i++) {
            MPI_Cancel(&requests[i]);
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        }
        break;
    }
}

int main(int argc, char **argv)
{
    MPI_Aint bytes;
    int unit;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate_shared(rank == 0 ? 64 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&shared, &shared_window);
    MPI_Win_shared_query(shared_window, 0, &bytes, &unit, (void *)&shared);
    MPI_Win_allocate(sizeof *number, sizeof *number, MPI_INFO_NULL, MPI_COMM_WORLD, &number, &window);
    MPI_Win_allocate(sizeof *locked, sizeof *locked, MPI_INFO_NULL, MPI_COMM_WORLD, &locked, &locked_window);
    *number = *locked = 0;
    if (rank == 0)
        *shared = 0;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, shared_window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    begin_schedule();
    for (int k = 1; k <= STEPS; k++) {
        LBPROF_ITERATION_BEGIN("step");
        work(rank == 0 ? 40 : 20, 40 * (k - 1) + (rank == 0 ? 40 : 20));
        if (rank == 0)
            release(k, (k - 1) % WAYS);
        else
            wait_for_release(k, (k - 1) % WAYS);
        LBPROF_ITERATION_END("step");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    end_schedule();
    MPI_Win_unlock_all(window);
    MPI_Win_unlock_all(shared_window);
    MPI_Win_free(&locked_window);
    MPI_Win_free(&window);
    MPI_Win_free(&shared_window);
    MPI_Finalize();
    return 0;
}
