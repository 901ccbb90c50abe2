// ranks: 2
// env: LBPROF_MODE=profile
// env: LBPROF_BUFFER=64K
// truth: calls are recorded as sums, and `halo` computes in both regions, three times as long in `pair`; rank 0 computes longer in `force`
// slow: 0 force
#include <mpi.h>

#include "../sampling/spin.h"
#include "lbprof.h"

SPINS(force)
SPINS(halo)

int main(int argc, char **argv)
{
    int rank, sent = 0, received;
    double halo_in[2] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 30; step++) {
        double before = halo_s;
        LBPROF_PHASE_BEGIN("pair");
        force(rank == 0 ? 18 : 6);
        halo(9);
        LBPROF_PHASE_END("pair");
        halo_in[0] += halo_s - before;
        before = halo_s;
        LBPROF_PHASE_BEGIN("rest");
        halo(3);
        /* Rings are full now and then: a few hundred calls a step. */
        for (int call = 0; call < 200; call++)
            MPI_Sendrecv(&sent, 1, MPI_INT, rank, 0, &received, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        LBPROF_PHASE_END("rest");
        halo_in[1] += halo_s - before;
    }
    FILE *file = truth(rank);
    fprintf(file, "force %f\nhalo %f\nin pair force %f\nin pair halo %f\nin rest halo %f\n", force_s, halo_s, force_s, halo_in[0], halo_in[1]);
    fclose(file);
    MPI_Finalize();
    return 0;
}
