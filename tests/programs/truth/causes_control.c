// ranks: 4
// truth: three times: rank 0 divides the work, 150 ms in a phase marked as control, and sends each of the others its part; they work
// truth: 150 ms on it and send the result. The others wait for the control, rank 0 waits for the work.
// expect: computation[p] = 3 * 0.150
// expect: by_class.control = 3 * 0.150 * (P-1)
// expect: caused[main/round/partition][p] = 3 * 0.150 * (P-1) * (p == 0)
// expect: caused[main/round/work] = 3 * 0.150
// expect: caused[main/round/work][0] = 0
// expect: waits[late sender] = 3 * 0.150 * P
// expect: replay[ideal network] = 3 * 0.300
// expect: saved[region balanced main/round/partition] = 3 * 0.150 * (P-1)/P
// expect: critical[main/round/partition] = 3 * 0.150
// expect: critical[main/round/work] = 3 * 0.150
#include "lbprof.h"
#include "work.h"

int main(int argc, char **argv)
{
    int rank, size, part = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    for (int round = 0; round < 3; round++) {
        LBPROF_ITERATION_BEGIN("round");
        if (rank == 0) {
            LBPROF_PHASE_BEGIN_KIND("partition", LBPROF_CONTROL);
            work(150, 300 * round + 150);
            LBPROF_PHASE_END("partition");
            for (int p = 1; p < size; p++)
                MPI_Send(&part, 1, MPI_INT, p, 1, MPI_COMM_WORLD);
            for (int p = 1; p < size; p++)
                MPI_Recv(&part, 1, MPI_INT, p, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&part, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            LBPROF_PHASE_BEGIN("work");
            work(150, 300 * (round + 1));
            LBPROF_PHASE_END("work");
            MPI_Send(&part, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        }
        LBPROF_ITERATION_END("round");
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
