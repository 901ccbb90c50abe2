// ranks: 4
// truth: without markers. Work of 40 to 120 ms between calls of many kinds, each of them once, with twelve quick exchanges in the middle that
// truth: take a tenth of the time: whatever repeats there is no main loop.
// expect: computation[p] = 0.040 + 0.080 + 0.120 + 12 * 0.004 + 0.100 + 0.060 + 0.060*(p == 0)
// expect: loop[confidence] = 0
#include "work.h"

int main(int argc, char **argv)
{
    int rank, size, theirs, sum, all[64], sent[64] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    work(40, 40);
    MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD);
    work(80, 120);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    work(120, 240);
    MPI_Alltoall(sent, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int k = 0; k < 12; k++) {
        work(4, 240 + 4 * (k + 1));
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &theirs, 1, MPI_INT, (rank + size - 1) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    work(100, 388);
    MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    work(rank == 0 ? 120 : 60, 508);
    MPI_Barrier(MPI_COMM_WORLD);
    end_schedule();
    MPI_Finalize();
    return 0;
}
