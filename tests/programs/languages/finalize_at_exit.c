// ranks: 2
// records: Allreduce 30 Barrier 2 Finalize 1
// end: finalize
// truth: MPI_Finalize is called by an atexit function that was registered before MPI_Init
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void finalize(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}

int main(int argc, char **argv)
{
    atexit(finalize);
    MPI_Init(&argc, &argv);
    int sum = 0;
    for (int i = 0; i < 30; i++) {
        int all;
        MPI_Allreduce(&i, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        sum += all;
    }
    printf("%d\n", sum);
    exit(0);
}
