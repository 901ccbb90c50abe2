// ranks: 1
// buffer: 32K
// records: Allreduce 15000
// end: finalize
// truth: the program's own handlers of SIGBUS, installed before or after MPI_Init and in all ways, see what they see without the recorder
#define _GNU_SOURCE
#include "calls.h"
#include <errno.h>
#include <setjmp.h>
#include <sys/mman.h>

static sigjmp_buf back;
static char stack[65536];
static char *page;

static void describe(const char *who, siginfo_t *info)
{
    char here;
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    printf("%s: code %d, address %d, value %d, own %d, on own stack %d, blocked %d %d %d\n", who, info->si_code,
           info->si_code > 0 && info->si_addr == page + 8, info->si_code == SI_QUEUE ? info->si_value.sival_int : -1,
           info->si_code <= 0 && info->si_pid == getpid(), &here >= stack && &here < stack + sizeof stack,
           sigismember(&mask, SIGBUS), sigismember(&mask, SIGUSR1), sigismember(&mask, SIGUSR2));
}

static void jumping(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    describe("jumping", info);
    siglongjmp(back, 1);
}

static void mending(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    describe("mending", info);
    mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static void counting(int signal)
{
    printf("counting %d\n", signal);
}

static void simple(int signal)
{
    (void)signal;
    siglongjmp(back, 1);
}

static void install(void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaction(SIGBUS, &action, NULL);
}

static void fault(const char *when)
{
    if (sigsetjmp(back, 1))
        printf("%s: back\n", when);
    else {
        page[8] = 1;
        printf("%s: stored\n", when);
    }
}

int main(int argc, char **argv)
{
    /* No page of an empty file can be used. */
    int empty = memfd_create("empty", 0);
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, empty, 0);
    stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&own, NULL);
    install(jumping, SA_ONSTACK);
    fault("before MPI_Init");
    start(&argc, &argv);
    install(jumping, SA_ONSTACK);
    long sum = reduce(1500);
    for (int i = 0; i < 2; i++) {
        fault("a handler installed before most calls");
        sum += reduce(i ? 10 : 1490);
    }
    union sigval value = {.sival_int = 42};
    if (!sigsetjmp(back, 1))
        sigqueue(getpid(), SIGBUS, value);
    sum += reduce(1000);
    if (!sigsetjmp(back, 1))
        raise(SIGBUS);
    /* Another one for a while, and the first again, as signal() gives it back, without its flags. */
    void (*first)(int) = signal(SIGBUS, simple);
    sum += reduce(1000);
    fault("for a while");
    sum += reduce(1000);
    signal(SIGBUS, first);
    install(jumping, 0);
    sum += reduce(1000);
    fault("on the thread's stack");
    struct sigaction kept;
    sigaction(SIGBUS, NULL, &kept);
    install(mending, SA_NODEFER);
    fault("a handler that mends");
    kill(getpid(), SIGBUS);
    sum += reduce(1000);
    mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, empty, 0);
    fault("a handler that mends, later");
    mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, empty, 0);
    sigaction(SIGBUS, &kept, NULL);
    fault("put back");
    sum += reduce(1000);
    fault("put back, later");
    install(jumping, SA_RESETHAND);
    sum += reduce(1000);
    fault("once");
    struct sigaction now;
    sigaction(SIGBUS, NULL, &now);
    printf("then %d\n", now.sa_handler == SIG_DFL);
    signal(SIGBUS, SIG_IGN);
    sum += reduce(1000);
    raise(SIGBUS);
    sigaction(SIGBUS, NULL, &now);
    printf("ignored %d\n", now.sa_handler == SIG_IGN);
    signal(SIGBUS, counting);
    sum += reduce(1000);
    raise(SIGBUS);
    raise(SIGBUS);
    sigset_t bus, pending;
    sigemptyset(&bus);
    sigaddset(&bus, SIGBUS);
    sigprocmask(SIG_BLOCK, &bus, NULL);
    raise(SIGBUS);
    sum += reduce(1000);
    sigpending(&pending);
    printf("held back %d\n", sigismember(&pending, SIGBUS));
    errno = 77;
    sigprocmask(SIG_UNBLOCK, &bus, NULL);
    printf("errno %d\n", errno);
    sum += reduce(2000);
    MPI_Finalize();
    sigaction(SIGBUS, NULL, &now);
    printf("%ld, in the end %d\n", sum, now.sa_handler == counting);
    return 0;
}
