// ranks: 2
// link: -pthread
// truth: in each of 12 steps a rank starts a thread that computes in `density` and ends, without a call of MPI meanwhile
// slow: 0 force
#include <mpi.h>
#include <pthread.h>

#include "../sampling/spin.h"
#include "lbprof.h"

SPINS(density)
SPINS(force)

static void *grow(void *ms)
{
    density(*(double *)ms);
    return NULL;
}

int main(int argc, char **argv)
{
    int rank, level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 12; step++) {
        pthread_t thread;
        double ms = rank == 0 ? 40 : 30;
        LBPROF_PHASE_BEGIN("pair");
        pthread_create(&thread, NULL, grow, &ms);
        pthread_join(thread, NULL);
        LBPROF_PHASE_END("pair");
        force(rank == 0 ? 60 : 5);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    FILE *file = truth(rank);
    fprintf(file, "force %f\nworker pair density %f\n", force_s, density_s);
    fclose(file);
    MPI_Finalize();
    return 0;
}
