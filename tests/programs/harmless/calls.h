/* What the programs of this folder share: who we are, and calls whose number is known. */
#ifndef CALLS_H
#define CALLS_H

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void start(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

/* `n` times MPI_Allreduce over all ranks; gives the sum of what came out. */
static long reduce(int n)
{
    long sum = 0;
    for (int i = 0; i < n; i++) {
        int one = rank + i, all;
        MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        sum += all;
    }
    return sum;
}

/* `n` times MPI_Sendrecv around the ring; gives the sum of what arrived. */
static long pass(int n)
{
    long sum = 0;
    for (int i = 0; i < n; i++) {
        int out = 7 * rank + i, in = -1;
        MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 3, &in, 1, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        sum += in;
    }
    return sum;
}

/* `n` times a message between two ranks, each way, then a barrier: both have sent all when either goes on. */
static void exchange(int n)
{
    for (int i = 0; i < n; i++) {
        MPI_Request request;
        int in;
        MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &request);
        MPI_Ssend(&i, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

#endif
