// ranks: 1
// link: -lpthread
// wrapper: setpriv --bounding-set=-all --inh-caps=-all sh -c ulimit_-l_1100;exec_"$@" sh
// records: Allreduce 1300
// end: finalize
// maybe: NotSampled
// truth: the user may lock 1,100 KiB. The recorder takes an eighth at most for the samples of nine threads, and leaves the rest to the program,
// truth: which could register it with io_uring
#include <pthread.h>

#include "calls.h"

static volatile int stop;

static void *compute(void *nothing)
{
    volatile double sum = 0;
    while (!stop)
        sum += 1;
    return nothing;
}

/* Bytes of memory that the process has mapped for perf events, all of them locked. */
static long locked(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    unsigned long start, end;
    long sum = 0;
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "[perf_event]") && sscanf(line, "%lx-%lx", &start, &end) == 2)
            sum += end - start;
    fclose(maps);
    return sum;
}

int main(int argc, char **argv)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    int calls = argc > 1 ? atoi(argv[1]) : 1300;
    start(&argc, &argv);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], 0, compute, 0))
            return 2;
    for (int i = 0; i < calls; i++) {
        reduce(1);
        usleep(1000);
    }
    long bytes = locked();
    if (bytes > 1100 * 1024 / 8)
        printf("%ld bytes are locked\n", bytes);
    stop = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    puts("done");
    MPI_Finalize();
    return 0;
}
