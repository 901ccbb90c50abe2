// Waits of other kinds. In each of 5 steps, in milliseconds of thread time that is lost on each rank:
//   ordered_sum: each of 2 iterations works 10 in an ordered section, one after the other              20
//   barriers: thread 0 works 10 before a barrier and 30 after it, thread 1 30 and 10                   40
//   locked: each thread works 10 with a lock                                                           20
//   few_tasks: one thread makes 3 tasks of 20; two of them run at a time                               20
//   funneled: thread 0 is in MPI_Sendrecv for 20, because the other rank sends late; thread 1 waits    40 on one of the ranks
// The step takes 20 + 60 + 20 + 40 + 20 = 160 ms.
// ranks: 2
// link: -fopenmp
// nominal-s: 0.8
// loss: ordered ordered_sum 0.0625
// loss: thread-imbalance barriers 0.125
// loss: mutex locked 0.0625
// loss: thread-imbalance few_tasks 0.0625
// loss: mpi - 0.0625
#include "team_work.h"

static omp_lock_t lock;

__attribute__((noinline)) static void ordered_sum(void)
{
#pragma omp parallel for ordered schedule(static, 1) num_threads(2)
    for (int i = 0; i < 2; i++) {
#pragma omp ordered
        TEAM_WORK(10);
    }
}

__attribute__((noinline)) static void barriers(void)
{
#pragma omp parallel num_threads(2)
    {
        TEAM_WORK(omp_get_thread_num() ? 30 : 10);
#pragma omp barrier
        TEAM_WORK(omp_get_thread_num() ? 10 : 30);
    }
}

__attribute__((noinline)) static void locked(void)
{
#pragma omp parallel num_threads(2)
    {
        omp_set_lock(&lock);
        TEAM_WORK(10);
        omp_unset_lock(&lock);
    }
}

__attribute__((noinline)) static void few_tasks(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp single
        for (int i = 0; i < 3; i++) {
            const char *function = __func__;
#pragma omp task firstprivate(function)
            work_in(function, omp_get_thread_num(), 20);
        }
    }
}

/* In turn one rank works 20 ms longer before it sends. */
__attribute__((noinline)) static void funneled(int step)
{
    int other = 1 - rank_of_work;
#pragma omp parallel num_threads(2)
    {
        if (step % 2 == rank_of_work)
            TEAM_WORK(20);
#pragma omp master
        {
            double sent = step, received;
            MPI_Sendrecv(&sent, 1, MPI_DOUBLE, other, 0, &received, 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        }
#pragma omp barrier
    }
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    omp_init_lock(&lock);
    begin_team_work(2);
    for (int step = 0; step < 5; step++) {
        ordered_sum();
        barriers();
        locked();
        few_tasks();
        funneled(step);
    }
    end_team_work();
    MPI_Finalize();
    return 0;
}
