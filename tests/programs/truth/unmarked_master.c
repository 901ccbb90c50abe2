// ranks: 4
// truth: without markers. Rank 0 hands out 72 tasks of 10, 20 and 30 ms on demand, and polls for who asks (MPI_Iprobe). Its loop is its own:
// truth: it does no part of the others' work, and nothing is gained by bringing it, or one of them, to the mean of all.
// expect: computation[0] = 0
// expect: loops = 2
// expect: loop[confidence][0] = 1
// expect: region_load_balance[main/loop 2] = 1
// says-not: alancing
// says-not: down to the mean
#include "work.h"
int main(int argc, char **argv)
{
    int rank, size, task = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    if (rank == 0) {
        int left = 24 * (size - 1);
        for (int busy = size - 1; busy > 0;) {
            MPI_Status status;
            int flag = 0;
            MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, &status);
            if (!flag)
                continue;
            MPI_Recv(&task, 1, MPI_INT, status.MPI_SOURCE, 1, MPI_COMM_WORLD, &status);
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
            work(10 + 10 * (task % 3), 1e9);
        }
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
