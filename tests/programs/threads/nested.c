// In each of 5 steps each of two threads starts an inner region of two threads, all of which work: for 20 ms those of thread 0, for 40 ms those of thread 1. Only
// what the outer threads do counts: thread 0 waits for 20 ms. Then both work for 20 ms in a region without an inner one, and MPI_Allreduce follows.
// ranks: 2
// link: -fopenmp
// nominal-s: 0.3
// loss: thread-imbalance outer 0.16667
// heavy: outer 1
#include "team_work.h"

__attribute__((noinline)) static void outer(void)
{
#pragma omp parallel num_threads(2)
    {
        int own = omp_get_thread_num();
#pragma omp parallel num_threads(2)
        {
            if (omp_get_thread_num() == 0)
                TEAM_WORK(own ? 40 : 20);
            else
                nanosleep(&(struct timespec){ .tv_nsec = own ? 40000000 : 20000000 }, NULL);
        }
    }
}

__attribute__((noinline)) static void plain(void)
{
#pragma omp parallel num_threads(2)
    TEAM_WORK(20);
}

int main(int argc, char **argv)
{
    int level;
    omp_set_max_active_levels(2);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    begin_team_work(2);
    for (int step = 0; step < 5; step++) {
        double own = step, sum;
        outer();
        plain();
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    end_team_work();
    MPI_Finalize();
    return 0;
}
