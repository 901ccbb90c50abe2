// ranks: 2
// env: LBPROF_DIR=logs
// buffer: 32K
// records: Allreduce 3000
// end: finalize
// truth: the program works in another folder from before MPI_Init on, and yet elsewhere later
#include "calls.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    long sum = reduce(1500);
    if (chdir("/"))
        return 1;
    sum += reduce(1500);
    printf("%ld\n", sum);
    MPI_Finalize();
    return 0;
}
