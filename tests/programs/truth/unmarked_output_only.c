// ranks: 4
// truth: without markers. Ranks 1 to 3 make 40 steps of 10 ms together, and in every fourth each sends its result to rank 0, which computes nothing
// truth: but writes each result, 4 ms: 30 of them. Rank 0 serves the others by a loop of its own, which is not sure to be one of the program's, and
// truth: is no imbalance of it. The others' steps may be 40; in their own loop they are balanced.
// expect: computation[p] = 40*0.010*(1 - (p == 0)) + 30*0.004*(p == 0)
// expect: loops = 2
// expect: loop[possible_max][1] = 40
// expect: loop[confidence][0] = 1
// expect: region_load_balance[main/loop] = 1
// expect: region_load_balance[main/loop 2] = 1
// says: so they are judged separately
// says: anks 1-3
// says-not: even work
// says-not: average work on
#include "work.h"
int main(int argc, char **argv)
{
    int rank, size, theirs, sum, data[64] = {0};
    MPI_Comm own;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &own);
    begin_schedule();
    if (rank > 0) {
        int me = rank - 1, n = size - 1;
        for (int k = 0; k < 40; k++) {
            work(10, 10 * (k + 1));
            MPI_Sendrecv(data, 64, MPI_INT, (me + 1) % n, 0, data, 64, MPI_INT, (me + n - 1) % n, 0, own, MPI_STATUS_IGNORE);
            MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, own);
            if (k % 4 == 3)
                MPI_Send(data, 64, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
    } else {
        for (int k = 0; k < 10; k++)
            for (int p = 1; p < size; p++) {
                MPI_Recv(data, 64, MPI_INT, p, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                work(4, 1e9);
            }
    }
    end_schedule();
    MPI_Comm_free(&own);
    MPI_Finalize();
    return 0;
}
