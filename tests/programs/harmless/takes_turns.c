// ranks: 1
// buffer: 32K
// link: -rdynamic -pthread
// problems: OtherThreads
// end: finalize
// truth: each write to the log takes 30 ms, and two threads always have something to write: neither writes many times while the other waits
#define _GNU_SOURCE
#include "calls.h"
#include <pthread.h>
#include <sys/syscall.h>

/* Without turns one thread writes all its blocks first. A thread that has no core for a while misses some turns. */
enum { BLOCKS = 40, MOST = 15 };

/* By thread, while the log is locked: how often it has written, and how often the other one has since then. */
static int written[2], passed[2], most;
static volatile int armed;
static __thread int self;
static pthread_barrier_t both;

/* The C library's, also for the recorder. */
ssize_t write(int file, const void *bytes, size_t length)
{
    if (armed && length >= 4 && memcmp(bytes, "LBBK", 4) == 0) {
        usleep(30000);
        /* Only while the other one goes on, too. */
        if (++written[self] < BLOCKS && written[!self] < BLOCKS && ++passed[!self] > most)
            most = passed[!self];
        passed[self] = 0;
    }
    return syscall(SYS_write, file, bytes, length);
}

static void *call_often(void *number)
{
    self = number != NULL;
    MPI_Send(&self, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF);
    pthread_barrier_wait(&both);
    armed = 1;
    for (int tag = 0; tag < BLOCKS * 600; tag++)
        MPI_Send(&tag, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF);
    return NULL;
}

int main(int argc, char **argv)
{
    int level;
    pthread_t other;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level < MPI_THREAD_MULTIPLE)
        return 1;
    if (pthread_barrier_init(&both, NULL, 2) || pthread_create(&other, NULL, call_often, &other))
        return 2;
    call_often(NULL);
    pthread_join(other, NULL);
    if (most > MOST)
        printf("one thread has written %d times while the other waited\n", most);
    puts("done");
    MPI_Finalize();
    return 0;
}
