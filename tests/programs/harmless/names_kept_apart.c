/* A module that is loaded privately, with functions of its own that have names of MPI's: a wrapper of MPI_Send, which is bound within the module, a function in C, and a
 * sequential stub in Fortran. The call that ends a function is a jump. */
#include <mpi.h>
#include <stdio.h>
#ifndef WHO
#define WHO 1
#endif

int mpi_comm_rank(int a, double b) { return 100 * WHO + a + (int)b; }
double MPI_COMM_SIZE(double a) { return a + WHO; }

__asm__(".protected MPI_Send");
int MPI_Send(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    return PMPI_Send(from, count, type, to, tag + WHO, comm);
}

void mpi_bcast_(void *data, int *count, int *type, int *root, int *comm, int *error)
{
    (void)data, (void)type, (void)root;
    *error = *comm == -77 ? *count + WHO : -1;
}

int end_with_call(int a) __attribute__((optimize("O2")));
int end_with_call(int a) { return mpi_comm_rank(a, 2.5); }

int (*const kept)(int, double) = mpi_comm_rank;

int use_names(int rank)
{
    int value = rank, other = -1, count = 4, world = -77, error = -1;
    for (int i = 0; i < 3; i++)
        mpi_bcast_(&value, &count, &value, &value, &world, &error);
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(&other, 1, MPI_INT, 0, 5 + WHO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 1000 * error + 10 * (int)MPI_COMM_SIZE(2) + other + mpi_comm_rank(0, 0);
}
