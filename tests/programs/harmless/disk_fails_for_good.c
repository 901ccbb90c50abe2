// ranks: 1
// buffer: 32K
// link: -rdynamic -pthread
// problems: Dropped
// maybe: SamplesLost
// times: Dropped 10422
// report: 4
// stderr: 1
// end: finalize
// truth: from some instant on nothing can be written to the log any more: what two threads recorded after that is counted
#define _GNU_SOURCE
#include "calls.h"
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>

static volatile int dead;

/* The C library's, also for the recorder. */
ssize_t write(int file, const void *bytes, size_t length)
{
    if (dead && length >= 4 && memcmp(bytes, "LBBK", 4) == 0) {
        errno = EIO;
        return -1;
    }
    return syscall(SYS_write, file, bytes, length);
}

static void *call_often(void *unused)
{
    for (int tag = 0; tag < 5000; tag++)
        MPI_Send(&tag, 1, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_SELF);
    return unused;
}

int main(int argc, char **argv)
{
    int level;
    pthread_t other;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level < MPI_THREAD_MULTIPLE)
        return 1;
    call_often(NULL);
    dead = 1;
    if (pthread_create(&other, NULL, call_often, NULL))
        return 2;
    call_often(NULL);
    pthread_join(other, NULL);
    puts("done");
    MPI_Finalize();
    return 0;
}
