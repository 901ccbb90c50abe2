// ranks: 1
// link: -lpthread
// wrapper: setpriv --bounding-set=-all --inh-caps=-all sh -c ulimit_-l_0;exec_"$@" sh
// records: Allreduce 1300
// end: finalize
// problems: NotSampled
// truth: a thousand threads without MPI calls, and hardly any memory that may be locked: some threads are sampled, the report says that not
// truth: all are, and the program runs on
#include <pthread.h>

#include "calls.h"

static pthread_barrier_t end;

static void *wait_for_end(void *nothing)
{
    pthread_barrier_wait(&end);
    return nothing;
}

int main(int argc, char **argv)
{
    enum { THREADS = 1000 };
    static pthread_t threads[THREADS];
    start(&argc, &argv);
    pthread_barrier_init(&end, 0, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], 0, wait_for_end, 0))
            return 2;
    long sum = 0;
    for (int i = 0; i < 1300; i++) {
        sum += reduce(1);
        usleep(1000);
    }
    pthread_barrier_wait(&end);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    printf("%ld\n", sum);
    MPI_Finalize();
    return 0;
}
