// ranks: 4
// truth: without markers. A step, a function of its own, runs once to warm up; then 24 steps follow at once, in which rank 0 works 24 ms
// truth: and the others 12 ms. The calls are those of 25 steps, but that to warm up comes from another place of the program.
// expect: computation[p] = 25 * (0.012 + 0.012*(p == 0))
// expect: loops = 1
// expect: iterations = 24
// expect: loop[possible_min] = 24
// expect: loop[possible_max] = 24
// expect: loop[confidence] = 2
#include "work.h"

static int rank, size, sum, own[100], theirs[100];

__attribute__((noinline)) static void exchange(int tag)
{
    MPI_Request requests[2];
    MPI_Irecv(theirs, 100, MPI_INT, (rank + 1) % size, tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(own, 100, MPI_INT, (rank + size - 1) % size, tag, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

__attribute__((noinline)) static void step(int k)
{
    work(rank == 0 ? 24 : 12, 24 * (k + 1));
    exchange(k);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    /* This one is not timed. */
    step(0);
    for (int k = 1; k <= 24; k++)
        step(k);
    end_schedule();
    MPI_Finalize();
    return 0;
}
