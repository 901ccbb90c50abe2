// ranks: 4
// truth: a halo exchange along a line of ranks in one of three styles, then a stencil; no collectives. The last rank but one computes twice as
// truth: long as the others.
// arguments: 0 1 2
// headline: in main, between two calls of exchange (halo.c
// share: 0.9
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

enum { N = 500 };

static double in[2][N], out[2][N];

__attribute__((noinline)) static void stencil(int ms)
{
    struct timespec time = {0, ms * 1000000L};
    nanosleep(&time, 0);
}

__attribute__((noinline)) static void exchange(int style, int left, int right)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Request requests[4];
    switch (style) {
    case 0:
        MPI_Irecv(in[0], N, MPI_DOUBLE, left, 0, comm, &requests[0]);
        MPI_Irecv(in[1], N, MPI_DOUBLE, right, 1, comm, &requests[1]);
        MPI_Isend(out[0], N, MPI_DOUBLE, left, 1, comm, &requests[2]);
        MPI_Isend(out[1], N, MPI_DOUBLE, right, 0, comm, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        break;
    case 1:
        MPI_Sendrecv(out[0], N, MPI_DOUBLE, left, 1, in[1], N, MPI_DOUBLE, right, 1, comm, MPI_STATUS_IGNORE);
        MPI_Sendrecv(out[1], N, MPI_DOUBLE, right, 0, in[0], N, MPI_DOUBLE, left, 0, comm, MPI_STATUS_IGNORE);
        break;
    default:
        MPI_Isend(out[0], N, MPI_DOUBLE, left, 1, comm, &requests[0]);
        MPI_Isend(out[1], N, MPI_DOUBLE, right, 0, comm, &requests[1]);
        MPI_Recv(in[0], N, MPI_DOUBLE, left, 0, comm, MPI_STATUS_IGNORE);
        MPI_Recv(in[1], N, MPI_DOUBLE, right, 1, comm, MPI_STATUS_IGNORE);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    for (int step = 0; step < 60; step++) {
        exchange(atoi(argv[1]), left, right);
        stencil(rank == size - 2 ? 8 : 4);
    }
    MPI_Finalize();
    return 0;
}
