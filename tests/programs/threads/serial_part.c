// In each of 10 steps the first thread works alone for 20 ms, then both for 40 ms; then MPI_Allreduce.
// ranks: 2
// link: -fopenmp
// nominal-s: 0.6
// loss: serial - 0.1667
#include "team_work.h"

__attribute__((noinline)) static void stencil(void)
{
#pragma omp parallel num_threads(2)
    TEAM_WORK(40);
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    begin_team_work(2);
    for (int step = 0; step < 10; step++) {
        double own = step, sum;
        ALONE_WORK(20);
        stencil();
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    end_team_work();
    MPI_Finalize();
    return 0;
}
