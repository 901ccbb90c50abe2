// ranks: 2
// records: Barrier 4
// end: finalize
// truth: both ranks compute for 400 ms of CPU time on the same core, so that each waits for the core for half of what seems to be its
// truth: computation
// says: Ranks had no cores of their own
// says: computation is waiting for a core
// says: measure again with one rank per core
// says-not: to gain
// says-not: Gain:
// says-not: slept
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <time.h>

/* All ranks of a host agree on the core: the first that the system lets them have, whatever the launcher has bound each to. */
static void share_a_core(void)
{
    cpu_set_t one;
    for (int core = 0; core < CPU_SETSIZE; core++) {
        CPU_ZERO(&one);
        CPU_SET(core, &one);
        if (sched_setaffinity(0, sizeof one, &one) == 0)
            return;
    }
}

static void spin(double cpu_s)
{
    struct timespec from, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((double)(now.tv_sec - from.tv_sec) + 1e-9 * (double)(now.tv_nsec - from.tv_nsec) < cpu_s);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    share_a_core();
    for (int k = 0; k < 4; k++) {
        spin(0.1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
