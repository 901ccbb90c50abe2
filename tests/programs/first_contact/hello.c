// ranks: 2
// truth: the program starts and ends MPI, and nothing else
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("hello %d\n", rank);
    MPI_Finalize();
    return 0;
}
