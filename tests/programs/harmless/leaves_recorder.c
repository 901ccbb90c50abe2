// ranks: 2
// buffer: 32K
// link: -rdynamic
// records: Allreduce>= 600 Barrier>= 300
// problems: LeftByJump
// maybe: Unfinished, NotClosed, Gap
// times: LeftByJump 2
// stderr: 2
// report: 4
// end: finalize
// truth: a signal comes while the recorder writes to its log, and its handler leaves by siglongjmp: recording ends there, which is reported once a
// truth: rank and under no other name, and the program goes on as without the recorder
#define _GNU_SOURCE
#include "calls.h"
#include <setjmp.h>
#include <sys/syscall.h>

static volatile sig_atomic_t armed;
static sigjmp_buf back;

/* The C library's, also for the recorder: it raises the signal within a block of the log. */
ssize_t write(int file, const void *bytes, size_t length)
{
    if (armed && length >= 4 && memcmp(bytes, "LBBK", 4) == 0) {
        armed = 0;
        raise(SIGUSR1);
    }
    return syscall(SYS_write, file, bytes, length);
}

static void leave(int signal)
{
    (void)signal;
    siglongjmp(back, 1);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    signal(SIGUSR1, leave);
    long sum = reduce(600);
    /* Alone: the call in which the handler comes is not made. Its call path is defined in the log at the first call, its records at a flush. */
    if (!sigsetjmp(back, 1))
        for (int i = 0; i < 1000; i++) {
            armed = i > 0;
            MPI_Barrier(MPI_COMM_SELF);
        }
    armed = 0;
    sum += reduce(1000);
    printf("%ld\n", sum);
    MPI_Finalize();
    return 0;
}
