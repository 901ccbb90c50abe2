// ranks: 2
// link: -lpthread
// buffer: 32K
// calls: 34002
// problems: OtherThreads
// end: finalize
// truth: MPI is initialised by one thread, used by another one with a stack of 16 KiB, and finalised by a third one after main has left by
// truth: pthread_exit; meanwhile a handler forks, and the program starts others by vfork and posix_spawn
#define _GNU_SOURCE
#include "calls.h"
#include <pthread.h>
#include <spawn.h>
#include <sys/time.h>
#include <sys/wait.h>

extern char **environ;
static pthread_t of_main;
static long sum;

static void on_alarm(int signal)
{
    (void)signal;
    pid_t child = fork();
    if (!child)
        _exit(0);
    waitpid(child, 0, 0);
}

static void *initialise(void *nothing)
{
    int level;
    MPI_Init_thread(0, 0, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    sum += reduce(1000);
    return nothing;
}

static void *use(void *nothing)
{
    /* MPICH's way to another rank takes more stack than that. */
    for (int i = 0; i < 3000; i++) {
        int all = 0;
        MPI_Allreduce(&i, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
        sum += all;
    }
    return nothing;
}

static void *finalise(void *nothing)
{
    pthread_join(of_main, 0);
    sum += reduce(1000);
    printf("%ld\n", sum);
    fflush(stdout);
    MPI_Finalize();
    exit(0);
    return nothing;
}

static void start_programs(void)
{
    for (int i = 0; i < 3; i++) {
        int status = -1;
        pid_t child = vfork();
        if (!child) {
            execl("/bin/true", "true", (char *)0);
            _exit(1);
        }
        waitpid(child, &status, 0);
        char *words[] = {"sh", "-c", "exit 3", 0};
        posix_spawn(&child, "/bin/sh", 0, 0, words, environ);
        int other = -1;
        waitpid(child, &other, 0);
        sum += status + WEXITSTATUS(other) + reduce(1000);
    }
}

int main(void)
{
    pthread_t thread;
    pthread_attr_t small;
    of_main = pthread_self();
    pthread_create(&thread, 0, initialise, 0);
    pthread_join(thread, 0);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 16384);
    pthread_create(&thread, &small, use, 0);
    pthread_join(thread, 0);
    start_programs();
    signal(SIGALRM, on_alarm);
    struct itimerval often = {{0, 5000}, {0, 5000}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, 0);
    sum += reduce(9000);
    setitimer(ITIMER_REAL, &never, 0);
    pthread_create(&thread, 0, finalise, 0);
    pthread_exit(0);
}
