// Makes N MPI calls of one kind and says what they took; scripts/bench runs it bare and recorded, on one rank.
//
//   calls KIND N      KIND: sendrecv, nonblocking, allreduce, barrier, clock; N: rounds
//
// Prints: calls, nanoseconds a call, nanoseconds of CPU time a call, kilobytes of memory that the process had at most.
// A round of nonblocking is three calls (Irecv, Isend, Waitall of both), of the others one. "clock" makes no MPI call in a
// round but reads the time stamp counter twice: the least that a recorder of begin and end adds.
//
// All communication is of the rank with itself, so that the real call is short and nobody has to be waited for.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

static double sent[4], received[4];

static void sendrecv(void) {
    MPI_Sendrecv(sent, 4, MPI_DOUBLE, 0, 1, received, 4, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void nonblocking(void) {
    MPI_Request requests[2];
    MPI_Irecv(received, 4, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, 4, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void allreduce(void) {
    MPI_Allreduce(sent, received, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void barrier(void) {
    MPI_Barrier(MPI_COMM_WORLD);
}

static volatile unsigned long long ticks;

static void read_clock_twice(void) {
    ticks = __rdtsc();
    ticks = __rdtsc() - ticks;
}

static const struct kind {
    const char *name;
    void (*round)(void);
    int calls;
} kinds[] = {
    {"sendrecv", sendrecv, 1}, {"nonblocking", nonblocking, 3}, {"allreduce", allreduce, 1},
    {"barrier", barrier, 1},   {"clock", read_clock_twice, 1},
};

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

// The most memory that this process had resident. getrusage would count that of the launcher before it became this program.
static long peak_kilobytes(void) {
    char line[256];
    long peak = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) {
        if (strncmp(line, "VmHWM:", 6) == 0) peak = atol(line + 6);
    }
    if (status) fclose(status);
    return peak;
}

int main(int argc, char **argv) {
    const struct kind *kind = NULL;
    long rounds = argc == 3 ? atol(argv[2]) : 0;
    for (size_t i = 0; argc == 3 && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(argv[1], kinds[i].name) == 0) kind = &kinds[i];
    }
    if (!kind || rounds < 1) {
        fprintf(stderr, "usage: calls sendrecv|nonblocking|allreduce|barrier|clock ROUNDS\n");
        return 2;
    }
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 100; i++) kind->round();
    double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    for (long i = 0; i < rounds; i++) kind->round();
    cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    wall = now(CLOCK_MONOTONIC) - wall;
    MPI_Finalize();
    double calls = (double)rounds * kind->calls;
    printf("%.0f %.3f %.3f %ld\n", calls, wall / calls, cpu / calls, peak_kilobytes());
    return 0;
}
