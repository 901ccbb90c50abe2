// What threads wait for has a name. In each of 6 steps, in milliseconds of thread time that is lost on both ranks:
//   tables: each thread 10 in the critical section "table", one after the other      40
//   queue: each thread 20 with a lock of the program, one after the other            80
//   total: each thread 5 in a critical section without a name                        20
// A step takes 70 ms, 280 of thread time.
// ranks: 2
// link: -fopenmp
// nominal-s: 0.42
// loss: mutex tables 0.14286
// loss: mutex queue 0.28571
// loss: mutex total 0.07143
// mutex: tables critical table 0.12
// mutex: queue lock +0x 0.24
// mutex: total critical - 0.06
#include "team_work.h"

static omp_lock_t lock;

__attribute__((noinline)) static void tables(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp critical(table)
        TEAM_WORK(10);
    }
}

__attribute__((noinline)) static void queue(void)
{
#pragma omp parallel num_threads(2)
    {
        omp_set_lock(&lock);
        TEAM_WORK(20);
        omp_unset_lock(&lock);
    }
}

__attribute__((noinline)) static void total(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp critical
        TEAM_WORK(5);
    }
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    omp_init_lock(&lock);
    begin_team_work(2);
    for (int step = 0; step < 6; step++) {
        tables();
        queue();
        total();
    }
    end_team_work();
    MPI_Finalize();
    return 0;
}
