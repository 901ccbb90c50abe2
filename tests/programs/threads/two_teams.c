// One region is run by teams of two sizes, which wait for one critical section. In each of 5 steps, in milliseconds of the time of 3 cores that each rank loses:
//   a team of 2 works for 20 each in the section, one after the other: 40 of waiting, and a core without a thread    40 and 40
//   a team of 3 does the same                                                                                       120
// The step takes 100 ms, 300 of core time.
// ranks: 2
// threads: 3
// link: -fopenmp
// nominal-s: 0.5
// loss: mutex update 0.4
// loss: serial - 0.1333
// mutex: update*2 critical table 0.2
// mutex: update*3 critical table 0.6
#include "team_work.h"

__attribute__((noinline)) static void update(int threads)
{
#pragma omp parallel num_threads(threads)
    {
#pragma omp critical(table)
        TEAM_WORK(20);
    }
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    begin_team_work(3);
    for (int step = 0; step < 5; step++) {
        update(2);
        update(3);
    }
    end_team_work();
    MPI_Finalize();
    return 0;
}
