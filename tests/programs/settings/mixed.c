// ranks: 4
// truth: calls of known numbers and bytes from few places, phases and iterations, one rank that computes longer
#include <lbprof.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size, rounds = argc > 1 ? atoi(argv[1]) : 600;
    static char out[4096], in[4096];
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < rounds; i++) {
        LBPROF_ITERATION_BEGIN("round");
        MPI_Request requests[2];
        LBPROF_PHASE_BEGIN("ring");
        MPI_Irecv(in, sizeof in, MPI_CHAR, left, i % 100, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, (i * 7919) % 4096, MPI_CHAR, right, i % 100, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        LBPROF_PHASE_END("ring");
        if (i % 50 == 0 && rank == 1)
            usleep(2000);
        if (i % 10 == 0) {
            double mine = rank + i, all;
            MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            sum += all;
        }
        LBPROF_ITERATION_END("round");
    }
    printf("%d: %g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
