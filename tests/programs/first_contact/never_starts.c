// ranks: 2
// truth: the program knows MPI but never starts it, and ends with status 3
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int started = 1;
    MPI_Initialized(&started);
    printf("started: %d\n", started);
    if (argc > 100)
        MPI_Init(&argc, &argv);
    /* The launcher of MPICH may die of SIGPIPE where all ranks are gone before it has come to itself. */
    usleep(200000);
    return 3;
}
