// ranks: 1
// records: Allreduce 2600
// end: finalize
// truth: the program's own handler of SIGTERM lets it end well
#include "calls.h"

static volatile sig_atomic_t asked;

static void ask(int signal)
{
    asked = signal;
}

int main(int argc, char **argv)
{
    signal(SIGTERM, ask);
    start(&argc, &argv);
    long sum = reduce(1300);
    kill(getpid(), SIGTERM);
    sum += reduce(1300);
    printf("%ld, signal %d\n", sum, asked);
    MPI_Finalize();
    return 0;
}
