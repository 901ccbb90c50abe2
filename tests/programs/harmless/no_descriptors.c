// ranks: 2
// link: -lpthread
// buffer: 32K
// env: UCX_LOG_LEVEL=fatal
// records: Allreduce 6000
// problems: NotSampled OtherThreads
// end: finalize
// truth: after MPI_Init no file can be opened any more; what is open goes on, and a new thread has its ring in a file that is open, but cannot be sampled
#include "calls.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>

static void *other_thread(void *result)
{
    *(long *)result = 0;
    for (int i = 0; i < 20; i++) {
        int in, out = i;
        MPI_Sendrecv(&out, 1, MPI_INT, 0, 5, &in, 1, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        *(long *)result += in;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pass(10);
    int lowest = open("/dev/null", O_RDONLY);
    close(lowest);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = (rlim_t)lowest;
    setrlimit(RLIMIT_NOFILE, &limit);
    long sum = reduce(6000), theirs;
    pthread_t thread;
    pthread_create(&thread, 0, other_thread, &theirs);
    pthread_join(thread, 0);
    printf("%ld %ld\n", sum, theirs);
    MPI_Finalize();
    return 0;
}
