// ranks: 2
// wrapper: sh -c exec_"$0"_"$@"_>&-
// records: Allreduce 3000
// end: finalize
// truth: the standard output is closed: printing fails, and nothing of ours takes its place
#include "calls.h"
#include <sys/stat.h>

int main(int argc, char **argv)
{
    start(&argc, &argv);
    long sum = reduce(3000);
    struct stat stat;
    int failed = printf("%ld\n", sum) < 0 || fflush(stdout) != 0;
    int regular = fstat(1, &stat) == 0 && S_ISREG(stat.st_mode);
    MPI_Finalize();
    return 10 + failed + 2 * regular;
}
