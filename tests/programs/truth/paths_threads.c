// ranks: 2
// link: -lpthread
// truth: without markers, 16 steps: 10 ms on both ranks, an exchange, 30 ms on rank 1 and 10 on the other, and the same exchange. Meanwhile another
// truth: thread exchanges 100 times by the same function, as often as it likes: its calls are no part of the loop.
// expect: computation[p] = 16 * (0.020 + 0.020*(p == 1))
// expect: iterations = 16
// expect: loops = 1
// expect: loop[iterations] = 16
// expect: longest[main/loop/step/step (paths_threads.c:44 → 46)] = 16 * 0.030
#include <pthread.h>

#include "work.h"

static int rank, size;
static double until_ms;

static void compute(double ms, double most_ms)
{
    until_ms += most_ms;
    work(ms, until_ms);
}

__attribute__((noinline)) static void exchange(MPI_Comm comm)
{
    int theirs;
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &theirs, 1, MPI_INT, (rank + size - 1) % size, 0, comm,
                 MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
}

static void *beside(void *comm)
{
    for (int i = 0; i < 100; i++) {
        struct timespec pause = {0, 1000000};
        nanosleep(&pause, 0);
        exchange(*(MPI_Comm *)comm);
    }
    return 0;
}

__attribute__((noinline)) static void step(void)
{
    compute(10, 10);
    exchange(MPI_COMM_WORLD);
    compute(rank == 1 ? 30 : 10, 30);
    exchange(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int level;
    pthread_t thread;
    MPI_Comm other;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level < MPI_THREAD_MULTIPLE)
        return 2;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    begin_schedule();
    pthread_create(&thread, 0, beside, &other);
    for (int k = 0; k < 16; k++)
        step();
    end_schedule();
    pthread_join(thread, 0);
    MPI_Comm_free(&other);
    MPI_Finalize();
    return 0;
}
