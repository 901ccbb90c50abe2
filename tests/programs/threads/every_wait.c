// Each function of libgomp in which a thread waits makes one wait. In each of 2 steps, its region takes 20 ms, single_copy 10.
// ranks: 2
// link: -fopenmp
// nominal-s: 0.86
#include "team_work.h"

void GOMP_atomic_start(void);
void GOMP_atomic_end(void);
/* The functions of Fortran: a lock is an integer that may hold an address. */
void omp_init_lock_(void *);
void omp_set_lock_(void *);
void omp_unset_lock_(void *);
void omp_init_nest_lock_(void *);
void omp_set_nest_lock_(void *);
void omp_unset_nest_lock_(void *);

static omp_lock_t lock;
static omp_nest_lock_t nest_lock;
static long fortran_lock[4], fortran_nest_lock[4];
static volatile int never;
/* A bound that the compiler does not know. */
static volatile unsigned long long three = 3;

/* Thread 1 works twice as long as thread 0, or half as long. */
#define SHORT_WORK(function) work_in(function, omp_get_thread_num(), omp_get_thread_num() ? 10 : 5)
#define LONG_WORK(function) work_in(function, omp_get_thread_num(), omp_get_thread_num() ? 5 : 10)

#define NOINLINE __attribute__((noinline)) static

NOINLINE void barrier(void)
{
#pragma omp parallel num_threads(2)
    {
        SHORT_WORK("barrier");
#pragma omp barrier
        LONG_WORK("barrier");
    }
}

NOINLINE void barrier_cancel(void)
{
#pragma omp parallel num_threads(2)
    {
        SHORT_WORK("barrier_cancel");
#pragma omp barrier
        LONG_WORK("barrier_cancel");
        if (never) {
#pragma omp cancel parallel
        }
    }
}

NOINLINE void loop_end(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < 2; i++)
            SHORT_WORK("loop_end");
        LONG_WORK("loop_end");
    }
}

NOINLINE void loop_end_cancel(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < 2; i++)
            SHORT_WORK("loop_end_cancel");
        LONG_WORK("loop_end_cancel");
        if (never) {
#pragma omp cancel parallel
        }
    }
}

NOINLINE void sections_end(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp sections
        {
#pragma omp section
            SHORT_WORK("sections_end");
#pragma omp section
            SHORT_WORK("sections_end");
        }
        LONG_WORK("sections_end");
    }
}

NOINLINE void sections_end_cancel(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp sections
        {
#pragma omp section
            SHORT_WORK("sections_end_cancel");
#pragma omp section
            SHORT_WORK("sections_end_cancel");
        }
        LONG_WORK("sections_end_cancel");
        if (never) {
#pragma omp cancel parallel
        }
    }
}

NOINLINE void single_copy(void)
{
#pragma omp parallel num_threads(2)
    {
        int copied;
#pragma omp single copyprivate(copied)
        {
            work_in("single_copy", omp_get_thread_num(), 10);
            copied = 1;
        }
        never = copied - 1;
    }
}

NOINLINE void task_reduction(void)
{
    int sum = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp for schedule(static, 1) reduction(task, + : sum)
        for (int i = 0; i < 2; i++) {
            SHORT_WORK("task_reduction");
            sum++;
        }
        LONG_WORK("task_reduction");
    }
}

NOINLINE void critical(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp critical
        work_in("critical", omp_get_thread_num(), 10);
    }
}

NOINLINE void critical_name(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp critical(table)
        work_in("critical_name", omp_get_thread_num(), 10);
    }
}

#define GUARDED(name, acquire, release)                         \
    NOINLINE void name(void)                                    \
    {                                                           \
        _Pragma("omp parallel num_threads(2)")                  \
        {                                                       \
            acquire;                                            \
            work_in(#name, omp_get_thread_num(), 10);           \
            release;                                            \
        }                                                       \
    }

GUARDED(atomic, GOMP_atomic_start(), GOMP_atomic_end())
GUARDED(locked, omp_set_lock(&lock), omp_unset_lock(&lock))
GUARDED(nest_locked, omp_set_nest_lock(&nest_lock), omp_unset_nest_lock(&nest_lock))
GUARDED(locked_in_fortran, omp_set_lock_(fortran_lock), omp_unset_lock_(fortran_lock))
GUARDED(nest_locked_in_fortran, omp_set_nest_lock_(fortran_nest_lock), omp_unset_nest_lock_(fortran_nest_lock))

NOINLINE void ordered(void)
{
#pragma omp parallel for ordered schedule(static, 1) num_threads(2)
    for (int i = 0; i < 2; i++) {
#pragma omp ordered
        work_in("ordered", omp_get_thread_num(), 10);
    }
}

/* Iteration 1 waits for iteration 0. */
#define DOACROSS(name, type)                                                        \
    NOINLINE void name(void)                                                        \
    {                                                                               \
        _Pragma("omp parallel for ordered(1) schedule(static, 1) num_threads(2)")   \
        for (type i = 1; i < three; i++) {                                              \
            _Pragma("omp ordered depend(sink : i - 1)")                             \
            work_in(#name, omp_get_thread_num(), 10);                               \
            _Pragma("omp ordered depend(source)")                                   \
        }                                                                           \
    }

DOACROSS(doacross, long)
DOACROSS(doacross_ull, unsigned long long)

/* Thread 0 makes a task, which the other thread runs, and waits for it after half of its time. */
#define WAITED_FOR(name, depends, wait)                                 \
    NOINLINE void name(void)                                            \
    {                                                                   \
        int made = 0;                                                   \
        _Pragma("omp parallel num_threads(2)")                          \
        _Pragma("omp master")                                           \
        {                                                               \
            _Pragma(depends)                                            \
            work_in(#name, omp_get_thread_num(), 10 + made);            \
            work_in(#name, omp_get_thread_num(), 5);                    \
            _Pragma(wait)                                               \
            work_in(#name, omp_get_thread_num(), 10);                   \
        }                                                               \
    }

WAITED_FOR(taskwait, "omp task", "omp taskwait")
WAITED_FOR(taskwait_depend, "omp task depend(out : made)", "omp taskwait depend(in : made)")
WAITED_FOR(undeferred, "omp task depend(out : made)", "omp task if(0) depend(in : made)")

NOINLINE void taskgroup(void)
{
#pragma omp parallel num_threads(2)
#pragma omp master
    {
#pragma omp taskgroup
        {
#pragma omp task
            work_in("taskgroup", omp_get_thread_num(), 10);
            work_in("taskgroup", omp_get_thread_num(), 5);
        }
        work_in("taskgroup", omp_get_thread_num(), 10);
    }
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest_lock);
    omp_init_lock_(fortran_lock);
    omp_init_nest_lock_(fortran_nest_lock);
    begin_team_work(2);
    for (int step = 0; step < 2; step++) {
        barrier();
        barrier_cancel();
        loop_end();
        loop_end_cancel();
        sections_end();
        sections_end_cancel();
        single_copy();
        task_reduction();
        critical();
        critical_name();
        atomic();
        locked();
        nest_locked();
        locked_in_fortran();
        nest_locked_in_fortran();
        ordered();
        doacross();
        doacross_ull();
        taskwait();
        taskwait_depend();
        undeferred();
        taskgroup();
    }
    end_team_work();
    MPI_Finalize();
    return 0;
}
