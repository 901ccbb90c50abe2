// ranks: 1
// buffer: 32K
// problems:
// maybe: NotClosed Unfinished
// truth: a handler calls MPI_Abort at any instant, in the middle of a flush too
#include "calls.h"
#include <sys/time.h>

static void give_up(int signal)
{
    (void)signal;
    MPI_Abort(MPI_COMM_WORLD, 6);
}

int main(int argc, char **argv)
{
    signal(SIGALRM, give_up);
    start(&argc, &argv);
    /* The launcher of MPICH ends with 1 where a rank aborts before that has come to itself. */
    usleep(200000);
    struct itimerval when = {.it_value = {.tv_usec = 5000}};
    setitimer(ITIMER_REAL, &when, 0);
    for (;;)
        MPI_Comm_test_inter(MPI_COMM_SELF, &size), MPI_Barrier(MPI_COMM_SELF);
}
