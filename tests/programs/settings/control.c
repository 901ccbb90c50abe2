// ranks: 1
// truth: MPI_Pcontrol by levels and by labels
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Pcontrol(5);
    MPI_Barrier(MPI_COMM_SELF);
    MPI_Pcontrol(-5);
    MPI_Pcontrol(1, "solver");
    MPI_Barrier(MPI_COMM_SELF);
    MPI_Pcontrol(-1, "solver");
    MPI_Pcontrol(0);
    MPI_Barrier(MPI_COMM_SELF);
    MPI_Pcontrol(1, (char *)0);
    MPI_Pcontrol(2);
    MPI_Barrier(MPI_COMM_SELF);
    printf("done\n");
    MPI_Finalize();
    return 0;
}
