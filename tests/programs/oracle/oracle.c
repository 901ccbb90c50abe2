// ranks: 4
// truth: each rank sleeps for its work, in one of several shapes of communication, with one of several patterns of imbalance, as it is or
// truth: with a change built in that a prediction speaks of. So the prediction from the run as it is can be compared with what the change
// truth: really does.
//
//     oracle STEPS SHAPE:PATTERN:CHANGE...
//
// runs each of the given combinations and prints `SHAPE:PATTERN:CHANGE SECONDS` of it on rank 0.
#define _GNU_SOURCE
#include <errno.h>
#include <lbprof.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_BYTES = 16384, MOST_RANKS = 64 };

static int rank, size, steps;
static char sent[2][MOST_BYTES], received[2][MOST_BYTES];

/* --- how much each rank works in each step, in milliseconds --- */

static const double LEAST_MS = 6, MOST_MS = 12, SECOND_MS = 3;

static double one_slow(int r, int k)
{
    (void)k;
    return r == size - 1 ? MOST_MS : LEAST_MS;
}

static double gradient(int r, int k)
{
    (void)k;
    return LEAST_MS + (MOST_MS - LEAST_MS) * r / (size - 1);
}

static double rotating(int r, int k)
{
    return r == k % size ? MOST_MS : LEAST_MS;
}

static double (*pattern)(int r, int k);
static double second_ms; /* what all ranks work besides in each step, in a second phase */

static double in_step(int r, int k)
{
    return pattern(r, k) + second_ms;
}

static double in_all(int r)
{
    double ms = 0;
    for (int k = 0; k < steps; k++)
        ms += in_step(r, k);
    return ms;
}

static double mean_of_step(int k)
{
    double ms = 0;
    for (int r = 0; r < size; r++)
        ms += in_step(r, k);
    return ms / size;
}

static double mean_of_all(void)
{
    double ms = 0;
    for (int r = 0; r < size; r++)
        ms += in_all(r);
    return ms / size;
}

/* --- the changes: how many times as long this rank works in a step, of two phases in the first one --- */

static double as_is(int k)
{
    (void)k;
    return 1;
}

static double slowest_cut(int k)
{
    (void)k;
    double excess = in_all(rank) - mean_of_all();
    /* It is taken away where it is. */
    return rank == size - 1 && excess > 0 ? 1 - excess / (in_all(rank) - steps * second_ms) : 1;
}

static double balanced(int k)
{
    (void)k;
    return mean_of_all() / in_all(rank);
}

static double balanced_each(int k)
{
    return (mean_of_step(k) - second_ms) / pattern(rank, k);
}

static double halved(int k)
{
    (void)k;
    return 0.5;
}

static double (*change)(int k), (*change_again)(int k);

/* --- work: what earlier sleeps took too long, later ones make up for --- */

static double ahead_s;

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void rest(double ms)
{
    double from_s = now_s(), end_s = from_s + 1e-3 * ms - ahead_s;
    struct timespec end = {(time_t)end_s, (long)(1e9 * (end_s - (double)(time_t)end_s))};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, 0) == EINTR) {
    }
    ahead_s += now_s() - from_s - 1e-3 * ms;
    if (ahead_s > 1e-3 * ms)
        ahead_s = 1e-3 * ms;
}

static void work(int k)
{
    rest(pattern(rank, k) * change(k));
}

static void work_again(int k)
{
    rest(second_ms * change_again(k));
}

/* --- shapes --- */

static int left(void)
{
    return (rank + size - 1) % size;
}

static int right(void)
{
    return (rank + 1) % size;
}

static void sum(void)
{
    double mine = 1, all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void exchange(int bytes)
{
    MPI_Request requests[4];
    MPI_Irecv(received[0], bytes, MPI_BYTE, left(), 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(received[1], bytes, MPI_BYTE, right(), 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(sent[0], bytes, MPI_BYTE, right(), 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(sent[1], bytes, MPI_BYTE, left(), 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void allreduce(int bytes)
{
    (void)bytes;
    for (int k = 0; k < steps; k++) {
        work(k);
        sum();
    }
}

static void halo(int bytes)
{
    for (int k = 0; k < steps; k++) {
        work(k);
        exchange(bytes);
    }
}

/* What neighbours need is on its way while a rank works, if the MPI moves it then. */
static void overlap(int bytes)
{
    MPI_Request requests[4];
    for (int k = 0; k < steps; k++) {
        MPI_Irecv(received[0], bytes, MPI_BYTE, left(), 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(received[1], bytes, MPI_BYTE, right(), 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(sent[0], bytes, MPI_BYTE, right(), 1, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(sent[1], bytes, MPI_BYTE, left(), 2, MPI_COMM_WORLD, &requests[3]);
        work(k);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
}

/* Nothing but time, as between two polls. */
static void spin_us(double us)
{
    for (double end_s = now_s() + 1e-6 * us; now_s() < end_s;) {
    }
}

/* Waits by polls alone: for one receive by MPI_Test and for another message by MPI_Iprobe, in turn and with some work between them, then
 * for both sends by MPI_Testall. */
static void poll_for_neighbours(int bytes)
{
    MPI_Request from_left, sends[2];
    MPI_Status statuses[2];
    int has_left = 0, has_right = 0, are_sent = 0;
    MPI_Irecv(received[0], bytes, MPI_BYTE, left(), 1, MPI_COMM_WORLD, &from_left);
    MPI_Isend(sent[0], bytes, MPI_BYTE, right(), 1, MPI_COMM_WORLD, &sends[0]);
    MPI_Isend(sent[1], bytes, MPI_BYTE, left(), 2, MPI_COMM_WORLD, &sends[1]);
    while (!has_left || !has_right) {
        if (!has_left)
            MPI_Test(&from_left, &has_left, MPI_STATUS_IGNORE);
        if (!has_right) {
            MPI_Iprobe(right(), 2, MPI_COMM_WORLD, &has_right, MPI_STATUS_IGNORE);
            if (has_right)
                MPI_Recv(received[1], bytes, MPI_BYTE, right(), 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        spin_us(2);
    }
    while (!are_sent)
        MPI_Testall(2, sends, &are_sent, statuses);
}

static void polling(int bytes)
{
    for (int k = 0; k < steps; k++) {
        work(k);
        poll_for_neighbours(bytes);
    }
}

static void ring(int bytes)
{
    for (int k = 0; k < steps; k++) {
        work(k);
        MPI_Sendrecv(sent[0], bytes, MPI_BYTE, right(), 3, received[0], bytes, MPI_BYTE, left(), 3, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
}

static void pipeline(int bytes)
{
    for (int k = 0; k < steps; k++) {
        if (rank > 0)
            MPI_Recv(received[0], bytes, MPI_BYTE, rank - 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(k);
        if (rank < size - 1)
            MPI_Send(sent[0], bytes, MPI_BYTE, rank + 1, 4, MPI_COMM_WORLD);
    }
}

/* The same with its iterations marked: the calls alone do not show where a step of the last rank, which only receives, begins. */
static void marked_pipeline(int bytes)
{
    for (int k = 0; k < steps; k++) {
        LBPROF_ITERATION_BEGIN("step");
        if (rank > 0)
            MPI_Recv(received[0], bytes, MPI_BYTE, rank - 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(k);
        if (rank < size - 1)
            MPI_Send(sent[0], bytes, MPI_BYTE, rank + 1, 4, MPI_COMM_WORLD);
        LBPROF_ITERATION_END("step");
    }
}

/* The ranks at the ends, of which one is the slow one, run code of their own. */
static void at_an_end(int k, int bytes)
{
    int other = rank == 0 ? 1 : size - 2;
    work(k);
    MPI_Sendrecv(sent[0], bytes, MPI_BYTE, other, 5, received[0], bytes, MPI_BYTE, other, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void within(int k, int bytes)
{
    MPI_Request requests[4];
    work(k);
    MPI_Irecv(received[0], bytes, MPI_BYTE, rank - 1, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(received[1], bytes, MPI_BYTE, rank + 1, 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(sent[0], bytes, MPI_BYTE, rank - 1, 5, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(sent[1], bytes, MPI_BYTE, rank + 1, 5, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void branches(int bytes)
{
    for (int k = 0; k < steps; k++) {
        if (rank == 0 || rank == size - 1)
            at_an_end(k, bytes);
        else
            within(k, bytes);
        sum();
    }
}

static void two_phases(int bytes)
{
    for (int k = 0; k < steps; k++) {
        work(k);
        exchange(bytes);
        work_again(k);
        sum();
    }
}

/* Rank 0 hands out pieces of work to whoever is ready; a piece takes as long as the rank that does it needs for a step. */
static void master(int bytes)
{
    int left_over = steps * (size - 1), ready;
    MPI_Status status;
    (void)bytes;
    for (int running = size - 1; running > 0;) {
        MPI_Recv(&ready, 1, MPI_INT, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &status);
        int more = left_over-- > 0;
        running -= !more;
        MPI_Send(&more, 1, MPI_INT, status.MPI_SOURCE, 7, MPI_COMM_WORLD);
    }
}

static void worker(int bytes)
{
    int more = 1;
    (void)bytes;
    for (int k = 0;; k++) {
        MPI_Send(&k, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
        MPI_Recv(&more, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!more)
            break;
        work(k % steps);
    }
}

static void master_workers(int bytes)
{
    if (rank == 0)
        master(bytes);
    else
        worker(bytes);
}

/* --- what is to be run --- */

/* Where the user may have that, a rank that wakes gets a core at once, whatever else the machine is busy with: it sleeps nearly always. Not
 * while MPI starts and ends, where ranks spin. */
static void wake_at_once(int yes)
{
    struct sched_param how = {.sched_priority = yes ? 1 : 0};
    sched_setscheduler(0, yes ? SCHED_RR : SCHED_OTHER, &how);
}

static const struct {
    const char *name;
    void (*run)(int bytes);
    int bytes;
    int has_second_phase;
} SHAPES[] = {
    {"allreduce", allreduce, 0, 0},
    {"halo-1k", halo, 1024, 0},
    {"halo-16k", halo, 16384, 0},
    {"overlap-512", overlap, 512, 0},
    {"overlap-16k", overlap, 16384, 0},
    {"polling", polling, 1024, 0},
    {"ring-1k", ring, 1024, 0},
    {"ring-16k", ring, 16384, 0},
    {"pipeline", pipeline, 1024, 0},
    {"pipeline-marked", marked_pipeline, 1024, 0},
    {"branches", branches, 1024, 0},
    {"phases-1k", two_phases, 1024, 1},
    {"phases-16k", two_phases, 16384, 1},
    {"master", master_workers, 0, 0},
};

static const struct {
    const char *name;
    double (*of)(int r, int k);
} PATTERNS[] = {{"slow", one_slow}, {"gradient", gradient}, {"rotating", rotating}};

static const struct {
    const char *name;
    double (*of)(int k), (*of_second_phase)(int k);
} CHANGES[] = {
    {"as-is", as_is, as_is},       {"cut", slowest_cut, as_is}, {"balanced", balanced, balanced},
    {"each", balanced_each, as_is}, {"halved", halved, halved},
};

#define FIND(table, word, at)                                                                                          \
    do {                                                                                                               \
        for (at = 0; at < (int)(sizeof table / sizeof *table) && (!word || strcmp(table[at].name, word)); at++) {      \
        }                                                                                                              \
        if (at == (int)(sizeof table / sizeof *table)) {                                                               \
            fprintf(stderr, "%s?\n", word ? word : "a word is missing");                                               \
            MPI_Abort(MPI_COMM_WORLD, 2);                                                                              \
        }                                                                                                              \
    } while (0)

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    steps = argc > 1 ? atoi(argv[1]) : 12;
    wake_at_once(1);
    for (int i = 2; i < argc; i++) {
        char words[64];
        int shape, of, how;
        snprintf(words, sizeof words, "%s", argv[i]);
        const char *first = strtok(words, ":"), *second = strtok(NULL, ":"), *third = strtok(NULL, ":");
        FIND(SHAPES, first, shape);
        FIND(PATTERNS, second, of);
        FIND(CHANGES, third, how);
        pattern = PATTERNS[of].of;
        change = CHANGES[how].of;
        change_again = CHANGES[how].of_second_phase;
        second_ms = SHAPES[shape].has_second_phase ? SECOND_MS : 0;
        ahead_s = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        double begin_s = now_s();
        SHAPES[shape].run(SHAPES[shape].bytes);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            printf("%s %.6f\n", argv[i], now_s() - begin_s);
    }
    wake_at_once(0);
    MPI_Finalize();
    return 0;
}
