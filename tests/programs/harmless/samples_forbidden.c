// ranks: 2
// tool: programs/harmless/forbids_samples.c
// records: Allreduce 1000
// end: finalize
// problems: NotSampled
// truth: the system refuses samples to this user: there are none, which the report says, and nothing else changes
#include "calls.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    printf("%ld\n", reduce(1000));
    MPI_Finalize();
    return 0;
}
