// ranks: 1
// buffer: 32K
// problems: NoMemory
// maybe: NotClosed Dropped Unfinished
// report: 4
// stderr: 1 2
// truth: the process has no memory left (ulimit -v), of which the recorder must not die
#include "calls.h"
#include <lbprof.h>
#include <sys/resource.h>

int main(int argc, char **argv)
{
    start(&argc, &argv);
    long sum = reduce(4000);
    char name[4096];
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld", &pages) != 1)
        abort();
    fclose(file);
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = (rlim_t)pages * 4096;
    setrlimit(RLIMIT_AS, &limit);
    /* And what the C library still has. */
    for (size_t bytes = 1 << 20; bytes >= 16; bytes /= 2)
        while (malloc(bytes)) {
        }
    /* Names of which each takes memory. */
    for (int i = 0; i < 200; i++) {
        memset(name, 'a', sizeof name);
        snprintf(name + 4000, 90, "%d", i);
        LBPROF_PHASE_BEGIN(name);
        sum += reduce(20);
        LBPROF_PHASE_END(name);
    }
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_AS, &limit);
    printf("%ld\n", sum);
    MPI_Finalize();
    return 0;
}
