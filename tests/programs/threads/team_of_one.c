// In each of 5 steps a team of one thread works for 20 ms, then a team of two for 40 ms on rank 0, for 20 ms on rank 1, which then waits in MPI_Allreduce. What a
// thread was in MPI before is no part of what the next team of one does.
// ranks: 2
// link: -fopenmp
// nominal-s: 0.3
// loss: serial - 0.1667
// loss: mpi - 0.1667
#include "team_work.h"

__attribute__((noinline)) static void alone(void)
{
#pragma omp parallel num_threads(1)
    TEAM_WORK(20);
}

__attribute__((noinline)) static void together(void)
{
#pragma omp parallel num_threads(2)
    TEAM_WORK(rank_of_work ? 20 : 40);
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    begin_team_work(2);
    for (int step = 0; step < 5; step++) {
        double own = step, sum;
        alone();
        together();
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    end_team_work();
    MPI_Finalize();
    return 0;
}
