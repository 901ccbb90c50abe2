// Makes N parallel regions, or N barriers in one region, and says what they took; scripts/bench runs it bare and recorded.
//
//   regions KIND N      KIND: region, barrier; OMP_NUM_THREADS: threads of a team
//
// Prints nanoseconds of a region or barrier: of the fastest of blocks, so that other work of the machine counts little.

#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 50 };

static volatile int sink;

static double block_s(int is_region, int n) {
    double begin = omp_get_wtime();
    if (is_region) {
        for (int i = 0; i < n; i++) {
#pragma omp parallel
            if (omp_get_thread_num() == 0)
                sink = i;
        }
    } else {
#pragma omp parallel
        for (int i = 0; i < n; i++) {
#pragma omp barrier
        }
    }
    return omp_get_wtime() - begin;
}

int main(int argc, char **argv) {
    int level, is_region = argc > 1 && !strcmp(argv[1], "region");
    int n = argc > 2 ? atoi(argv[2]) / BLOCKS : 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Barrier(MPI_COMM_WORLD);
    double fastest = 1e9;
    for (int block = 0; block < BLOCKS && n > 0; block++) {
        double took = block_s(is_region, n);
        fastest = took < fastest ? took : fastest;
    }
    printf("%.1f\n", 1e9 * fastest / (n > 0 ? n : 1));
    MPI_Finalize();
    return 0;
}
