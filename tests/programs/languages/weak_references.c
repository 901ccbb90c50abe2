// ranks: 3
// link: -Wl,-z,dynamic-undefined-weak
// records: Sendrecv 1
// records: Isend 1
// records: Send_init 1
// records: Allgatherv 1
// records: Iallgatherv 1
// end: finalize
// truth: a program's weak references to functions that the MPI lacks are null, and to those that it has are not
#include "weak.h"

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int sum = exchange(rank, size);
    if (rank == 0)
        printf("%d\n", sum);
    MPI_Finalize();
    return 0;
}
