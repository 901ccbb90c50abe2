// Both threads of rank 0 work 60 ms in each of 10 steps, those of rank 1 30 ms; then MPI_Allreduce.
// ranks: 2
// link: -fopenmp
// nominal-s: 0.6
// loss: mpi - 0.25
#include "team_work.h"

__attribute__((noinline)) static void compute_forces(void)
{
#pragma omp parallel num_threads(2)
    TEAM_WORK(rank_of_work == 0 ? 60 : 30);
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    begin_team_work(2);
    for (int step = 0; step < 10; step++) {
        double own = step, sum;
        compute_forces();
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    end_team_work();
    MPI_Finalize();
    return 0;
}
