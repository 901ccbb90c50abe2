// In each of 5 steps both threads of a rank work for 20 ms, then each exchanges a message with the same thread of the other rank, in a region: thread 1 of rank 1 sends
// 20 ms late, so that thread 1 of rank 0 waits in MPI, and thread 0 of both ranks for it. A step takes 40 ms.
// ranks: 2
// link: -fopenmp
// nominal-s: 0.2
// loss: mpi - 0.25
// loss: thread-imbalance exchange 0.125
#include "team_work.h"

__attribute__((noinline)) static void exchange(void)
{
#pragma omp parallel num_threads(2)
    {
        int thread = omp_get_thread_num(), other = 1 - rank_of_work, sent = thread, received;
        TEAM_WORK(20);
        if (thread == 1 && rank_of_work == 1)
            TEAM_WORK(20);
        MPI_Sendrecv(&sent, 1, MPI_INT, other, thread, &received, 1, MPI_INT, other, thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    begin_team_work(2);
    for (int step = 0; step < 5; step++)
        exchange();
    end_team_work();
    MPI_Finalize();
    return level == MPI_THREAD_MULTIPLE ? 0 : 1;
}
