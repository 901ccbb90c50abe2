/* Further collective operations, and algorithms of messages in their place. */
#ifndef LABORATORY_REDUCTIONS_H
#define LABORATORY_REDUCTIONS_H

#include "matching.h"

/* A reduce-scatter and an allgather around a ring. */
static void by_ring(void)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int i = 0; i < 2 * (size - 1); i++)
        MPI_Sendrecv(sent[0], n_bytes, MPI_BYTE, right, 60, received[0], n_bytes, MPI_BYTE, left, 60, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void by_transpose(void)
{
    int counts[64], displacements[64];
    for (int r = 0; r < size; r++)
        counts[r] = n_bytes, displacements[r] = r * n_bytes;
    MPI_Alltoallv(sent[0], counts, displacements, MPI_BYTE, received[0], counts, displacements, MPI_BYTE, MPI_COMM_WORLD);
}

static void by_reduce_scatter(void)
{
    static int out[64], mine, all[64];
    MPI_Reduce_scatter_block(out, &mine, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
}

/* Towards rank 0 and back, along a binomial tree; the receives of all children are posted at once. */
static void by_nonblocking_tree(void)
{
    int bit = 1, n = 0;
    for (; bit < size && !(rank & bit); bit <<= 1)
        if (rank + bit < size)
            MPI_Irecv(received[n], n_bytes, MPI_BYTE, rank + bit, 61, MPI_COMM_WORLD, &requests[n]), n++;
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    if (rank > 0) {
        MPI_Isend(sent[0], n_bytes, MPI_BYTE, rank - bit, 61, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(received[0], n_bytes, MPI_BYTE, rank - bit, 62, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    n = 0;
    for (bit >>= 1; bit > 0; bit >>= 1)
        if (rank + bit < size)
            MPI_Isend(sent[n], n_bytes, MPI_BYTE, rank + bit, 62, MPI_COMM_WORLD, &requests[n]), n++;
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

/* What all need of each other is in transit while a rank works, where the MPI moves it then. */
static void overlap_ialltoall(int k)
{
    for (int part = 0; part < parts; part++) {
        MPI_Request request;
        MPI_Ialltoall(sent[0], n_bytes, MPI_BYTE, received[0], n_bytes, MPI_BYTE, MPI_COMM_WORLD, &request);
        part == 0 ? first_part(k) : second_part(k);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

#if MPI_VERSION >= 4
static void by_persistent_allreduce(void)
{
    MPI_Start(requests);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
}

static void init_persistent_allreduce(void)
{
    static double mine = 1, all;
    MPI_Allreduce_init(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, requests);
}

static void free_request(void)
{
    MPI_Request_free(requests);
}
#endif

static MPI_Comm half, other_half;

/* Two codes that exchange with each other: within each a reduction, between them a message each way. */
static void by_coupling(void)
{
    double mine = 1, all;
    int partner = rank % (size / 2);
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, half);
    MPI_Sendrecv(sent[0], n_bytes, MPI_BYTE, partner, 63, received[0], n_bytes, MPI_BYTE, partner, 63, other_half, MPI_STATUS_IGNORE);
}

static void init_coupling(void)
{
    int is_second = rank >= size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, is_second, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_second ? 0 : size / 2, 64, &other_half);
}

static void free_coupling(void)
{
    MPI_Comm_free(&other_half);
    MPI_Comm_free(&half);
}

/* Adds to the memory of the last rank, which works meanwhile. */
static void by_accumulate(void)
{
    double mine = 1;
    MPI_Win_lock(MPI_LOCK_SHARED, size - 1, 0, window);
    MPI_Accumulate(&mine, 1, MPI_DOUBLE, size - 1, 0, 1, MPI_DOUBLE, MPI_SUM, window);
    MPI_Win_unlock(size - 1, window);
}

#endif
