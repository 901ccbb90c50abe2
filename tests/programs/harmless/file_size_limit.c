// ranks: 2
// link: -lpthread
// buffer: 32K
// problems: Dropped
// maybe: ThreadLost Truncated Gap NotClosed SamplesLost
// report: 4
// stderr: 4
// truth: files may not grow (RLIMIT_FSIZE): that is no reason for SIGXFSZ to end the program
#include "calls.h"
#include <pthread.h>
#include <sys/resource.h>

static void *other_thread(void *nothing)
{
    for (int i = 0; i < 20; i++)
        MPI_Barrier(MPI_COMM_SELF);
    return nothing;
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long sum = reduce(100);
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 8192;
    setrlimit(RLIMIT_FSIZE, &limit);
    sum += reduce(8000);
    pthread_t thread;
    pthread_create(&thread, 0, other_thread, 0);
    pthread_join(thread, 0);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
    printf("%ld\n", sum);
    MPI_Finalize();
    return 0;
}
