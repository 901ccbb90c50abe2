// In each of 5 steps one thread makes the 4 tasks of a loop, 20 ms each, which both threads run: 40 ms of work for both. Then one thread makes 3 tasks of 20 ms,
// so that the other one waits for 20 ms; then MPI_Allreduce. A step takes 80 ms.
// ranks: 2
// link: -fopenmp
// nominal-s: 0.4
#include "team_work.h"

__attribute__((noinline)) static void even(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop num_tasks(4)
    for (int i = 0; i < 4; i++)
        TEAM_WORK(20);
}

__attribute__((noinline)) static void uneven(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop num_tasks(3)
    for (int i = 0; i < 3; i++)
        TEAM_WORK(20);
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    begin_team_work(2);
    for (int step = 0; step < 5; step++) {
        double own = step, sum;
        even();
        uneven();
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    end_team_work();
    MPI_Finalize();
    return 0;
}
