// ranks: 2
// truth: three functions compute for times that differ by rank; two compute in turn, a millisecond each, which is the period of the samples; and
// truth: each rank sleeps for a fifth of a second, in which it is not sampled
#include <mpi.h>
#include <unistd.h>

#include "spin.h"

SPINS(force)
SPINS(neighbour)
SPINS(output)
SPINS(even)
SPINS(odd)

static void nap(void)
{
    usleep(200000);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 50; i++) {
        force(rank == 0 ? 12 : 6);
        neighbour(4);
        output(rank == 1 ? 8 : 2);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    nap();
    for (int i = 0; i < 250; i++) {
        even(1);
        odd(1);
        MPI_Barrier(MPI_COMM_SELF);
    }
    FILE *file = truth(rank);
    fprintf(file, "force %f\nneighbour %f\noutput %f\neven %f\nodd %f\nnap 0\n", force_s, neighbour_s, output_s, even_s, odd_s);
    fclose(file);
    MPI_Finalize();
    return 0;
}
