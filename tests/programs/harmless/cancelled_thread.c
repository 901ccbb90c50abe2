// ranks: 1
// end: finalize
// problems: OtherThreads
// maybe: Unfinished
// truth: a thread that is cancelled within its first MPI call ends at the next point where the program says so
#include <pthread.h>

#include "calls.h"

static void *cancel_me(void *unused)
{
    int flag;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_cancel(pthread_self());
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    pthread_testcancel();
    return unused;
}

int main(int argc, char **argv)
{
    int level;
    pthread_t thread;
    void *result = NULL;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    pthread_create(&thread, NULL, cancel_me, NULL);
    pthread_join(thread, &result);
    printf("cancelled: %d\n", result == PTHREAD_CANCELED);
    MPI_Finalize();
    return 0;
}
