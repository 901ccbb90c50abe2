// ranks: 1
// wrapper: sh -c exec_"$0"_"$@"_2>&-
// env: LBPROF_VERBOSE=1
// records: Allreduce 100
// end: finalize
// truth: the standard error is closed from the start, and a file of the program gets its number; no message gets into it
#include <sys/stat.h>
#include <fcntl.h>
#include "calls.h"

int main(int argc, char **argv)
{
    char name[64];
    snprintf(name, sizeof name, "closed_errors.%d", (int)getpid());
    int own = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    unlink(name);
    start(&argc, &argv);
    long sum = reduce(100);
    MPI_Finalize();
    struct stat stat;
    fstat(own, &stat);
    printf("%ld, file %d has %ld bytes\n", sum, own, (long)stat.st_size);
    return 0;
}
