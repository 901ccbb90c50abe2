// ranks: 1
// buffer: 32K
// link: -rdynamic -pthread
// calls: 6003
// problems: OtherThreads
// end: finalize
// exit-status: none
// truth: under a system call filter, where nobody can see what another thread does, writing a block of the log takes four seconds, in which
// truth: another thread needs the log, too: it waits, and nothing is lost
#define _GNU_SOURCE
#include "calls.h"
#include "forbid.h"
#include <pthread.h>

static volatile int armed;
static pthread_barrier_t both;

/* The C library's, also for the recorder, in place of a disk that is slow at times. */
ssize_t write(int file, const void *bytes, size_t length)
{
    if (length >= 4 && memcmp(bytes, "LBBK", 4) == 0 && __sync_bool_compare_and_swap(&armed, 1, 0))
        sleep(4);
    return syscall(SYS_write, file, bytes, length);
}

/* Messages to nobody, because threads may not be in a collective operation on one communicator at the same time. */
static void send(int times)
{
    for (int tag = 0; tag < times; tag++)
        MPI_Send(&tag, 1, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_SELF);
}

/* Both threads are recorded when one puts itself under the filter. */
static void *call_often(void *filter)
{
    send(1);
    pthread_barrier_wait(&both);
    if (filter) {
        forbid();
        armed = 1;
    }
    pthread_barrier_wait(&both);
    send(3000);
    return NULL;
}

int main(int argc, char **argv)
{
    int level;
    pthread_t other;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level < MPI_THREAD_MULTIPLE)
        return 1;
    if (pthread_barrier_init(&both, NULL, 2) || pthread_create(&other, NULL, call_often, NULL))
        return 2;
    call_often(&both);
    pthread_join(other, NULL);
    puts("done");
    MPI_Finalize();
    return 0;
}
