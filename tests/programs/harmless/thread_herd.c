// ranks: 1
// link: -lpthread
// buffer: 32K
// calls: 79617
// end: finalize
// problems: OtherThreads
// maybe: NotSampled SamplesLost
// truth: 256 threads make their first call at the same instant, and half of them write their records after that: those that wait for one another
// truth: sleep until it is their turn. They do not look again and again, which would be millions of
// truth: switches between threads
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/resource.h>

#include "calls.h"

enum { THREADS = 256, CALLS = 20, MANY = 600 };

static pthread_barrier_t begin;
static MPI_Comm own[THREADS];

static long switches(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_nvcsw;
}

static void *call(void *number)
{
    long sum = 0;
    pthread_barrier_wait(&begin);
    for (int i = 0, n = (long)number % 2 ? CALLS : MANY; i < n; i++) {
        int one = 1, all;
        MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, own[(long)number]);
        sum += all;
    }
    return (void *)sum;
}

int main(int argc, char **argv)
{
    static pthread_t threads[THREADS];
    int level;
    long sum = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    pthread_barrier_init(&begin, 0, THREADS);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_SELF, &own[i]);
    long before = switches();
    for (long i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], 0, call, (void *)i))
            return 2;
    for (int i = 0; i < THREADS; i++) {
        void *part;
        pthread_join(threads[i], &part);
        sum += (long)part;
    }
    long more = switches() - before;
    if (more > 100 * THREADS)
        printf("%ld switches\n", more);
    printf("%ld\n", sum);
    MPI_Finalize();
    return 0;
}
