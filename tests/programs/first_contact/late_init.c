// ranks: 2
// truth: rank 1 starts MPI 600 ms later than rank 0, which waits for it in MPI_Init; after 10 balanced steps of 5 ms rank 0 goes on for 500 ms
// after MPI_Finalize
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

static void sleep_ms(long ms)
{
    struct timespec time = {0, 1000000 * ms};
    nanosleep(&time, 0);
}

int main(int argc, char **argv)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    rank = rank ? rank : getenv("PMI_RANK");
    int is_first = !rank || atoi(rank) == 0;
    if (!is_first)
        sleep_ms(600);
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 10; i++) {
        sleep_ms(5);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    if (is_first)
        sleep_ms(500);
    return 0;
}
