// ranks: 1
// tool: programs/harmless/refuses_locked_memory.c
// records: Allreduce 1000
// end: finalize
// problems: NotSampled
// truth: its user may lock no memory: there are no samples, which the report says, and nothing else changes
#include "calls.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    printf("%ld\n", reduce(1000));
    MPI_Finalize();
    return 0;
}
