// ranks: 2
// problems: Paused
// maybe: UnevenPause
// truth: the phases, iterations, work, counters and parameters that the markers_* programs mark in their languages
#include <lbprof.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;
    LBPROF_PARAM("before MPI", 0.5);
    LBPROF_PHASE_BEGIN("all");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    LBPROF_PARAM("n", 42);
    LBPROF_PHASE_BEGIN_KIND("setup", LBPROF_SERIAL);
    LBPROF_PHASE_END("setup");
    for (int i = 0; i < 3; i++) {
        LBPROF_ITERATION_BEGIN("step");
        LBPROF_PHASE_BEGIN("force");
        MPI_Barrier(MPI_COMM_WORLD);
        LBPROF_WORK(100.0 * i, 10);
        LBPROF_COUNT("pairs", 1.5 * i + rank);
        LBPROF_PHASE_END("force");
        LBPROF_PHASE_BEGIN_KIND("balance", LBPROF_CONTROL);
        LBPROF_RECORD(0);
        MPI_Barrier(MPI_COMM_WORLD);
        LBPROF_RECORD(1);
        LBPROF_PHASE_END("balance");
        LBPROF_ITERATION_END("step");
    }
    LBPROF_COUNT("pairs", -1);
    LBPROF_PHASE_END("all");
    printf("%d: done\n", rank);
    MPI_Finalize();
    LBPROF_PHASE_BEGIN("after MPI");
    LBPROF_PHASE_END("after MPI");
    return 0;
}
