// ranks: 2
// before: programs/harmless/profiling_tool.c
// tool: programs/harmless/chaining_tool.c
// records: Allreduce 0 Barrier>= 3
// stderr: 1
// problems: WrappedBefore
// end: exit
// truth: a tool is preloaded before the recorder: it sees its calls as without, the recorder does not, and says so
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
