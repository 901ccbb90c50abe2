// ranks: 1
// buffer: 32K
// problems: Dropped Gap
// maybe: SamplesLost
// report: 4
// stderr: 0
// truth: the program closes the standard error and opens a file of its own, which gets its number; records are lost then (RLIMIT_FSIZE),
// truth: which the report says, but the message about it is not written into that file
#include "calls.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
    start(&argc, &argv);
    long sum = reduce(700);
    close(2);
    int own = open("own_file", O_RDWR | O_CREAT | O_TRUNC, 0600);
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 8192;
    setrlimit(RLIMIT_FSIZE, &limit);
    sum += reduce(4000);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
    struct stat stat;
    fstat(own, &stat);
    printf("file %d has %ld bytes, %ld\n", own, (long)stat.st_size, sum);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
