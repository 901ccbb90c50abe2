// ranks: 2
// problems: OtherThreads
// link: -lpthread
// truth: four threads of MPI_THREAD_MULTIPLE, thread t of the program makes 700 (t + 1) exchanges on a communicator of its own, each of
//        4 bytes; the first 80 are of datatypes that all threads meet at the same time, each time on a call path that is new to them
#include <lbprof.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, EACH = 700, NEW = 80 };

static int rank;
static MPI_Comm comms[THREADS];
static long sums[THREADS];

static MPI_Datatype types[NEW];
static pthread_barrier_t barrier;

static int exchange(int t, int i, MPI_Datatype type)
{
    int out = i, in = 0;
    MPI_Sendrecv(&out, 1, type, 1 - rank, 100 + t, &in, 1, type, 1 - rank, 100 + t, comms[t], MPI_STATUS_IGNORE);
    return in;
}

// A call path for each depth.
__attribute__((noinline)) static int exchange_below(int depth, int t, int i)
{
    if (depth == 0)
        return exchange(t, i, types[i]);
    int in = exchange_below(depth - 1, t, i);
    __asm__ volatile("" : "+r"(in));
    return in;
}

static void *work(void *argument)
{
    int t = (int)(long)argument;
    for (int i = 0; i < NEW; i++) {
        pthread_barrier_wait(&barrier);
        sums[t] += exchange_below(i % 40, t, i);
    }
    for (int i = NEW; i < EACH * (t + 1); i++)
        sums[t] += exchange(t, i, MPI_INT);
    return 0;
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    for (int i = 0; i < NEW; i++) {
        MPI_Type_contiguous(1, MPI_INT, &types[i]);
        MPI_Type_commit(&types[i]);
    }
    pthread_barrier_init(&barrier, 0, THREADS);
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
    for (int i = 0; i < NEW; i++)
        MPI_Type_free(&types[i]);
    MPI_Finalize();
    return 0;
}
