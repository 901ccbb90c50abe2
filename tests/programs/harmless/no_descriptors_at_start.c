// ranks: 2
// tool: programs/harmless/tool.c
// env: LBTEST_CLAMP=1
// env: UCX_LOG_LEVEL=fatal
// report: 5
// stderr: 2
// truth: no file can be opened from MPI_Init on; nothing can be recorded, which each rank reports once
#include "calls.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    printf("%ld\n", reduce(3000) + pass(100));
    MPI_Finalize();
    return 0;
}
