// Polls that find nothing, for scripts/bench: polls KIND COUNT UPDATES. One rank polls for messages that it sends itself only at the end.
// Before each poll it updates so many words at random places of a table of 64 MiB, as RandomAccess of the HPC Challenge does: then the caches hold nothing of
// the recorder, and a recorder that waits for memory makes the program wait.
// Prints the nanoseconds of a poll with its updates in the fastest of 100 blocks, so that other work of the machine counts little.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUESTS = 4, BLOCKS = 100, WORDS = 1 << 23 };

static MPI_Request requests[REQUESTS];

static uint64_t *table, place = 1;

static void update(int updates)
{
    for (int i = 0; i < updates; i++) {
        place = place * 6364136223846793005u + 1442695040888963407u;
        table[place >> 41] ^= place;
    }
}

static int poll_once(const char *kind)
{
    int flag = 0, index, indices[REQUESTS];
    MPI_Message message;
    if (!strcmp(kind, "test"))
        MPI_Test(requests, &flag, MPI_STATUS_IGNORE);
    else if (!strcmp(kind, "testany"))
        MPI_Testany(REQUESTS, requests, &index, &flag, MPI_STATUS_IGNORE);
    else if (!strcmp(kind, "testall"))
        MPI_Testall(REQUESTS, requests, &flag, MPI_STATUSES_IGNORE);
    else if (!strcmp(kind, "testsome"))
        MPI_Testsome(REQUESTS, requests, &flag, indices, MPI_STATUSES_IGNORE);
    else if (!strcmp(kind, "iprobe"))
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    else if (!strcmp(kind, "improbe"))
        MPI_Improbe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    return flag;
}

int main(int argc, char **argv)
{
    int received[REQUESTS], sent = 1;
    long found = 0, count = argc > 2 ? atol(argv[2]) / BLOCKS : 10000;
    int updates = argc > 3 ? atoi(argv[3]) : 0;
    double fastest = 1e9;
    table = malloc(WORDS * sizeof *table);
    if (!table)
        return 1;
    memset(table, 1, WORDS * sizeof *table);
    MPI_Init(&argc, &argv);
    for (int i = 0; i < REQUESTS; i++)
        MPI_Irecv(&received[i], 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_SELF, &requests[i]);
    for (int block = 0; block < BLOCKS; block++) {
        double begin = MPI_Wtime();
        for (long i = 0; i < count; i++) {
            update(updates);
            found += poll_once(argv[1]);
        }
        double took = MPI_Wtime() - begin;
        fastest = took < fastest ? took : fastest;
    }
    for (int i = 0; i < REQUESTS; i++)
        MPI_Send(&sent, 1, MPI_INT, 0, i, MPI_COMM_SELF);
    MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
    if (found == 0)
        printf("%.2f\n", 1e9 * fastest / (double)count);
    MPI_Finalize();
    return found != 0;
}
