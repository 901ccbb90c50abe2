// ranks: 2
// tool: programs/harmless/tool.c
// records: Allreduce 50
// end: finalize
// truth: another preloaded tool sees its calls as before
#include "calls.h"
#include <dlfcn.h>

int main(int argc, char **argv)
{
    start(&argc, &argv);
    long sum = reduce(50);
    int *seen = (int *)dlsym(RTLD_DEFAULT, "tool_calls_seen");
    printf("%ld, the tool saw %d\n", sum, seen ? *seen : -1);
    MPI_Finalize();
    return 0;
}
