// ranks: 2
// compiler: cc
// link: -Wl,-z,dynamic-undefined-weak
// report: 5
// stderr: 1
// truth: a program that knows by weak references that it runs without MPI, as libraries for both cases do
#include <stdio.h>

__attribute__((weak)) int MPI_Init(int *, char ***);
__attribute__((weak)) int MPI_Send(const void *, int, void *, int, int, void *);
__attribute__((weak)) void mpi_init_(int *);

int main(int argc, char **argv)
{
    int ierror;
    if (MPI_Init)
        MPI_Init(&argc, &argv);
    if (mpi_init_)
        mpi_init_(&ierror);
    printf("%s %s %s\n", MPI_Init ? "yes" : "no", (void *volatile){(void *)MPI_Send} ? "yes" : "no", mpi_init_ ? "yes" : "no");
    return 0;
}
