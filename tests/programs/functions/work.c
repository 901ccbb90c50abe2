// ranks: 2
// truth: rank 0 computes three times as long in `force` as rank 1, and from the middle of the run on also longer in `sort`
// slow: 0 force
#include <mpi.h>

#include "../sampling/spin.h"

SPINS(force)
SPINS(halo)
SPINS(sort)

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 40; step++) {
        force(rank == 0 ? 12 : 4);
        halo(2);
        sort(rank == 0 && step >= 20 ? 6 : 2);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    FILE *file = truth(rank);
    fprintf(file, "force %f\nhalo %f\nsort %f\n", force_s, halo_s, sort_s);
    fclose(file);
    MPI_Finalize();
    return 0;
}
