// truth: calls that fill a small disk with their records
// how: run by the test of a full disk, in a folder on a file system of one megabyte
#include "calls.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    long sum = 0;
    for (int i = 0; i < 300; i++) {
        sum += reduce(1000);
        /* So that the records do not compress to nothing. */
        for (int k = 0; k < 50; k++) {
            int in, n = (int)((i * 7919 + k * 104729) % 900);
            static char out[1024], to[1024];
            MPI_Sendrecv(out, n, MPI_CHAR, (rank + 1) % size, n, to, 1024, MPI_CHAR, (rank + size - 1) % size, n, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            in = n;
            sum += in;
        }
    }
    printf("%d: %ld\n", rank, sum);
    MPI_Finalize();
    return 0;
}
