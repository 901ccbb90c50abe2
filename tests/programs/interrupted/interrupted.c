// link: -pthread
//
// interrupted SEED HOW THREADS BLOCKS: a timer's handler ends the process at a random instant, while it calls MPI and, between the
// calls, gets as many BLOCKS from malloc. HOW: exit, abort (MPI_Abort) or finalize (MPI_Finalize, then _exit). The handler first
// writes how many calls each thread has made.
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static volatile long made[2];
static char how;
static int blocks;

static void put(long number)
{
    char text[24];
    int at = sizeof text;
    text[--at] = '\n';
    do
        text[--at] = (char)('0' + number % 10);
    while (number /= 10);
    if (write(1, text + at, sizeof text - (size_t)at) < 0)
        _exit(99);
}

static void end(int signal)
{
    (void)signal;
    put(made[0]);
    put(made[1]);
    switch (how) {
    case 'e':
        exit(7);
    case 'a':
        MPI_Abort(MPI_COMM_WORLD, 7);
        break;
    default:
        MPI_Finalize();
    }
    _exit(7);
}

static void *work(void *which)
{
    long volatile *count = &made[which != NULL];
    unsigned random = 12345;
    void *kept[64] = {0};
    for (;;) {
        for (int i = 0; i < blocks; i++) {
            random = random * 1103515245u + 12345u;
            void **place = &kept[random >> 16 & 63];
            free(*place);
            *place = malloc(16 + (random >> 8 & 0xffff) % 6000);
        }
        for (int i = 0; i < 4; i++) {
            int in = 1, out;
            MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, which ? MPI_COMM_SELF : MPI_COMM_WORLD);
            ++*count;
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t other;
    srandom((unsigned)atoi(argv[1]));
    how = argv[2][0];
    blocks = atoi(argv[4]);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (atoi(argv[3]) == 2) {
        sigset_t alarm;
        sigemptyset(&alarm);
        sigaddset(&alarm, SIGALRM);
        pthread_sigmask(SIG_BLOCK, &alarm, NULL);
        pthread_create(&other, NULL, work, argv);
        pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
    }
    signal(SIGALRM, end);
    struct itimerval timer = {.it_value = {.tv_usec = 100 + random() % 4000}};
    setitimer(ITIMER_REAL, &timer, NULL);
    work(NULL);
}
