// Computes; scripts/bench runs it recorded with samples and without, on one rank: what samples cost a program that hardly calls MPI.
//
//   compute N      N: steps of some milliseconds each, with an MPI_Allreduce after each
//
// Prints: nanoseconds, nanoseconds of CPU time.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

int main(int argc, char **argv) {
    long steps = argc > 1 ? atol(argv[1]) : 1000;
    MPI_Init(&argc, &argv);
    double begin = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID), x = 1, sum = 0;
    for (long step = 0; step < steps; step++) {
        for (long i = 0; i < 1000000; i++)
            x = x * 0.999999 + 1e-6;
        MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    printf("%.0f %.0f %d\n", now(CLOCK_MONOTONIC) - begin, now(CLOCK_PROCESS_CPUTIME_ID) - cpu, sum > 0);
    MPI_Finalize();
    return 0;
}
