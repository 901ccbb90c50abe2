// ranks: 4 8
// truth: ranks stand in two rows, with a communicator for each row and each column. Three times:
// truth: - all work 50 ms, rank 0 another 150 ms in the phase "corner"; then rows sum up, then columns. The first row waits for rank 0, and the
// truth:   second waits for the first in the columns: all wait for rank 0's phase, as long as it lasts.
// truth: - all work 50 ms, the first of each row another 150 ms in the phase "left"; then rows sum up: each row waits for its own first.
// expect: computation[p] = 3 * (2*0.050 + 0.150*(2*(p == 0) + (p == P/2)))
// expect: waits[wait at N×N] = 3 * 0.150 * (P-1 + P-2)
// expect: caused[main/round/corner][p] = 3 * 0.150 * (P-1) * (p == 0)
// expect: caused[main/round/left][p] = 3 * 0.150 * (P/2 - 1) * ((p == 0) + (p == P/2))
// expect: waits_for[1][0] = 3 * 2 * 0.150
// expect: waits_for[3][1] = 0
// expect: replay[ideal network] = 3 * 0.400
#include "lbprof.h"
#include "work.h"

/* All work, some of them longer. */
static void step(int longer, const char *phase, double *now_ms)
{
    *now_ms += 200;
    LBPROF_PHASE_BEGIN("work");
    work(50, *now_ms - 150);
    LBPROF_PHASE_END("work");
    if (longer) {
        LBPROF_PHASE_BEGIN(phase);
        work(150, *now_ms);
        LBPROF_PHASE_END(phase);
    }
}

int main(int argc, char **argv)
{
    int rank, size, sum;
    double now_ms = 0;
    MPI_Comm row, column;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int columns = size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, rank / columns, rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % columns, rank, &column);
    begin_schedule();
    for (int k = 0; k < 3; k++) {
        LBPROF_ITERATION_BEGIN("round");
        step(rank == 0, "corner", &now_ms);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, row);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, column);
        step(rank % columns == 0, "left", &now_ms);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, row);
        LBPROF_ITERATION_END("round");
    }
    end_schedule();
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
    MPI_Finalize();
    return 0;
}
