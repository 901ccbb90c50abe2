// ranks: 4
// truth: without markers. In each of 24 steps rank 0 works 8 ms and the others 16 ms, all exchange with a neighbour, and rank 0 collects a result
// truth: from each of the others, by calls that they do not make, and writes it, 8 ms. It is one loop of all ranks.
// expect: computation[p] = 24 * 0.016
// expect: load_balance = 1
// expect: iterations = 24
// expect: loops = 1
// expect: loop[possible_min] = 24
// expect: loop[possible_max] = 24
// expect: loop[confidence] = 2
#include "work.h"

int main(int argc, char **argv)
{
    int rank, size, theirs;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    for (int k = 0; k < 24; k++) {
        work(rank == 0 ? 8 : 16, 24 * k + 16);
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &theirs, 1, MPI_INT, (rank + size - 1) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 0) {
            for (int p = 1; p < size; p++)
                MPI_Recv(&theirs, 1, MPI_INT, p, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            work(8, 24 * (k + 1));
        } else {
            MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
