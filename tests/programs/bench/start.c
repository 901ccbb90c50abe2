// Starts MPI and ends it: what scripts/bench runs bare and recorded to see what recording adds to that.

#include <mpi.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
