// All kinds of losses at once. In each of 6 steps, in milliseconds of thread time that is lost on both ranks:
//   the first thread works alone for 10                                           20
//   assemble: static chunks of 10 and 30                                          40
//   forces: both threads 50 on rank 0, 20 on rank 1, which then waits in MPI      60
//   critical_sum: each thread 10 in a critical section, one after the other       40
// A step takes 110 ms, 440 of thread time.
// ranks: 2
// link: -fopenmp
// nominal-s: 0.66
// loss: serial - 0.04545
// loss: thread-imbalance assemble 0.09091
// loss: mpi - 0.13636
// loss: mutex critical_sum 0.09091
// heavy: assemble 1 3.0
#include "team_work.h"

__attribute__((noinline)) static void assemble(void)
{
#pragma omp parallel for schedule(static) num_threads(2)
    for (int i = 0; i < 2; i++)
        TEAM_WORK(i ? 30 : 10);
}

__attribute__((noinline)) static void forces(void)
{
#pragma omp parallel num_threads(2)
    TEAM_WORK(rank_of_work == 0 ? 50 : 20);
}

__attribute__((noinline)) static void critical_sum(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp critical
        TEAM_WORK(10);
    }
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    begin_team_work(2);
    for (int step = 0; step < 6; step++) {
        double own = step, sum;
        ALONE_WORK(10);
        assemble();
        forces();
        critical_sum();
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    end_team_work();
    MPI_Finalize();
    return 0;
}
