// truth: rank 0 empties the node's file of rings while all ranks run, then makes it as long as before, of zeros; all go on
#include "../harmless/calls.h"
#include <sys/stat.h>

int main(int argc, char **argv)
{
    start(&argc, &argv);
    reduce(700);
    const char *folder = getenv("LBPROF_DIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/node-000000.rings", folder ? folder : "");
    struct stat facts;
    if (rank == 0 && folder && stat(path, &facts) == 0 && truncate(path, 0) == 0 && argc > 1) {
        truncate(path, facts.st_size);
    }
    reduce(3000);
    MPI_Finalize();
    return 0;
}
