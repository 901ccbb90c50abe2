// truth: calls that fill a small disk with their records
// how: run by the test of a full disk, in a folder on a file system of one megabyte
#include "calls.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    long sum = 0;
    for (int i = 0; i < 300; i++) {
        sum += reduce(20);
        /* So that the records do not compress to nothing. */
        for (int k = 0; k < 400; k++) {
            int in, n = (int)((i * 7919 + k * 104729) % 900);
            static char out[1024], to[1024];
            /* To the rank itself: nobody waits for a rank that has no core. */
            MPI_Sendrecv(out, n, MPI_CHAR, rank, n, to, 1024, MPI_CHAR, rank, n, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            in = n;
            sum += in;
        }
    }
    printf("%d: %ld\n", rank, sum);
    MPI_Finalize();
    return 0;
}
