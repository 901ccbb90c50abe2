// ranks: 2
// truth: rank 1 writes 6 MB into a file in each of 4 steps, for which it takes 100 ms longer; each rank prints how many bytes the system counts for
// truth: storage in that time
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 6 << 20 };

static char data[BYTES];

static void write_step(void)
{
    struct timespec pause = {0, 100000000};
    int file = open("steps", O_CREAT | O_WRONLY | O_APPEND, 0600);
    if (write(file, data, BYTES) != BYTES)
        perror("steps");
    fsync(file);
    close(file);
    nanosleep(&pause, NULL);
}

static long long bytes_for_storage(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return 512LL * usage.ru_oublock;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long long before = bytes_for_storage();
    for (int step = 0; step < 4; step++) {
        if (rank == 1)
            write_step();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    printf("%d %lld\n", rank, bytes_for_storage() - before);
    fflush(stdout);
    unlink("steps");
    MPI_Finalize();
    return 0;
}
