// In each of 10 steps the static chunk of thread 0 takes 20 ms, that of thread 1 60 ms, on both ranks; then MPI_Allreduce.
// ranks: 2
// link: -fopenmp
// nominal-s: 0.6
// loss: thread-imbalance sweep 0.3333
// heavy: sweep 1
// what-if: threads-balanced=sweep
#include "team_work.h"

__attribute__((noinline)) static void sweep(void)
{
#pragma omp parallel for schedule(static) num_threads(2)
    for (int i = 0; i < 4; i++)
        TEAM_WORK(changed_ms(i < 2 ? 10 : 30, 20));
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    begin_team_work(2);
    for (int step = 0; step < 10; step++) {
        double own = step, sum;
        sweep();
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    end_team_work();
    MPI_Finalize();
    return 0;
}
