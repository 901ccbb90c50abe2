// ranks: 2
// problems: OtherThreads
// link: -lpthread
// truth: four threads of MPI_THREAD_MULTIPLE, thread t of the program makes 700 (t + 1) exchanges on a communicator of its own
#include <lbprof.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, EACH = 700 };

static int rank;
static MPI_Comm comms[THREADS];
static long sums[THREADS];

static void *work(void *argument)
{
    int t = (int)(long)argument;
    for (int i = 0; i < EACH * (t + 1); i++) {
        int out = i, in = 0;
        MPI_Sendrecv(&out, 1, MPI_INT, 1 - rank, 100 + t, &in, 1, MPI_INT, 1 - rank, 100 + t, comms[t], MPI_STATUS_IGNORE);
        sums[t] += in;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++) {
        if (level == MPI_THREAD_MULTIPLE)
            pthread_create(&threads[t], 0, work, (void *)(long)t);
        else
            printf("only thread level %d\n", level);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], 0);
    for (int t = 0; t < THREADS; t++)
        printf("%d: %ld\n", t, sums[t]);
    MPI_Finalize();
    return 0;
}
