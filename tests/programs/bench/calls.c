// Makes N MPI calls of one kind and says what they took; scripts/bench runs it bare and recorded, on one rank.
//
//   calls KIND N      KIND: sendrecv, nonblocking, allreduce, barrier, clock; N: rounds
//
// Prints: calls, nanoseconds a call, nanoseconds of CPU time a call, kilobytes of memory that the process had at most.
// A round of nonblocking is three calls (Irecv, Isend, Waitall of both), of the others one. "clock" makes no MPI call in a
// round but reads the time stamp counter twice: the least that a recorder of begin and end adds.

#include "rounds.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

static volatile unsigned long long ticks;

static void read_clock_twice(void) {
    ticks = __rdtsc();
    ticks = __rdtsc() - ticks;
}

static const struct kind clock_kind = {"clock", read_clock_twice, 1};

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
    const struct kind *kind = argc == 3 ? kind_named(argv[1]) : NULL;
    long rounds = argc == 3 ? atol(argv[2]) : 0;
    if (argc == 3 && strcmp(argv[1], clock_kind.name) == 0) kind = &clock_kind;
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
