// ranks: 2
// truth: the function in which a rank computes longest differs by rank, and from the middle of the run on also by iteration; the report on some ranks
// truth: and iterations has their times
// slow: 1 force
// part: late --from iteration=20
// part: early --to iteration=19
// part: one --ranks 0
// part: late-one --from iteration=20 --ranks 0
#include <mpi.h>

#include "../sampling/spin.h"
#include "lbprof.h"

SPINS(force)
SPINS(halo)
SPINS(sort)

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FILE *file = truth(rank);
    double early[2] = {0};
    for (int step = 0; step < 40; step++) {
        if (step == 20) {
            early[0] = force_s;
            early[1] = sort_s;
            fprintf(file, "early: force %f\nearly: halo %f\nearly: sort %f\n", force_s, halo_s, sort_s);
        }
        LBPROF_ITERATION_BEGIN("step");
        force(rank == 1 ? 14 : 4);
        if (step < 20)
            halo(4);
        sort(rank == 0 && step >= 20 ? 8 : 3);
        MPI_Barrier(MPI_COMM_WORLD);
        LBPROF_ITERATION_END("step");
    }
    fprintf(file, "force %f\nhalo %f\nsort %f\n", force_s, halo_s, sort_s);
    fprintf(file, "late: force %f\nlate: sort %f\n", force_s - early[0], sort_s - early[1]);
    if (rank == 0) {
        fprintf(file, "one: force %f\none: halo %f\none: sort %f\n", force_s, halo_s, sort_s);
        fprintf(file, "late-one: force %f\nlate-one: sort %f\n", force_s - early[0], sort_s - early[1]);
    }
    fclose(file);
    MPI_Finalize();
    return 0;
}
