/* Computation of threads of a known length, slept (default) or spun (LBTEST_WORK=spin), and what each thread did by its own clock.
 *
 * Each computation lasts until an absolute time. What it took is added to the sum of its thread in the function that has the parallel region
 * (TEAM_WORK), or outside of regions (ALONE_WORK). end_team_work writes to $LBTEST_TRUTH.<rank>, one line each:
 *     FUNCTION THREAD SECONDS
 *     elapsed 0 SECONDS         from begin_team_work to end_team_work
 *     astray THREAD SECONDS     by how much its computations were longer than they should be
 * With LBTEST_CHANGE the program makes the change for real that its head asks about (what-if). With LBTEST_KILL the ranks then kill themselves.
 * Threads are numbered as OpenMP does in the region around the computation; in inner regions as in the outermost one. */
#ifndef TEAM_WORK_H
#define TEAM_WORK_H

#include <mpi.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Threads of a team whose region another thread than the first starts have the numbers from OTHER_MASTER on here, and from 0 in what is written. */
enum { MOST_THREADS = 8, MOST_FUNCTIONS = 32, OTHER_MASTER = 4 };

struct thread_sums {
    const char *function[MOST_FUNCTIONS];
    double seconds[MOST_FUNCTIONS];
    double astray_s;
    char apart[64];
};

static struct thread_sums sums[MOST_THREADS];
static double begun_s;
static int rank_of_work;
static volatile double spun;

static double clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

static void work_until(double end_s)
{
    static int spins = -1;
    if (spins < 0) {
        const char *how = getenv("LBTEST_WORK");
        spins = how && !strcmp(how, "spin");
    }
    if (spins) {
        double x = 1;
        while (clock_s() < end_s) {
            for (int i = 0; i < 100; i++)
                x = x * 1.0000001 + 1e-9;
        }
        spun = x;
        return;
    }
    struct timespec end = { (time_t)end_s, (long)((end_s - (time_t)end_s) * 1e9) };
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) != 0)
        ;
}

/* What a computation takes, and what it does with the change that is asked about. */
static double changed_ms(double ms, double then_ms)
{
    return getenv("LBTEST_CHANGE") ? then_ms : ms;
}

/* Works for so many milliseconds as this thread of the team, in this function. */
static void work_in(const char *function, int thread, double ms)
{
    double begin_s = clock_s();
    work_until(begin_s + 1e-3 * ms);
    struct thread_sums *own = &sums[thread];
    int at = 0;
    while (own->function[at] && strcmp(own->function[at], function))
        at++;
    own->function[at] = function;
    double took_s = clock_s() - begin_s;
    own->seconds[at] += took_s;
    own->astray_s += took_s - 1e-3 * ms;
}

#define TEAM_WORK(ms) work_in(__func__, omp_get_ancestor_thread_num(1), ms)
#define ALONE_WORK(ms) work_in("outside", 0, ms)

static void begin_team_work(int threads)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_of_work);
    /* The threads are there before the measured part. */
#pragma omp parallel num_threads(threads)
    work_until(0);
    MPI_Barrier(MPI_COMM_WORLD);
    begun_s = clock_s();
}

static void end_team_work(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double elapsed_s = clock_s() - begun_s;
    char path[4096];
    const char *truth = getenv("LBTEST_TRUTH");
    if (!truth)
        return;
    snprintf(path, sizeof path, "%s.%d", truth, rank_of_work);
    FILE *file = fopen(path, "w");
    for (int thread = 0; thread < MOST_THREADS; thread++) {
        for (int at = 0; at < MOST_FUNCTIONS && sums[thread].function[at]; at++)
            fprintf(file, "%s %d %.9f\n", sums[thread].function[at], thread % OTHER_MASTER, sums[thread].seconds[at]);
        fprintf(file, "astray %d %.9f\n", thread % OTHER_MASTER, sums[thread].astray_s);
    }
    fprintf(file, "elapsed 0 %.9f\n", elapsed_s);
    fclose(file);
    if (getenv("LBTEST_KILL")) {
        MPI_Barrier(MPI_COMM_WORLD);
        raise(SIGKILL);
    }
}

#endif
