// Each function of libgomp that starts a region, or what regions consist of, is called at least once; GCC itself no longer calls GOMP_parallel_loop_static. In each of 2 steps, a region of each takes 10 ms.
// ranks: 2
// link: -fopenmp
// nominal-s: 0.30
#include "team_work.h"

typedef void region_function(void *data);

void GOMP_parallel_loop_static(region_function *, void *, unsigned, long, long, long, long, unsigned);
_Bool GOMP_loop_static_next(long *, long *);
void GOMP_loop_end_nowait(void);

/* Thread 0 works half as long as thread 1. */
#define UNEVEN_WORK(function) work_in(function, omp_get_thread_num(), omp_get_thread_num() ? 10 : 5)

/* A bound that the compiler does not know. */
static volatile unsigned long long two = 2;

#define NOINLINE __attribute__((noinline)) static

NOINLINE void plain(void)
{
#pragma omp parallel num_threads(2)
    UNEVEN_WORK("plain");
}

NOINLINE void reductions(void)
{
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(task, + : sum)
    {
        UNEVEN_WORK("reductions");
        sum++;
    }
}

NOINLINE void sections(void)
{
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        UNEVEN_WORK("sections");
#pragma omp section
        UNEVEN_WORK("sections");
    }
}

#define LOOP(name, kind)                                            \
    NOINLINE void name(void)                                        \
    {                                                               \
        _Pragma(kind) for (int i = 0; i < 2; i++) UNEVEN_WORK(#name); \
    }

LOOP(loop_dynamic, "omp parallel for num_threads(2) schedule(monotonic : dynamic)")
LOOP(loop_guided, "omp parallel for num_threads(2) schedule(monotonic : guided)")
LOOP(loop_runtime, "omp parallel for num_threads(2) schedule(monotonic : runtime)")
LOOP(nonmonotonic_dynamic, "omp parallel for num_threads(2) schedule(nonmonotonic : dynamic)")
LOOP(nonmonotonic_guided, "omp parallel for num_threads(2) schedule(nonmonotonic : guided)")
LOOP(nonmonotonic_runtime, "omp parallel for num_threads(2) schedule(nonmonotonic : runtime)")
LOOP(maybe_nonmonotonic_runtime, "omp parallel for num_threads(2) schedule(runtime)")

NOINLINE void task(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 2; i++) {
#pragma omp task
        work_in("task", omp_get_thread_num(), 10);
    }
}

NOINLINE void taskloop(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop num_tasks(2)
    for (int i = 0; i < 2; i++)
        work_in("taskloop", omp_get_thread_num(), 10);
}

NOINLINE void taskloop_ull(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop num_tasks(2)
    for (unsigned long long i = 0; i < two; i++)
        work_in("taskloop_ull", omp_get_thread_num(), 10);
}

/* Teams run one after the other on the thread that starts them. */
NOINLINE void teams(void)
{
#pragma omp teams num_teams(1) thread_limit(2)
    {
#pragma omp parallel num_threads(2)
        UNEVEN_WORK("teams");
    }
}

/* The function that GCC makes of a loop, whose first iterations the library has. */
static void loop_static(void *data)
{
    long from, to;
    while (GOMP_loop_static_next(&from, &to))
        for (long i = from; i < to; i++)
            UNEVEN_WORK("loop_static");
    GOMP_loop_end_nowait();
    (void)data;
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    omp_set_schedule(omp_sched_dynamic, 1);
    begin_team_work(2);
    for (int step = 0; step < 2; step++) {
        plain();
        reductions();
        sections();
        loop_dynamic();
        loop_guided();
        loop_runtime();
        nonmonotonic_dynamic();
        nonmonotonic_guided();
        nonmonotonic_runtime();
        maybe_nonmonotonic_runtime();
        task();
        taskloop();
        taskloop_ull();
        teams();
        GOMP_parallel_loop_static(loop_static, NULL, 2, 0, 2, 1, 1, 0);
    }
    end_team_work();
    MPI_Finalize();
    return 0;
}
