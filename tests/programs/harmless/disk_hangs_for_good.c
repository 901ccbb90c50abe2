// ranks: 1
// buffer: 32K
// link: -rdynamic -pthread
// problems: DiskSilent Dropped
// maybe: SamplesLost
// times: DiskSilent 1 Dropped 4890
// report: 4
// stderr: 1
// seconds: 140
// end: finalize
// truth: a write to the log never returns: the other threads go on after a minute, and what they call from then on is counted as dropped
#define _GNU_SOURCE
#include "calls.h"
#include <pthread.h>
#include <sys/syscall.h>

static volatile int dead, over;

/* The C library's, also for the recorder. */
ssize_t write(int file, const void *bytes, size_t length)
{
    if (dead && length >= 4 && memcmp(bytes, "LBBK", 4) == 0)
        for (over = 1;;)
            pause();
    return syscall(SYS_write, file, bytes, length);
}

static void call_often(void)
{
    for (int tag = 0; tag < 5000; tag++)
        MPI_Send(&tag, 1, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_SELF);
}

static void *other_thread(void *unused)
{
    call_often();
    over = 1;
    return unused;
}

int main(int argc, char **argv)
{
    int level;
    pthread_t other;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level < MPI_THREAD_MULTIPLE)
        return 1;
    call_often();
    dead = 1;
    if (pthread_create(&other, NULL, other_thread, NULL))
        return 2;
    while (!over)
        usleep(1000);
    call_often();
    puts("done");
    MPI_Finalize();
    return 0;
}
