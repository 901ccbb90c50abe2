// ranks: 8
// truth: in each step main computes, then ranks sum and broadcast a number by a binomial tree of sends and receives, which end with other
// truth: calls on each rank. Rank 5 computes three times as long as the others.
// headline: main (tree.c
// share: 0.9
#include <mpi.h>
#include <time.h>

static void compute(int ms)
{
    struct timespec time = {0, ms * 1000000L};
    nanosleep(&time, 0);
}

int main(int argc, char **argv)
{
    int rank, size;
    double sum, part;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 0; step < 40; step++) {
        compute(rank == 5 ? 9 : 3);
        sum = rank;
        int bit;
        for (bit = 1; bit < size && !(rank & bit); bit <<= 1)
            if (rank + bit < size) {
                MPI_Recv(&part, 1, MPI_DOUBLE, rank + bit, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                sum += part;
            }
        if (rank > 0) {
            MPI_Send(&sum, 1, MPI_DOUBLE, rank - bit, 0, MPI_COMM_WORLD);
            MPI_Recv(&sum, 1, MPI_DOUBLE, rank - bit, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        for (bit >>= 1; bit > 0; bit >>= 1)
            if (rank + bit < size)
                MPI_Send(&sum, 1, MPI_DOUBLE, rank + bit, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
