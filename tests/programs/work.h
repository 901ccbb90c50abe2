/* Computation of a known length: sleeping until a point in time that all ranks agree on. A rank that wakes late does not
 * shift what follows, so that errors do not add up, and ranks need no core while they "compute".
 *
 * What the computation really took, by the program's own clock, is written to $LBTEST_TRUTH.<rank> by end_schedule: a busy machine
 * may have delayed it. */
#ifndef WORK_H
#define WORK_H

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double begin_s;  /* when the schedule begins, on CLOCK_MONOTONIC, which all ranks of a host share */
static double worked_s; /* computation so far */

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* All ranks agree on the begin: when the last of them has come here. */
static void begin_schedule(void)
{
    double here_s = now_s();
    MPI_Allreduce(&here_s, &begin_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

/* Computes until `ms` milliseconds after the begin. */
static void work_until(double ms)
{
    double from_s = now_s(), end_s = begin_s + 1e-3 * ms;
    struct timespec end = {(time_t)end_s, (long)(1e9 * (end_s - (double)(time_t)end_s))};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, 0) == EINTR) {
    }
    worked_s += now_s() - from_s;
}

/* Tells how long this rank has computed. */
static void end_schedule(void)
{
    int rank;
    char name[4096];
    const char *path = getenv("LBTEST_TRUTH");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (path) {
        snprintf(name, sizeof name, "%s.%d", path, rank);
        FILE *file = fopen(name, "w");
        if (file) {
            fprintf(file, "%.6f\n", worked_s);
            fclose(file);
        }
    }
}

#endif
