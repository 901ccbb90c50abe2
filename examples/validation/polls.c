/* Two ranks work 20 ms and 5 ms in each of 30 steps, then exchange 1 kB, each step ended by the same kind of wait or poll:
 *
 *     polls WAY [balanced]
 *
 * With `balanced` each works 12.5 ms. Rank 0 prints the milliseconds that the steps took. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 30, BYTES = 1024, PARTS = 4 };

static char mine[BYTES], theirs[BYTES];
static int rank, other;
static MPI_Request to, from;
static MPI_Status statuses[2];
static MPI_Win window;
static MPI_Group group;

static void spin_until(double end_s)
{
    while (MPI_Wtime() < end_s) {
    }
}

static void send_only(void)
{
    MPI_Isend(mine, BYTES, MPI_BYTE, other, 1, MPI_COMM_WORLD, &to);
}

static void exchange(void)
{
    MPI_Irecv(theirs, BYTES, MPI_BYTE, other, 1, MPI_COMM_WORLD, &from);
    send_only();
}

static void waitall(void)
{
    exchange();
    MPI_Request both[2] = {from, to};
    MPI_Waitall(2, both, statuses);
}

static void finish(void)
{
    MPI_Wait(&to, MPI_STATUS_IGNORE);
}

static void test(void)
{
    int flag = 0;
    exchange();
    while (!flag)
        MPI_Test(&from, &flag, MPI_STATUS_IGNORE);
    finish();
}

static void test_2us(void)
{
    int flag = 0;
    exchange();
    while (!flag) {
        MPI_Test(&from, &flag, MPI_STATUS_IGNORE);
        if (!flag)
            spin_until(MPI_Wtime() + 2e-6);
    }
    finish();
}

static void two_tests(void)
{
    int has = 0, sent = 0;
    exchange();
    while (!has || !sent) {
        if (!has)
            MPI_Test(&from, &has, MPI_STATUS_IGNORE);
        if (!sent)
            MPI_Test(&to, &sent, MPI_STATUS_IGNORE);
    }
}

static void testall(void)
{
    int flag = 0;
    exchange();
    MPI_Request both[2] = {from, to};
    while (!flag)
        MPI_Testall(2, both, &flag, statuses);
}

static void testany(void)
{
    int flag, index;
    exchange();
    MPI_Request both[2] = {from, to};
    for (int done = 0; done < 2; done += flag)
        MPI_Testany(2, both, &index, &flag, MPI_STATUS_IGNORE);
}

static void testsome(void)
{
    int count, indices[2];
    exchange();
    MPI_Request both[2] = {from, to};
    for (int done = 0; done < 2; done += count)
        MPI_Testsome(2, both, &count, indices, statuses);
}

static void iprobe(void)
{
    int flag = 0;
    send_only();
    while (!flag)
        MPI_Iprobe(other, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Recv(theirs, BYTES, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    finish();
}

static void improbe(void)
{
    int flag = 0;
    MPI_Message message;
    send_only();
    while (!flag)
        MPI_Improbe(other, 1, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(theirs, BYTES, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    finish();
}

static void get_status(void)
{
    int flag = 0;
    exchange();
    while (!flag)
        MPI_Request_get_status(from, &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&from, MPI_STATUS_IGNORE);
    finish();
}

/* Rank 0 puts into the window of rank 1, which polls for the end of that. */
static void win_test(void)
{
    if (rank == 1) {
        MPI_Win_post(group, 0, window);
        for (int flag = 0; !flag;)
            MPI_Win_test(window, &flag);
    } else {
        MPI_Win_start(group, 0, window);
        MPI_Put(mine, BYTES, MPI_BYTE, other, 0, BYTES, MPI_BYTE, window);
        MPI_Win_complete(window);
    }
}

#if MPI_VERSION >= 4
static MPI_Request parts_to, parts_from;

static void parrived(void)
{
    MPI_Start(&parts_from);
    MPI_Start(&parts_to);
    MPI_Pready_range(0, PARTS - 1, parts_to);
    for (int part = 0; part < PARTS; part++)
        for (int flag = 0; !flag;)
            MPI_Parrived(parts_from, part, &flag);
    MPI_Wait(&parts_from, MPI_STATUS_IGNORE);
    MPI_Wait(&parts_to, MPI_STATUS_IGNORE);
}
#endif

static const struct {
    const char *name;
    void (*run)(void);
} WAYS[] = {
    {"waitall", waitall},     {"test", test},       {"test-2us", test_2us}, {"two-tests", two_tests},
    {"testall", testall},     {"testany", testany}, {"testsome", testsome}, {"iprobe", iprobe},
    {"improbe", improbe},     {"win-test", win_test}, {"get-status", get_status},
#if MPI_VERSION >= 4
    {"parrived", parrived},
#endif
};

int main(int argc, char **argv)
{
    MPI_Group all;
    void (*way)(void) = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    for (unsigned i = 0; i < sizeof WAYS / sizeof *WAYS; i++)
        if (argc > 1 && !strcmp(argv[1], WAYS[i].name))
            way = WAYS[i].run;
    if (!way)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &other, &group);
    MPI_Win_create(theirs, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
#if MPI_VERSION >= 4
    MPI_Psend_init(mine, PARTS, BYTES / PARTS, MPI_BYTE, other, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &parts_to);
    MPI_Precv_init(theirs, PARTS, BYTES / PARTS, MPI_BYTE, other, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &parts_from);
#endif
    double work_s = argc > 2 ? 12.5e-3 : rank == 0 ? 20e-3 : 5e-3;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin_s = MPI_Wtime();
    for (int step = 0; step < STEPS; step++) {
        spin_until(MPI_Wtime() + work_s);
        way();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.1f\n", 1e3 * (MPI_Wtime() - begin_s));
#if MPI_VERSION >= 4
    MPI_Request_free(&parts_to);
    MPI_Request_free(&parts_from);
#endif
    MPI_Win_free(&window);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    MPI_Finalize();
    return 0;
}
