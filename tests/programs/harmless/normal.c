// ranks: 1 3
// records: Allreduce 1000 Sendrecv 500
// end: finalize
// exit-status: none
// truth: a normal end
#include "calls.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    long sum = reduce(1000) + pass(500);
    printf("%d of %d: %ld\n", rank, size, sum);
    MPI_Finalize();
    return 0;
}
