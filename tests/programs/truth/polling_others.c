// ranks: 2
// truth: in each of 8 steps rank 0 works 40 ms and rank 1 works 20 ms, then polls for what rank 0 does at the end of its work: in even steps it
// truth: makes the partitions of a message ready that was started before the work (MPI_Pready, MPI_Parrived; where MPI has none, MPI_Isend and
// truth: MPI_Test), in odd steps it completes its access to a window (MPI_Win_complete, MPI_Win_test). All these are waits of 20 ms of rank 1
// truth: for the work of rank 0 before it makes ready and completes, not for a message that is slow.
// truth: In the end rank 1 cancels a receive from anyone, which belongs to no message: the run can be replayed.
// expect: computation[p] = 8 * 0.020 + (p == 0) * 8 * 0.020
// expect: waits[late sender] = 4 * 0.020
// expect: waits_for[1][0] = 8 * 0.020
// expect: caused[main/step][0] = 8 * 0.020
// expect: by_class.message_delay = 0
// expect: t_ideal_replay_s = 8 * 0.040
// expect: load_balance = 60 / 80
// expect: iterations = 8
// expect: violations = 0
#include "lbprof.h"
#include "work.h"

enum { STEPS = 8, PARTS = 4 };

static int rank, data[PARTS], shared;
static MPI_Request message = MPI_REQUEST_NULL;
static MPI_Win window;

#if MPI_VERSION >= 4
static void prepare(void)
{
    if (rank == 0)
        MPI_Psend_init(data, PARTS, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &message);
    else
        MPI_Precv_init(data, PARTS, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &message);
}

static void start(void)
{
    MPI_Start(&message);
}

static void make_ready(void)
{
    MPI_Pready_range(0, PARTS - 2, message);
    MPI_Pready(PARTS - 1, message);
}

static int has_come(void)
{
    int flag;
    MPI_Parrived(message, PARTS - 1, &flag);
    return flag;
}

static void finish(void)
{
    MPI_Request_free(&message);
}
#else
static void prepare(void)
{
}

static void start(void)
{
    if (rank == 1)
        MPI_Irecv(data, PARTS, MPI_INT, 0, 3, MPI_COMM_WORLD, &message);
}

static void make_ready(void)
{
    MPI_Isend(data, PARTS, MPI_INT, 1, 3, MPI_COMM_WORLD, &message);
}

static int has_come(void)
{
    int flag;
    MPI_Test(&message, &flag, MPI_STATUS_IGNORE);
    return flag;
}

static void finish(void)
{
}
#endif

static void pass_message(int k)
{
    start();
    work(rank == 0 ? 40 : 20, 40 * k + (rank == 0 ? 40 : 20));
    if (rank == 0)
        make_ready();
    else
        while (!has_come()) {
        }
    MPI_Wait(&message, MPI_STATUS_IGNORE);
}

static void put(int k, MPI_Group other)
{
    if (rank == 0) {
        work(40, 40 * k + 40);
        MPI_Win_start(other, 0, window);
        MPI_Win_complete(window);
    } else {
        int flag = 0;
        MPI_Win_post(other, 0, window);
        work(20, 40 * k + 20);
        while (!flag)
            MPI_Win_test(window, &flag);
    }
}

int main(int argc, char **argv)
{
    MPI_Group all, other;
    MPI_Request any;
    int never;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, (int[]){1 - rank}, &other);
    MPI_Win_create(&shared, sizeof shared, sizeof shared, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    prepare();
    begin_schedule();
    for (int k = 0; k < STEPS; k++) {
        LBPROF_ITERATION_BEGIN("step");
        if (k % 2 == 0)
            pass_message(k);
        else
            put(k, other);
        LBPROF_ITERATION_END("step");
    }
    if (rank == 1) {
        MPI_Irecv(&never, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any);
        MPI_Cancel(&any);
        MPI_Wait(&any, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    end_schedule();
    finish();
    MPI_Win_free(&window);
    MPI_Group_free(&other);
    MPI_Group_free(&all);
    MPI_Finalize();
    return 0;
}
