// ranks: 2
// records: Allreduce 10
// end: finalize
// exit-status: 5
// says: ended with exit status 5.
// says-not: to gain
// says-not: Gain:
// truth: an exit code after MPI_Finalize is the program's own
#include "calls.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    /* The launcher of MPICH may end with 1 where a rank ends with another code before that has come to itself. */
    usleep(200000);
    printf("%ld\n", reduce(10));
    MPI_Finalize();
    return 5;
}
