// ranks: 1
// records: Allreduce 3000
// end: exit
// exit-status: 3
// says: rank 0 ended with exit status 3.
// truth: exit(3) without MPI_Finalize; atexit functions run
#include "calls.h"

static void last_words(void)
{
    printf("last words\n");
}

int main(int argc, char **argv)
{
    atexit(last_words);
    start(&argc, &argv);
    /* The launcher of MPICH may end with 1 where a rank ends with another code before that has come to itself. */
    usleep(200000);
    printf("%ld\n", reduce(3000));
    exit(3);
}
