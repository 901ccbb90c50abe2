// ranks: 1
// link: -lpthread
// buffer: 32K
// records: Allreduce 5700
// end: finalize
// exit-status: none
// problems: ThreadLost
// report: 4
// stderr: 1
// truth: the program puts itself under a system call filter that ends it for calls that it does not make itself: the recorder makes none
// truth: of them from then on. Further threads cannot be recorded, which is said
#include "calls.h"
#include "forbid.h"
#include <pthread.h>

static void *other_thread(void *nothing)
{
    for (int i = 0; i < 100; i++)
        MPI_Barrier(MPI_COMM_SELF);
    return nothing;
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long sum = reduce(700);
    forbid();
    sum += reduce(2000);
    /* What is asked once a second. */
    usleep(1100000);
    sum += reduce(3000);
    pthread_t thread;
    pthread_create(&thread, 0, other_thread, 0);
    pthread_join(thread, 0);
    printf("%ld\n", sum);
    fflush(stdout);
    MPI_Finalize();
    return 3;
}
