// ranks: 4 8
// truth: rank 0 hands out tasks of 100 ms to whoever asks, 12 for each of the others; it does nothing else and waits in its receives.
// truth: P-1 of P ranks compute 1.2 s each, so the load balance is (P-1)/P.
// expect: computation[p] = 12 * 0.100 * (1 - (p == 0))
// expect: point-to-point[p] = 12 * 0.100 * (p == 0)
// expect: load_balance = (P-1) / P
#include "work.h"

int main(int argc, char **argv)
{
    int rank, size, task = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    if (rank == 0) {
        int left = 12 * (size - 1);
        for (int busy = size - 1; busy > 0;) {
            MPI_Status status;
            MPI_Recv(&task, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
            task = left > 0 ? left-- : -1;
            busy -= task < 0;
            MPI_Send(&task, 1, MPI_INT, status.MPI_SOURCE, 2, MPI_COMM_WORLD);
        }
    } else {
        for (int done = 0;; done++) {
            MPI_Send(&task, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
            MPI_Recv(&task, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (task < 0)
                break;
            work(100, 100.0 * (done + 1));
        }
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
