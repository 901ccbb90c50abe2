// ranks: 4
// buffer: 32K
// records: Allreduce>= 2280
// problems: RingLost
// times: RingLost 4
// stderr: 4
// report: 4
// end: finalize
// truth: each rank empties the files of its rings while it runs, in a way of its own: to nothing, to the head and a part of the slots, and both
// truth: again with as many zeros as before in their place. It goes on; up to a ring of records (512) is lost, which is reported; what comes later is in the log.
#include "calls.h"
#include <sys/stat.h>

static void cut(void)
{
    struct stat before;
    char path[4096];
    const char *folder = getenv("LBPROF_DIR");
    snprintf(path, sizeof path, "%s/rank-%06d.rings", folder ? folder : "", rank);
    if (stat(path, &before))
        return;
    if (truncate(path, rank % 2 == 1 ? 4096 + 64 * 100 : 0) || (rank >= 2 && truncate(path, before.st_size)))
        printf("%s cannot be cut\n", path);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    long sum = reduce(1300);
    cut();
    sum += reduce(1500);
    printf("%ld\n", sum);
    MPI_Finalize();
    return 0;
}
