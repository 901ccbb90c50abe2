// truth: rank 1 works LBTEST_WORK_MS ms, in five steps, and rank 0 as many per cent of that as the argument says. The load balance is
// truth: (100 + the argument) / 200.
#include "work.h"

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    const char *work_ms = getenv("LBTEST_WORK_MS");
    if (argc != 2 || !work_ms)
        return 2;
    double ms = atof(work_ms) / 5, share = atof(argv[1]) / 100;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    begin_schedule();
    for (int k = 1; k <= 5; k++) {
        work(rank == 0 ? share * ms : ms, ms * k);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
