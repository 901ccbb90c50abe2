// ranks: 2
// truth: in each of 20 steps rank 0 works 40 ms and rank 1 works 20 ms, then they exchange a message. All of this is done by threads other than the one that called
// truth: MPI_Init: steps 0 to 9 by a first one, while main sleeps in pthread_join, the others by a second one, while main sleeps at a condition variable.
// truth: Main calls MPI only before and after. So the rank's time is that of these threads: rank 1 waits 20 ms in each step for rank 0.
// expect: computation[p] = 20 * 0.020 + (p == 0) * 20 * 0.020
// expect: point-to-point[p] = (p == 1) * 20 * 0.020
// expect: waits[late sender] = 20 * 0.020
// expect: caused[main/step][0] = 20 * 0.020
// expect: load_balance = 30 / 40
// expect: micro_load_balance = 1
// expect: iterations = 20
// expect: violations = 0
// says-not: Nothing to gain
#include "lbprof.h"
#include "work.h"

#include <pthread.h>

enum { STEPS = 20 };

static int rank, is_done;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;

static void do_steps(int from, int to)
{
    int mine = 0, theirs;
    for (int k = from; k < to; k++) {
        LBPROF_ITERATION_BEGIN("step");
        work(rank == 0 ? 40 : 20, 40 * k + (rank == 0 ? 40 : 20));
        MPI_Sendrecv(&mine, 1, MPI_INT, 1 - rank, 0, &theirs, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        LBPROF_ITERATION_END("step");
    }
}

static void *first_half(void *unused)
{
    do_steps(0, STEPS / 2);
    return unused;
}

static void *second_half(void *unused)
{
    do_steps(STEPS / 2, STEPS);
    pthread_mutex_lock(&mutex);
    is_done = 1;
    pthread_cond_signal(&done);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    begin_schedule();
    pthread_create(&thread, NULL, first_half, NULL);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, second_half, NULL);
    pthread_mutex_lock(&mutex);
    while (!is_done)
        pthread_cond_wait(&done, &mutex);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    end_schedule();
    MPI_Finalize();
    return 0;
}
