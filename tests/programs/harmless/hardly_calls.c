// ranks: 2
// calls: 4
// end: finalize
// truth: between MPI_Init and MPI_Finalize there is one barrier after 50 ms: nothing can be said of how the ranks depend on each other
// says: The ranks made 2 calls of MPI in
// says: too few to say how they depend on each other
// says-not: to gain
// says-not: Gain:
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    usleep(50000);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
