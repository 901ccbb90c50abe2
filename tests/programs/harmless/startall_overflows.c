// ranks: 1
// buffer: 32K
// records: Startall 3
// end: finalize
// truth: MPI_Startall starts more requests than the ring has slots: what is written after the flush is not older than the flush
#include "calls.h"

enum { REQUESTS = 700 };

int main(int argc, char **argv)
{
    static MPI_Request requests[REQUESTS];
    start(&argc, &argv);
    for (int i = 0; i < REQUESTS; i++)
        MPI_Send_init(NULL, 0, MPI_INT, MPI_PROC_NULL, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(REQUESTS, requests);
        MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < REQUESTS; i++)
        MPI_Request_free(&requests[i]);
    printf("started\n");
    MPI_Finalize();
    return 0;
}
