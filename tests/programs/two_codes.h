/* A run of two codes, each on half of the ranks and with iterations of its own: programs of tests say whether these are marked.
 *
 * The halves exchange messages at the begin and at the end, and meet nowhere between. */
#ifndef TWO_CODES_H
#define TWO_CODES_H

#include "work.h"

/* The first code: its first rank works 60 ms a step, the others 30 ms; a barrier ends each of 20 steps. */
static void ocean(MPI_Comm comm)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    for (int k = 0; k < 20; k++) {
        STEP_BEGIN("ocean");
        work(rank == 0 ? 60 : 30, 60 * (k + 1));
        MPI_Barrier(comm);
        STEP_END("ocean");
    }
}

/* The second code: each rank in turn works 40 ms in a step, the others 20 ms; they pass a value around, and a barrier ends each of
 * 30 steps. */
static void atmosphere(MPI_Comm comm)
{
    int rank, size, theirs;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int k = 0; k < 30; k++) {
        STEP_BEGIN("atmosphere");
        work(rank == k % size ? 40 : 20, 40 * (k + 1));
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &theirs, 1, MPI_INT, (rank + size - 1) % size, 0, comm,
                     MPI_STATUS_IGNORE);
        MPI_Barrier(comm);
        STEP_END("atmosphere");
    }
}

static void couple(int rank, int size)
{
    int theirs, other = (rank + size / 2) % size;
    MPI_Sendrecv(&rank, 1, MPI_INT, other, 1, &theirs, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int first = rank < size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, first, rank, &half);
    begin_schedule();
    couple(rank, size);
    if (first)
        ocean(half);
    else
        atmosphere(half);
    couple(rank, size);
    end_schedule();
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}

#endif
