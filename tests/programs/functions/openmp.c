// ranks: 2
// link: -fopenmp
// env: OMP_NUM_THREADS=3
// env: OMP_WAIT_POLICY=passive
// env: OMP_DYNAMIC=false
// truth: in `pair` the first thread of a rank computes in `force`, its two other threads in `density`, longer on rank 0; in `rest` all compute in `sort`
// slow: 0 force
#include <mpi.h>
#include <omp.h>
#include <unistd.h>

#include "../sampling/spin.h"
#include "lbprof.h"

enum { FORCE, DENSITY, SORT, N_FUNCTIONS, N_THREADS = 3 };

static double cpu_times[N_THREADS][N_FUNCTIONS];

/* A function of this name, and the CPU time of each thread in it. */
#define COMPUTES(name, place)                                       \
    __attribute__((noinline)) static void name(int thread, double ms) \
    {                                                               \
        double from = cpu_s(), now = from;                          \
        volatile double x = 1;                                      \
        while (now < from + 1e-3 * ms) {                            \
            for (int i = 0; i < 20000; i++)                         \
                x = x * 1.0000001 + 1e-9;                           \
            now = cpu_s();                                          \
        }                                                           \
        cpu_times[thread][place] += now - from;                     \
    }

COMPUTES(force, FORCE)
COMPUTES(density, DENSITY)
COMPUTES(sort, SORT)

int main(int argc, char **argv)
{
    int rank, level, threads = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel reduction(+ : threads)
    threads += 1;
    if (threads != N_THREADS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    /* New threads are looked for once a second. */
    for (int i = 0; i < 1600; i++) {
        MPI_Barrier(MPI_COMM_SELF);
        usleep(1000);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 0; step < 40; step++) {
        LBPROF_PHASE_BEGIN("pair");
#pragma omp parallel
        {
            int thread = omp_get_thread_num();
            if (thread == 0)
                force(thread, rank == 0 ? 12 : 4);
            else
                density(thread, rank == 0 ? 10 : 5);
        }
        LBPROF_PHASE_END("pair");
        LBPROF_PHASE_BEGIN("rest");
#pragma omp parallel
        sort(omp_get_thread_num(), 3);
        LBPROF_PHASE_END("rest");
        MPI_Barrier(MPI_COMM_WORLD);
    }
    FILE *file = truth(rank);
    fprintf(file, "force %f\nsort %f\n", cpu_times[0][FORCE], cpu_times[0][SORT]);
    fprintf(file, "worker pair density %f\n", cpu_times[1][DENSITY] + cpu_times[2][DENSITY]);
    fprintf(file, "worker rest sort %f\n", cpu_times[1][SORT] + cpu_times[2][SORT]);
    fclose(file);
    MPI_Finalize();
    return 0;
}
