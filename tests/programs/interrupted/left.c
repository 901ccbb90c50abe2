// link: -pthread -fexceptions
//
// left SEED HOW TIMES WHERE: threads leave MPI calls, and the recorder in them, at random instants, so many TIMES.
// HOW: cancelled: threads are cancelled asynchronously; jumps: a timer's handler leaves by siglongjmp, then the thread waits for another
// one that calls MPI. WHERE: all: many kinds of calls; self: only such that MPI itself survives it under Open MPI.
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile sig_atomic_t armed;
static volatile int ready;
static volatile long cleaned;
static char where;

static void call(void)
{
    int in = 1, out;
    MPI_Comm made;
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    if (where == 's')
        return;
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made);
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, made);
    MPI_Comm_free(&made);
}

/* Calls until the thread is made to leave. One that has to wait long for that does not make more communicators than a log may have. */
static void call_on(void)
{
    int in = 1, out;
    for (int i = 0; i < 1500; i++)
        call();
    for (;;)
        MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

static void clean(void *nothing)
{
    (void)nothing;
    cleaned++;
}

static void *call_until_cancelled(void *nothing)
{
    int old;
    pthread_cleanup_push(clean, nothing);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    ready = 1;
    call_on();
    pthread_cleanup_pop(0);
    return nothing;
}

static void cancel(int times)
{
    long ended = 0;
    for (int i = 0; i < times; i++) {
        pthread_t thread;
        void *result = NULL;
        ready = 0;
        pthread_create(&thread, NULL, call_until_cancelled, NULL);
        while (!ready)
            sched_yield();
        struct timespec nap = {0, random() % 300000};
        long spins = random() % 20000;
        if (random() % 2)
            nanosleep(&nap, NULL);
        for (volatile long j = 0; j < spins; j++)
            ;
        pthread_cancel(thread);
        pthread_join(thread, &result);
        ended += result == PTHREAD_CANCELED;
    }
    printf("%ld cancelled, %ld cleaned up\n", ended, cleaned);
}

static void leave(int signal)
{
    (void)signal;
    if (armed) {
        armed = 0;
        siglongjmp(back, 1);
    }
}

static void *call_often(void *nothing)
{
    for (int i = 0; i < 2000; i++)
        call();
    return nothing;
}

static void jump(int times)
{
    volatile int left = 0;
    pthread_t other;
    timer_t timer;
    struct sigaction action = {.sa_handler = leave};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM};
    event._sigev_un._tid = gettid();
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    pthread_create(&other, NULL, call_often, NULL);
    sigaction(SIGALRM, &action, NULL);
    while (left < times) {
        if (!sigsetjmp(back, 1)) {
            struct itimerspec soon = {.it_value = {0, 1 + random() % (times == 1 ? 5000000 : 100000)}};
            armed = 1;
            timer_settime(timer, 0, &soon, NULL);
            call_on();
        }
        left++;
    }
    pthread_join(other, NULL);
    printf("left %d times\n", left);
}

int main(int argc, char **argv)
{
    int level, state;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    srandom((unsigned)atoi(argv[1]));
    where = argv[4][0];
    /* All functions are looked up by now. */
    call();
    (argv[2][0] == 'c' ? cancel : jump)(atoi(argv[3]));
    for (int i = 0; i < 3000; i++)
        call();
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    printf("the thread can be cancelled: %d\n", state == PTHREAD_CANCEL_ENABLE);
    MPI_Finalize();
    return 0;
}
