// ranks: 6
// truth: without markers. Ranks 0 to 2 make 30 steps of 10 ms together. In every third each sends a field to a server of its own, ranks 3 to 5, which
// truth: writes it: rank 3 in 12 ms, the others in 4 ms. Servers wait for the others most of the time, which is not lost by them: the verdict is on
// truth: those that compute. Their steps may be 30; a server has 10 fields and a last message.
// expect: computation[p] = 30*0.010*((p == 0) + (p == 1) + (p == 2)) + 10*(0.012*(p == 3) + 0.004*((p == 4) + (p == 5)))
// expect: loops = 2
// expect: loop[possible_max][0] = 30
// expect: loop[confidence][0] = 1
// expect: loop[confidence][3] = 1
// expect: region_load_balance[main/loop] = 1
// expect: region_load_balance[main/loop 2] = (0.012 + 2*0.004) / 3 / 0.012
// says: so they are judged separately
// says: anks 0-2
// says-not: even work
// says-not: average work on
#include "work.h"
int main(int argc, char **argv)
{
    int rank, size, sum, data[64] = {0};
    MPI_Comm own;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int half = size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, rank < half, rank, &own);
    begin_schedule();
    if (rank < half) {
        for (int k = 0; k < 30; k++) {
            work(10, 10 * (k + 1));
            MPI_Sendrecv(data, 64, MPI_INT, (rank + 1) % half, 0, data, 64, MPI_INT, (rank + half - 1) % half, 0, own, MPI_STATUS_IGNORE);
            MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, own);
            if (k % 3 == 2) {
                MPI_Send(&k, 1, MPI_INT, rank + half, 1, MPI_COMM_WORLD);
                MPI_Send(data, 64, MPI_INT, rank + half, 2, MPI_COMM_WORLD);
            }
        }
        int k = -1;
        MPI_Send(&k, 1, MPI_INT, rank + half, 1, MPI_COMM_WORLD);
    } else {
        for (int k = 0;;) {
            MPI_Recv(&k, 1, MPI_INT, rank - half, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (k < 0)
                break;
            MPI_Recv(data, 64, MPI_INT, rank - half, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            work(rank == half ? 12 : 4, 1e9);
        }
    }
    end_schedule();
    MPI_Comm_free(&own);
    MPI_Finalize();
    return 0;
}
