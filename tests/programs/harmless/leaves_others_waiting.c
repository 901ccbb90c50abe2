// ranks: 1
// buffer: 32K
// link: -rdynamic -pthread
// problems: Dropped LeftByJump
// maybe: Unfinished NotClosed Gap OtherThreads
// times: LeftByJump 1 Dropped 3000
// stderr: 1
// report: 4
// end: finalize
// truth: a signal comes while a thread writes to the log, and its handler leaves by siglongjmp; then that thread waits for another one, which needs
// truth: the log, too: that one goes on without it after some seconds, recording ends, and the program with it as without the recorder
#define _GNU_SOURCE
#include "calls.h"
#include "leave_in_write.h"
#include <pthread.h>

static void *call_often(void *sum)
{
    *(long *)sum = reduce(3000);
    return NULL;
}

int main(int argc, char **argv)
{
    int level;
    pthread_t other;
    long others = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level < MPI_THREAD_MULTIPLE)
        return 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    signal(SIGUSR1, leave);
    long sum = reduce(600);
    armed = 1;
    if (!sigsetjmp(back, 1))
        for (int i = 0; i < 1000; i++)
            MPI_Barrier(MPI_COMM_SELF);
    armed = 0;
    /* This thread makes no call in which it could find out what has happened. */
    if (pthread_create(&other, NULL, call_often, &others))
        return 2;
    pthread_join(other, NULL);
    printf("%ld\n", sum + others);
    MPI_Finalize();
    return 0;
}
