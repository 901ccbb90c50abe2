// In each of 10 steps the first thread of rank 0 alone computes in a function for 40 ms of CPU time, and its threads then work for 20 ms; those of rank 1 work
// for 50 ms, and wait for rank 0. On both threads the function takes 20 ms, so that rank 0 waits for rank 1: a step takes 50 ms in place of 60.
// ranks: 2
// link: -fopenmp
// nominal-s: 0.6
// loss: serial - 0.1667
// loss: mpi - 0.0833
// what-if: parallel=set_up
#include "team_work.h"

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

__attribute__((noinline)) static void set_up(double ms)
{
    double end_s = cpu_s() + 1e-3 * ms, x = 1;
    while (cpu_s() < end_s) {
        for (int i = 0; i < 1000; i++)
            x = x * 1.0000001 + 1e-9;
    }
    spun = x;
}

__attribute__((noinline)) static void stencil(void)
{
#pragma omp parallel num_threads(2)
    TEAM_WORK(rank_of_work == 1 ? 50 : 20);
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    begin_team_work(2);
    for (int step = 0; step < 10; step++) {
        double own = step, sum;
        if (rank_of_work == 0)
            set_up(changed_ms(40, 20));
        stencil();
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    end_team_work();
    MPI_Finalize();
    return 0;
}
