// ranks: 4
// end: finalize
// problems: OtherThreads
// truth: threads that have called MPI end while MPI_Finalize is under way; they and their calls need not wait for each other
#include <pthread.h>

#include "calls.h"

enum { THREADS = 200 };

static pthread_barrier_t called;

static void *probe(void *number)
{
    int flag;
    for (int tag = 0; tag < 50; tag++)
        MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    pthread_barrier_wait(&called);
    usleep((long)number % 50 * 200);
    return NULL;
}

int main(int argc, char **argv)
{
    int level;
    pthread_t thread;
    pthread_attr_t detached;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level < MPI_THREAD_MULTIPLE)
        return 1;
    pthread_barrier_init(&called, NULL, THREADS + 1);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&detached, 1 << 20);
    for (long i = 0; i < THREADS; i++)
        if (pthread_create(&thread, &detached, probe, (void *)i) != 0)
            return 2;
    pthread_barrier_wait(&called);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Finalize();
    if (rank == 0)
        printf("done\n");
    return 0;
}
