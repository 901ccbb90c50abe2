// In each of 10 steps the threads of rank 0 work 10 and 50 ms, those of rank 1 both 40; then MPI_Allreduce, in which rank 1 waits for rank 0. With equal work
// for the threads of rank 0, 30 ms, it waits for rank 1: a step takes 40 ms in place of 50.
// ranks: 2
// link: -fopenmp
// nominal-s: 0.5
// loss: thread-imbalance advance 0.2
// loss: mpi - 0.1
// what-if: threads-balanced
#include "team_work.h"

__attribute__((noinline)) static void advance(void)
{
#pragma omp parallel for schedule(static) num_threads(2)
    for (int i = 0; i < 2; i++)
        TEAM_WORK(rank_of_work == 1 ? 40 : changed_ms(i ? 50 : 10, 30));
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    begin_team_work(2);
    for (int step = 0; step < 10; step++) {
        double own = step, sum;
        advance();
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    end_team_work();
    MPI_Finalize();
    return 0;
}
