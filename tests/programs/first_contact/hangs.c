// ranks: 2
// link: -pthread
// truth: after 5 steps both ranks wait for a message of the other for ever; after 1.5 s they are ended by SIGTERM, as by a launcher whose time is over
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static void *end_both(void *other)
{
    struct timespec time = {1, 500000000};
    nanosleep(&time, 0);
    kill(*(int *)other, SIGTERM);
    kill(getpid(), SIGTERM);
    return 0;
}

int main(int argc, char **argv)
{
    int rank, pid = getpid(), other;
    pthread_t thread;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Sendrecv(&pid, 1, MPI_INT, 1 - rank, 1, &other, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 5; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        pthread_create(&thread, 0, end_both, &other);
    MPI_Recv(&other, 1, MPI_INT, 1 - rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
