// ranks: 8
// truth: ranks on a line work, and exchange what they need with their neighbours in one of many styles, step by step. All work 6 ms a step, and
// truth: some ranks more in some steps: whoever waits, waits for these ranks, directly or by way of others that wait for them.
//
//     styles STYLE STEPS RANK:MS:PERIOD:FIRST...
//
// has RANK work MS more in every PERIOD-th step from FIRST on. Rank 0 prints for how many seconds all ranks wait by that plan, or "no such style"
// where this MPI has none. A delay goes on to ranks in reach with each step, and the last step is followed by a barrier.
#include "work.h"

#include <string.h>

enum { MOST_RANKS = 32, MOST_STEPS = 64, BYTES = 1000, LEAST_MS = 6 };

static int rank, size, steps, n_neighbours, neighbours[2];
static char sent[2][BYTES], received[2][BYTES];
static double work_ms[MOST_STEPS][MOST_RANKS];
static MPI_Request requests[4];
static MPI_Comm line;
static MPI_Win window;
static MPI_Group group;

/* --- styles: one step of an exchange --- */

static void start_receives(void)
{
    for (int i = 0; i < n_neighbours; i++)
        MPI_Irecv(received[i], BYTES, MPI_BYTE, neighbours[i], 1, MPI_COMM_WORLD, &requests[i]);
}

static void start_sends(void)
{
    for (int i = 0; i < n_neighbours; i++)
        MPI_Isend(sent[i], BYTES, MPI_BYTE, neighbours[i], 1, MPI_COMM_WORLD, &requests[n_neighbours + i]);
}

static void waitall(void)
{
    start_receives();
    start_sends();
    MPI_Waitall(2 * n_neighbours, requests, MPI_STATUSES_IGNORE);
}

static void waitany(void)
{
    start_receives();
    start_sends();
    for (int i = 0, which; i < 2 * n_neighbours; i++)
        MPI_Waitany(2 * n_neighbours, requests, &which, MPI_STATUS_IGNORE);
}

static void sendrecv(void)
{
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(sent[0], BYTES, MPI_BYTE, left, 1, received[0], BYTES, MPI_BYTE, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(sent[1], BYTES, MPI_BYTE, right, 2, received[1], BYTES, MPI_BYTE, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void isend_recv(void)
{
    start_sends();
    for (int i = 0; i < n_neighbours; i++)
        MPI_Recv(received[i], BYTES, MPI_BYTE, neighbours[i], 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(n_neighbours, requests + n_neighbours, MPI_STATUSES_IGNORE);
}

static void persistent(void)
{
    MPI_Startall(2 * n_neighbours, requests);
    MPI_Waitall(2 * n_neighbours, requests, MPI_STATUSES_IGNORE);
}

static void neighbourhood(void)
{
    MPI_Neighbor_alltoall(sent, BYTES, MPI_BYTE, received, BYTES, MPI_BYTE, line);
}

#if MPI_VERSION >= 4
static void partitioned(void)
{
    MPI_Startall(2 * n_neighbours, requests);
    for (int i = 0; i < n_neighbours; i++)
        MPI_Pready_range(0, 1, requests[n_neighbours + i]);
    MPI_Waitall(2 * n_neighbours, requests, MPI_STATUSES_IGNORE);
}
#endif

static void fence(void)
{
    for (int i = 0; i < n_neighbours; i++)
        MPI_Put(sent[i], BYTES, MPI_BYTE, neighbours[i], neighbours[i] < rank ? BYTES : 0, BYTES, MPI_BYTE, window);
    MPI_Win_fence(0, window);
}

static void post_start(void)
{
    MPI_Win_post(group, 0, window);
    MPI_Win_start(group, 0, window);
    for (int i = 0; i < n_neighbours; i++)
        MPI_Put(sent[i], BYTES, MPI_BYTE, neighbours[i], neighbours[i] < rank ? BYTES : 0, BYTES, MPI_BYTE, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
}

static void locks(void)
{
    for (int i = 0; i < n_neighbours; i++) {
        MPI_Win_lock(MPI_LOCK_SHARED, neighbours[i], 0, window);
        MPI_Put(sent[i], BYTES, MPI_BYTE, neighbours[i], neighbours[i] < rank ? BYTES : 0, BYTES, MPI_BYTE, window);
        MPI_Win_unlock(neighbours[i], window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce(void)
{
    double mine = 1, all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* --- what they need before the first step, and leave after the last --- */

static void nothing(void) {}

static void init_persistent(void)
{
    for (int i = 0; i < n_neighbours; i++) {
        MPI_Recv_init(received[i], BYTES, MPI_BYTE, neighbours[i], 1, MPI_COMM_WORLD, &requests[i]);
        MPI_Send_init(sent[i], BYTES, MPI_BYTE, neighbours[i], 1, MPI_COMM_WORLD, &requests[n_neighbours + i]);
    }
}

#if MPI_VERSION >= 4
static void init_partitioned(void)
{
    for (int i = 0; i < n_neighbours; i++) {
        MPI_Request *request = &requests[i];
        MPI_Precv_init(received[i], 2, BYTES / 2, MPI_BYTE, neighbours[i], 1, MPI_COMM_WORLD, MPI_INFO_NULL, request);
        MPI_Psend_init(sent[i], 2, BYTES / 2, MPI_BYTE, neighbours[i], 1, MPI_COMM_WORLD, MPI_INFO_NULL, request + n_neighbours);
    }
}
#endif

static void init_line(void)
{
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){0}, 0, &line);
}

static void init_window(void)
{
    MPI_Group all;
    char *memory;
    MPI_Win_allocate(2 * BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, n_neighbours, neighbours, &group);
    MPI_Group_free(&all);
}

static void free_requests(void)
{
    for (int i = 0; i < 2 * n_neighbours; i++)
        MPI_Request_free(&requests[i]);
}

static void free_line(void)
{
    MPI_Comm_free(&line);
}

static void free_window(void)
{
    MPI_Group_free(&group);
    MPI_Win_free(&window);
}

static void init_fence(void)
{
    init_window();
    MPI_Win_fence(0, window);
}

static const struct {
    const char *name;
    void (*init)(void), (*exchange)(void), (*end)(void);
    int reach; /* from how many places away a rank can be delayed within a step */
} STYLES[] = {
    {"waitall", nothing, waitall, nothing, 1},
    {"waitany", nothing, waitany, nothing, 1},
    {"sendrecv", nothing, sendrecv, nothing, 1},
    {"isend-recv", nothing, isend_recv, nothing, 1},
    {"persistent", init_persistent, persistent, free_requests, 1},
    {"neighbourhood", init_line, neighbourhood, free_line, 1},
#if MPI_VERSION >= 4
    {"partitioned", init_partitioned, partitioned, free_requests, 1},
#endif
    {"post-start", init_window, post_start, free_window, 2},
    {"fence", init_fence, fence, free_window, MOST_RANKS},
    {"locks", init_window, locks, free_window, MOST_RANKS},
    {"allreduce", nothing, allreduce, nothing, MOST_RANKS},
};

/* --- when each rank's work of a step ends, in milliseconds --- */

static double ends_ms[MOST_STEPS][MOST_RANKS];

static double plan(int reach)
{
    double waits_ms = 0, last_ms = 0;
    for (int k = 0; k < steps; k++)
        for (int r = 0; r < size; r++) {
            double begin = 0;
            for (int other = 0; other < size && k > 0; other++)
                if (abs(other - r) <= reach && ends_ms[k - 1][other] > begin)
                    begin = ends_ms[k - 1][other];
            waits_ms += k > 0 ? begin - ends_ms[k - 1][r] : 0;
            ends_ms[k][r] = begin + work_ms[k][r];
            last_ms = ends_ms[k][r] > last_ms ? ends_ms[k][r] : last_ms;
        }
    for (int r = 0; r < size; r++)
        waits_ms += last_ms - ends_ms[steps - 1][r];
    return waits_ms;
}

static void stencil(int k)
{
    work(work_ms[k][rank], ends_ms[k][rank]);
}

int main(int argc, char **argv)
{
    unsigned style = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (style < sizeof STYLES / sizeof *STYLES && strcmp(STYLES[style].name, argv[1]))
        style++;
    if (style == sizeof STYLES / sizeof *STYLES) {
        if (rank == 0)
            puts("no such style");
        MPI_Finalize();
        return 0;
    }
    steps = atoi(argv[2]);
    for (int k = 0; k < steps; k++)
        for (int r = 0; r < size; r++)
            work_ms[k][r] = LEAST_MS;
    for (int i = 3; i < argc; i++) {
        int r, ms, period, first;
        sscanf(argv[i], "%d:%d:%d:%d", &r, &ms, &period, &first);
        for (int k = first; k < steps; k += period)
            work_ms[k][r] += ms;
    }
    double waits_ms = plan(STYLES[style].reach);
    if (rank == 0)
        printf("%.6f\n", 1e-3 * waits_ms);
    if (rank > 0)
        neighbours[n_neighbours++] = rank - 1;
    if (rank < size - 1)
        neighbours[n_neighbours++] = rank + 1;
    STYLES[style].init();
    begin_schedule();
    for (int k = 0; k < steps; k++) {
        stencil(k);
        STYLES[style].exchange();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    end_schedule();
    STYLES[style].end();
    MPI_Finalize();
    return 0;
}
