// ranks: 1
// compiler: cc
// mpi: openmpi, mpich
// link: -ldl
// report: 5
// stderr: 1
// truth: the program looks MPI's functions up in the library itself, past every preloaded one: nothing is seen, which is said, and nothing
// truth: is harmed
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    /* MPICH's launcher passes each rank its number this way. */
    void *mpi = dlopen(getenv("PMI_RANK") ? "libmpich.so.12" : "libmpi.so.40", RTLD_NOW | RTLD_LOCAL);
    if (!mpi) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    int (*init)(void *, void *) = (int (*)(void *, void *))dlsym(mpi, "MPI_Init");
    int (*finalize)(void) = (int (*)(void))dlsym(mpi, "MPI_Finalize");
    if (!init || !finalize)
        return 1;
    int begun = init(0, 0);
    printf("%d %d\n", begun, finalize());
    return 0;
}
