// ranks: 1
// mpi: openmpi, mpich
// link: -ldl
// stderr: 2
// truth: the recorder has every function of MPI 4.1, so a program that looks one up may find it though the MPI has none: the call then
// truth: fails, in C by its result and in Fortran by ierror, and each of both is reported once
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int (*flush)(MPI_Comm) = (int (*)(MPI_Comm))dlsym(RTLD_DEFAULT, "MPI_Comm_flush_buffer");
    void (*flush_f)(int *, int *) = (void (*)(int *, int *))dlsym(RTLD_DEFAULT, "mpi_comm_flush_buffer_");
    for (int i = 0; i < 3; i++) {
        int ierror = MPI_SUCCESS, comm = MPI_Comm_c2f(MPI_COMM_WORLD);
        if (flush && flush(MPI_COMM_WORLD) == MPI_SUCCESS)
            printf("C succeeded\n");
        if (flush_f)
            flush_f(&comm, &ierror);
        if (flush_f && ierror == MPI_SUCCESS)
            printf("Fortran succeeded\n");
    }
    printf("done\n");
    MPI_Finalize();
    return 0;
}
