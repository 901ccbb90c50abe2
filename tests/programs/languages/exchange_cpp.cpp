// ranks: 2
// truth: as exchange_c, in C++
#include <mpi.h>
#include <cstdio>
#include <vector>

int main(int argc, char **argv)
{
    int rank, other, ints[10] = {0};
    double reals[6] = {0}, more[6] = {0}, sums[3];
    MPI_Request requests[2];
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    if (rank == 0)
        MPI_Send(ints, 10, MPI_INT, other, 11, MPI_COMM_WORLD);
    else
        MPI_Recv(ints, 10, MPI_INT, other, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(more, 6, MPI_DOUBLE, other, 12, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(reals, 6, MPI_DOUBLE, other, 12, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Allreduce(reals, sums, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(ints, 7, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, 0, other, &half);
    MPI_Barrier(half);
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_MAX, half);
    MPI_Recv(more, 6, MPI_DOUBLE, MPI_PROC_NULL, MPI_ANY_TAG, half, MPI_STATUS_IGNORE);
    MPI_Comm_free(&half);
    std::printf("%d: done\n", rank);
    MPI_Finalize();
    return 0;
}
