/* In each of 80 steps rank 0 computes for 60 ms, in refine, and rank 1 sleeps 20 ms, then both reduce a number: load balance 66.7 %, rank 0 has 1.5 times the average work.
 * Arguments: the exit code, and another number of steps. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec * 1e-6;
}

static volatile double cells;

/* By the wall clock: on a busy machine it takes as long. */
__attribute__((noinline)) static void refine(double ms) {
    double end = now_ms() + ms;
    while (now_ms() < end)
        for (int i = 0; i < 1000; i++)
            cells += 0.5 * i;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int steps = argc > 2 ? atoi(argv[2]) : 80;
    double sum = 0;
    for (int step = 0; step < steps; step++) {
        if (rank == 0)
            refine(60);
        else
            usleep(20000);
        double one = 1;
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%g\n", sum);
    MPI_Finalize();
    return argc > 1 ? atoi(argv[1]) : 0;
}
