// ranks: 6
// truth: without markers. Ranks 0 to 3 make 24 steps, rank 0 with 24 ms of work and the others with 12 ms; two more ranks serve them: in nine
// truth: steps each asks one of these and waits for the answer. Servers answer 18 times each, which is no number of steps.
// expect: computation[p] = 24 * 0.012 * (2*(p == 0) + (p == 1) + (p == 2) + (p == 3))
// expect: loop[iterations][0] = 24
// expect: loop[possible_max][3] = 24
// expect: loop[possible_min][0] = 24
// expect: loop[possible_max][4] = 24
// expect: loop[confidence][4] = 1
// expect: loop[confidence][5] = 1
#include "work.h"

static const char asks[24] = {[1] = 1, [2] = 1, [5] = 1, [8] = 1, [9] = 1, [13] = 1, [17] = 1, [18] = 1, [22] = 1};

enum { WORKERS = 4, ASK = 1, ANSWER = 2 };

int main(int argc, char **argv)
{
    int rank, theirs, sum, answer = 0, data[64] = {0};
    MPI_Comm own;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank < WORKERS, rank, &own);
    begin_schedule();
    if (rank < WORKERS) {
        for (int k = 0; k < 24; k++) {
            work(rank == 0 ? 24 : 12, 24 * (k + 1));
            MPI_Sendrecv(data, 64, MPI_INT, (rank + 1) % WORKERS, k, data, 64, MPI_INT, (rank + 3) % WORKERS, k, own,
                         MPI_STATUS_IGNORE);
            MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, own);
            if (asks[k]) {
                int server = WORKERS + rank % 2;
                MPI_Send(&rank, 1, MPI_INT, server, ASK, MPI_COMM_WORLD);
                MPI_Recv(&answer, 1, MPI_INT, server, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
        }
    } else {
        for (int served = 0; served < 2 * 9; served++) {
            MPI_Status status;
            MPI_Probe(MPI_ANY_SOURCE, ASK, MPI_COMM_WORLD, &status);
            MPI_Recv(&theirs, 1, MPI_INT, status.MPI_SOURCE, ASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&theirs, 1, MPI_INT, status.MPI_SOURCE, ANSWER, MPI_COMM_WORLD);
        }
    }
    end_schedule();
    MPI_Comm_free(&own);
    MPI_Finalize();
    return 0;
}
