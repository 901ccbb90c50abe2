// ranks: 4
// truth: without markers. 24 steps, in which rank 0 works 24 ms and the others 12 ms; from the second on the ranks agree on the length
// truth: of a step before it. All calls are in functions: 23 steps are whole, the report must name 24, too.
// expect: computation[p] = 24 * (0.012 + 0.012*(p == 0))
// expect: loops = 1
// expect: loop[possible_min] = 23
// expect: loop[possible_max] = 24
// expect: loop[confidence] = 1
#include "work.h"

static int rank, size, theirs;
static double longest;

__attribute__((noinline)) static void agree(void)
{
    double mine = 1;
    MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
}

__attribute__((noinline)) static void exchange(int tag)
{
    MPI_Request requests[2];
    MPI_Irecv(&theirs, 1, MPI_INT, (rank + 1) % size, tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&rank, 1, MPI_INT, (rank + size - 1) % size, tag, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    for (int k = 0; k < 24; k++) {
        if (k > 0)
            agree();
        work(rank == 0 ? 24 : 12, 24 * (k + 1));
        exchange(k);
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
