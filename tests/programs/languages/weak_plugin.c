/* A shared object with weak references to MPI. weak_module loads it. */
#include "weak.h"

int weak_run(void)
{
    int rank, size;
    MPI_Init(0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int sum = exchange(rank, size);
    if (rank == 0)
        printf("%d\n", sum);
    MPI_Finalize();
    return 0;
}
