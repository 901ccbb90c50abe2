// ranks: 1
// calls: 50001
// end: finalize
// problems: OtherThreads
// truth: 5,000 threads, one after the other, each with 10 calls: more threads than may record at one time; and MPI_Finalize
#include <pthread.h>

#include "calls.h"

static void *send(void *unused)
{
    for (int tag = 0; tag < 10; tag++)
        MPI_Send(&tag, 1, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_SELF);
    return unused;
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    for (int i = 0; i < 5000; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, send, NULL) != 0)
            return 2;
        pthread_join(thread, NULL);
    }
    printf("done\n");
    MPI_Finalize();
    return 0;
}
