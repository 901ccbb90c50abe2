// ranks: 2
// truth: without markers. Five times both ranks work, rank 0 for 92 ms and rank 1 for 80 ms; then rank 0 puts a number into the window of rank 1, which
// truth: reads that again and again until it is there. How often it reads is no number of iterations: rank 1 has no loop.
// expect: computation[p] = 5 * (0.080 + 0.012*(p == 0))
// expect: loop[iterations][1] = none
#include "work.h"

int main(int argc, char **argv)
{
    int rank, *shared, got = 0;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof *shared, sizeof *shared, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &window);
    *shared = 0;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    MPI_Barrier(MPI_COMM_WORLD);
    begin_schedule();
    for (int k = 1; k <= 5; k++) {
        work(rank == 0 ? 92 : 80, 92 * k);
        if (rank == 0) {
            MPI_Accumulate(&k, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_REPLACE, window);
            MPI_Win_flush(1, window);
        }
        for (; rank == 1 && got < k;) {
            MPI_Fetch_and_op(NULL, &got, MPI_INT, 1, 0, MPI_NO_OP, window);
            MPI_Win_flush(1, window);
        }
    }
    end_schedule();
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
