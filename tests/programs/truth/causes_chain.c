// ranks: 4 8
// truth: rank 0 works 400 ms in the phase "first" and sends; each rank receives from the one before it and sends on. All wait for rank 0.
// expect: computation[p] = 0.400*(p == 0)
// expect: caused[main/first] = 0.400 * (P-1)
// expect: caused[main/first][p] = 0.400 * (P-1) * (p == 0)
// expect: waits[late sender] = 0.400 * (P-1)
// expect: waits_for[1][0] = 0.400
// expect: waits_for[3][0] = 0.400
// expect: waits_for[3][2] = 0
// expect: by_class.imbalance_amdahl = 0.400 * (P-1)
// expect: by_class.control = 0
// expect: replay[ideal network] = 0.400
// expect: saved[region balanced main/first] = 0.400 * (P-1)/P
// expect: critical[main/first] = 0.400
#include "lbprof.h"
#include "work.h"

int main(int argc, char **argv)
{
    int rank, size, token = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    if (rank == 0) {
        LBPROF_PHASE_BEGIN("first");
        work(400, 400);
        LBPROF_PHASE_END("first");
    } else {
        MPI_Recv(&token, 1, MPI_INT, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank < size - 1)
        MPI_Send(&token, 1, MPI_INT, rank + 1, 7, MPI_COMM_WORLD);
    end_schedule();
    MPI_Finalize();
    return 0;
}
