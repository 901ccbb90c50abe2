// ranks: 2
// buffer: 32K
// link: -rdynamic
// records: Allreduce>= 600 Barrier>= 300
// problems: Dropped LeftByJump
// maybe: Unfinished NotClosed Gap
// times: LeftByJump 2 Dropped 2000
// stderr: 2
// report: 4
// end: finalize
// truth: a signal comes while the recorder writes to its log, and its handler leaves by siglongjmp: recording ends there, which is reported once a
// truth: rank and under no other name, and the program goes on as without the recorder
#define _GNU_SOURCE
#include "calls.h"
#include "leave_in_write.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    signal(SIGUSR1, leave);
    long sum = reduce(600);
    /* Alone: the call in which the handler comes is not made. Its records come to the log at a flush, of which there may be one early where samples wait. */
    if (!sigsetjmp(back, 1))
        for (int i = 0; i < 1000; i++) {
            armed = i > 300;
            MPI_Barrier(MPI_COMM_SELF);
        }
    armed = 0;
    sum += reduce(1000);
    printf("%ld\n", sum);
    MPI_Finalize();
    return 0;
}
