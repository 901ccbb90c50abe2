// ranks: 4
// truth: without markers. 24 steps, in which rank 0 works 24 ms and the others 12 ms. The first lacks the exchange with neighbours, and what it
// truth: found is broadcast before the second; the last lacks the sum. A maximum, which main itself asks for, comes in each of
// truth: them: the number is certain.
// expect: computation[p] = 24 * (0.012 + 0.012*(p == 0))
// expect: iterations = 24
// expect: loops = 1
// expect: loop[possible_min] = 24
// expect: loop[possible_max] = 24
// expect: loop[confidence] = 2
#include "work.h"

static int rank, size, theirs, sum, largest;

__attribute__((noinline)) static void exchange(int tag)
{
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, tag, &theirs, 1, MPI_INT, (rank + size - 1) % size, tag,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static void total(void)
{
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    for (int k = 0; k < 24; k++) {
        work(rank == 0 ? 24 : 12, 24 * (k + 1));
        if (k > 0)
            exchange(k);
        MPI_Allreduce(&rank, &largest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (k < 23)
            total();
        if (k == 0)
            MPI_Bcast(&largest, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
