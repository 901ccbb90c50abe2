// ranks: 1
// waitall: 8
// truth: each MPI_Waitall completes eight requests, and says so, wherever the check points lie at which samples are looked at
#include <mpi.h>
#include <unistd.h>

#include "spin.h"

SPINS(work)

int main(int argc, char **argv)
{
    int in[4], out[4] = {0};
    MPI_Request requests[8];
    MPI_Status statuses[8];
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 3000; i++) {
        for (int k = 0; k < 4; k++) {
            MPI_Irecv(in + k, 1, MPI_INT, 0, k, MPI_COMM_SELF, requests + k);
            MPI_Isend(out + k, 1, MPI_INT, 0, k, MPI_COMM_SELF, requests + 4 + k);
        }
        MPI_Waitall(8, requests, statuses);
        if (i % 10 == 0)
            work(1);
    }
    FILE *file = truth(0);
    fprintf(file, "work %f\n", work_s);
    fclose(file);
    MPI_Finalize();
    return 0;
}
