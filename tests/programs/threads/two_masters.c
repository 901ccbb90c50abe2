// Two threads of each rank start parallel regions, each with a team of two of its own, at the same time. In each of 20 steps, in milliseconds of the time of 4 cores:
//   the first thread: stencil, 20 on both threads, then 10 alone              10 of its other thread are lost
//   another thread: particles, static chunks of 10 and 30                     20
// A step takes 30 ms, 120 of core time.
// ranks: 2
// threads: 4
// link: -fopenmp -pthread
// nominal-s: 0.6
// loss: serial - 0.08333
// loss: thread-imbalance particles 0.16667
// heavy: particles 1
#include "team_work.h"
#include <pthread.h>

enum { STEPS = 20 };

__attribute__((noinline)) static void stencil(void)
{
#pragma omp parallel num_threads(2)
    TEAM_WORK(20);
}

__attribute__((noinline)) static void particles(void)
{
#pragma omp parallel for schedule(static) num_threads(2)
    for (int i = 0; i < 2; i++)
        work_in("particles", OTHER_MASTER + omp_get_thread_num(), i ? 30 : 10);
}

static void *other_master(void *argument)
{
    for (int step = 0; step < STEPS; step++)
        particles();
    return argument;
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    begin_team_work(2);
    pthread_t other;
    pthread_create(&other, NULL, other_master, NULL);
    for (int step = 0; step < STEPS; step++) {
        stencil();
        ALONE_WORK(10);
    }
    pthread_join(other, NULL);
    end_team_work();
    MPI_Finalize();
    return 0;
}
