/* In each of 80 steps rank 0 sleeps 60 ms and rank 1 sleeps 20 ms, then both reduce a number: load balance 66.7 %, rank 0 has 1.5 times the average work. Arguments: the exit
 * code, and another number of steps. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int steps = argc > 2 ? atoi(argv[2]) : 80;
    double sum = 0;
    for (int step = 0; step < steps; step++) {
        usleep(rank == 0 ? 60000 : 20000);
        double one = 1;
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%g\n", sum);
    MPI_Finalize();
    return argc > 1 ? atoi(argv[1]) : 0;
}
