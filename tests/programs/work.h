/* Computation of a known length: sleeping, so that ranks need no core while they "compute".
 *
 * A busy machine wakes ranks late. That must not add up: all ranks agree on a schedule, on one clock, and what a rank has computed too
 * much or too little by then, its next computation makes up for, as far as the schedule leaves room.
 *
 * How long each computation really took, by the program's own clock, and how far that is from the plan, is written to
 * $LBTEST_TRUTH.<rank> by end_schedule. */
#ifndef WORK_H
#define WORK_H

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_WORKS = 100 };

/* A clock that all ranks of a host share, unless they are in different time namespaces. */
#ifndef WORK_CLOCK
#define WORK_CLOCK CLOCK_MONOTONIC
#endif

static double begin_s;              /* when the schedule begins, on the clock */
static double planned_s, worked_s;  /* computation so far: as planned, as measured */
static double works_s[MOST_WORKS];  /* each computation, as measured */
static double astray_s[MOST_WORKS]; /* by how much it was longer or shorter than planned, and begun too late to be done in time */
static int works;

static double now_s(void)
{
    struct timespec now;
    clock_gettime(WORK_CLOCK, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* All ranks agree on the begin: when the last of them has come here. */
static void begin_schedule(void)
{
    double here_s = now_s();
    MPI_Allreduce(&here_s, &begin_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

/* Computes for `ms` milliseconds, but not beyond `until_ms` after the begin, when others wait for this rank. */
static void work(double ms, double until_ms)
{
    planned_s += 1e-3 * ms;
    double from_s = now_s(), end_s = from_s + planned_s - worked_s, latest_s = begin_s + 1e-3 * until_ms;
    if (end_s > latest_s)
        end_s = latest_s;
    struct timespec end = {(time_t)end_s, (long)(1e9 * (end_s - (double)(time_t)end_s))};
    while (clock_nanosleep(WORK_CLOCK, TIMER_ABSTIME, &end, 0) == EINTR) {
    }
    double took_s = now_s() - from_s, longer_s = took_s - 1e-3 * ms, late_s = from_s + 1e-3 * ms - latest_s;
    worked_s += took_s;
    if (works < MOST_WORKS) {
        works_s[works] = took_s;
        astray_s[works++] = (longer_s < 0 ? -longer_s : longer_s) + (late_s > 0 ? late_s : 0);
    }
}

/* Tells how long this rank has computed and how far that was from the plan, a line each time. */
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
            for (int i = 0; i < works; i++)
                fprintf(file, "%.6f %.6f\n", works_s[i], astray_s[i]);
            fclose(file);
        }
    }
}

#endif
