// ranks: 2
// buffer: 32K
// records: Allreduce 8000
// end: finalize
// truth: the program's own handlers, timers, signal stack and masks work on; a bad pointer is survived by siglongjmp
#include "calls.h"
#include <setjmp.h>
#include <sys/time.h>

static volatile sig_atomic_t alarms, faults, users;
static sigjmp_buf back;

static void on_alarm(int signal)
{
    (void)signal;
    alarms++;
}

static void on_user(int signal)
{
    (void)signal;
    users++;
}

static void on_fault(int signal)
{
    (void)signal;
    faults++;
    siglongjmp(back, 1);
}

int main(int argc, char **argv)
{
    static char stack[65536];
    stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&own, 0);
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
    sigaction(SIGSEGV, &action, 0);
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, 0);
    action.sa_handler = on_user;
    sigaction(SIGXFSZ, &action, 0);
    sigaction(SIGPIPE, &action, 0);
    start(&argc, &argv);
    sigset_t mask, before;
    sigemptyset(&mask);
    sigaddset(&mask, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &mask, &before);
    struct itimerval often = {{0, 700}, {0, 700}};
    setitimer(ITIMER_REAL, &often, 0);
    long sum = 0;
    for (int i = 0; i < 80; i++) {
        sum += reduce(100);
        if (!sigsetjmp(back, 1))
            *(volatile int *)8 = i;
    }
    while (!alarms)
        usleep(100);
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, 0);
    pthread_sigmask(SIG_SETMASK, 0, &mask);
    stack_t still;
    sigaltstack(0, &still);
    raise(SIGXFSZ);
    int held_back = users;
    pthread_sigmask(SIG_SETMASK, &before, 0);
    raise(SIGPIPE);
    printf("%ld, faults %d, held back %d, then %d, blocked %d, stack %d\n", sum, faults, !held_back, users,
           sigismember(&mask, SIGXFSZ), still.ss_sp == stack);
    MPI_Finalize();
    return 0;
}
