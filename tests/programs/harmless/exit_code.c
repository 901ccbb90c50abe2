// ranks: 2
// records: Allreduce 10
// end: finalize
// exit-status: 5
// says: ended with exit status 5.
// says-not: nothing to gain
// says-not: Gain:
// truth: an exit code after MPI_Finalize is the program's own
#include "calls.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    printf("%ld\n", reduce(10));
    MPI_Finalize();
    return 5;
}
