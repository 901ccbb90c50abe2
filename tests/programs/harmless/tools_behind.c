// ranks: 2
// tool: programs/harmless/chaining_tool.c programs/harmless/profiling_tool.c
// records: Allreduce 50 Barrier 3
// end: finalize
// truth: two other tools come behind the recorder: both see each call, as without it; what they do with MPI themselves counts nowhere
#include "calls.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    long sum = reduce(50);
    for (int i = 0; i < 3; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    printf("%ld\n", sum);
    MPI_Finalize();
    return 0;
}
