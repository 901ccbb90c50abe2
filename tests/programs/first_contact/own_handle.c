// ranks: 2
// link: -ldl
// truth: MPI_Init and MPI_Finalize are called as usual, MPI_Barrier by an address that the program takes from the MPI library itself, for 1.3 s
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <time.h>

typedef int Barrier(MPI_Comm);

int main(int argc, char **argv)
{
    const char *names[] = {"libmpi.so.40", "libmpich.so.12", "libmpi.so.12"};
    void *library = 0;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 3 && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
    Barrier *barrier = library ? (Barrier *)dlsym(library, "MPI_Barrier") : 0;
    if (!barrier) {
        printf("no MPI_Barrier\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 0; i < 13; i++) {
        struct timespec time = {0, 100000000};
        nanosleep(&time, 0);
        barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
