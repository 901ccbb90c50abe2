// ranks: 4
// truth: ranks stand in a line, and in a ring of one direction. Three times:
// truth: - all work 50 ms, rank 1 another 150 ms in the phase "long"; then they exchange with their neighbours in the line: ranks 0 and 2 wait
// truth:   for rank 1, rank 3, whose neighbour is rank 2, for nobody;
// truth: - all work 50 ms, and are given something by the one before them in the ring: rank 3 waits for rank 2, which waited for rank 1. It is
// truth:   the phase of rank 1 that costs it 150 ms. Rank 0 hears rank 3, which was there before.
// expect: computation[p] = 3 * (0.100 + 0.150*(p == 1))
// expect: waits[wait for neighbours] = 3 * 3 * 0.150
// expect: caused[main/round/long][p] = 3 * 3 * 0.150 * (p == 1)
// expect: waits_for[0][1] = 3 * 0.150
// expect: waits_for[3][1] = 3 * 0.150
// expect: waits_for[3][2] = 0
// expect: replay[ideal network] = 3 * 0.250
// expect: t_ideal_replay_s = 3 * 0.250
// expect: critical[main/round/long] = 3 * 0.150
#include "lbprof.h"
#include "work.h"

int main(int argc, char **argv)
{
    int rank, size, all[4];
    MPI_Comm line, ring;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){size}, (int[]){0}, 0, &line);
    int before = (rank + size - 1) % size, behind = (rank + 1) % size, weight = 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, &weight, 1, &behind, &weight, MPI_INFO_NULL, 0, &ring);
    begin_schedule();
    for (int k = 0; k < 3; k++) {
        double now_ms = 250 * k;
        LBPROF_ITERATION_BEGIN("round");
        LBPROF_PHASE_BEGIN("work");
        work(50, now_ms + 50);
        LBPROF_PHASE_END("work");
        if (rank == 1) {
            LBPROF_PHASE_BEGIN("long");
            work(150, now_ms + 200);
            LBPROF_PHASE_END("long");
        }
        MPI_Neighbor_allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, line);
        LBPROF_PHASE_BEGIN("work");
        work(50, now_ms + (rank == 3 ? 100 : 250));
        LBPROF_PHASE_END("work");
        MPI_Request request;
        MPI_Ineighbor_alltoall(&rank, 1, MPI_INT, all, 1, MPI_INT, ring, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        LBPROF_ITERATION_END("round");
    }
    end_schedule();
    MPI_Comm_free(&line);
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}
