// ranks: 3
// buffer: 32K
// records: Allreduce>= 2280
// problems: RingLost
// times: RingLost 3
// stderr: 3
// report: 4
// end: finalize
// truth: each rank empties the files of its rings while it runs, in a way of its own: to nothing, to the head and a part of the slots, or to as
// truth: many zeros as before. It goes on; up to a ring of records (512) is lost, which is reported; what comes later is in the log.
#include "calls.h"
#include <sys/stat.h>

static void cut(void)
{
    struct stat before;
    char path[4096];
    const char *folder = getenv("LBPROF_DIR");
    snprintf(path, sizeof path, "%s/rank-%06d.ring-0", folder ? folder : "", rank);
    if (stat(path, &before))
        return;
    if (truncate(path, rank == 1 ? 4096 + 64 * 100 : 0) || (rank == 2 && truncate(path, before.st_size)))
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
