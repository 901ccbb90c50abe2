// ranks: 1
// link: -lpthread
// truth: a thread without MPI calls is sampled; a child of a fork is not, nor is what is done while recording is paused
#include <mpi.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lbprof.h"
#include "spin.h"

SPINS(worker)
SPINS(unseen)
SPINS(child)
SPINS(seen)

static void *work(void *nothing)
{
    /* Threads are looked for once in a while: what comes before is not known. */
    usleep(400000);
    worker(700);
    return nothing;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    pthread_create(&thread, 0, work, 0);
    for (int i = 0; i < 300; i++) {
        MPI_Barrier(MPI_COMM_SELF);
        usleep(1000);
    }
    pid_t pid = fork();
    if (pid == 0) {
        child(100);
        _exit(0);
    }
    waitpid(pid, 0, 0);
    LBPROF_RECORD(0);
    unseen(100);
    LBPROF_RECORD(1);
    seen(200);
    for (int i = 0; i < 100; i++)
        MPI_Barrier(MPI_COMM_SELF);
    pthread_join(thread, 0);
    FILE *file = truth(0);
    fprintf(file, "worker %f\nunseen 0\nchild 0\nseen %f\n", worker_s, seen_s);
    fclose(file);
    MPI_Finalize();
    return 0;
}
