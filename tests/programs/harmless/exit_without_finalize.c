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
    printf("%ld\n", reduce(3000));
    exit(3);
}
