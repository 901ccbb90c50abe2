// ranks: 2
// buffer: 32K
// report: 5
// stderr: 2
// truth: the folder of the logs is removed while the program runs
#define _GNU_SOURCE
#include "calls.h"
#include <ftw.h>

static int gone(const char *path, const struct stat *stat, int type, struct FTW *where)
{
    (void)stat, (void)type, (void)where;
    return remove(path);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    long sum = reduce(3000);
    if (rank == 0)
        nftw("logs", gone, 8, FTW_DEPTH | FTW_PHYS);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%ld\n", sum + reduce(3000));
    MPI_Finalize();
    return 0;
}
