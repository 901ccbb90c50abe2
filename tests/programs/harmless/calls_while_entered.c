// truth: a handler calls MPI at each of the first instructions of another call, all of which are made at one place of the program
#define _GNU_SOURCE
#include "calls.h"
#include <ucontext.h>

enum { INSTRUCTIONS = 400 };

static volatile int step, at;
static int sum;

static __attribute__((noinline)) void call_in_handler(void)
{
    int nothing = 0;
    MPI_Recv(&nothing, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    sum++;
}

#ifdef __x86_64__
/* After each instruction, until the handler takes the flag away. */
static void stepped(int signal_number, siginfo_t *info, void *context)
{
    (void)signal_number, (void)info;
    if (step++ == at) {
        ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100LL;
        call_in_handler();
    }
}

static void begin_steps(void)
{
    __asm__ volatile("sub $128, %%rsp; pushfq; orq $0x100, (%%rsp); popfq; add $128, %%rsp" ::: "memory", "cc");
}

static void end_steps(void)
{
    __asm__ volatile("sub $128, %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; add $128, %%rsp" ::: "memory", "cc");
}
#else
static void stepped(int signal_number, siginfo_t *info, void *context)
{
    (void)signal_number, (void)info, (void)context;
}

static void begin_steps(void)
{
    call_in_handler();
}

static void end_steps(void)
{
}
#endif

static __attribute__((noinline)) void call_interrupted(void)
{
    int nothing = 0;
    if (at >= 0)
        begin_steps();
    MPI_Send(&nothing, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_SELF);
    end_steps();
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    struct sigaction action = {.sa_sigaction = stepped, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, NULL);
    call_in_handler();
    for (int i = -4; i < INSTRUCTIONS; i++) {
        /* At first without, so that the place is known. */
        at = i;
        step = 0;
        call_interrupted();
    }
    printf("some handlers called: %d\n", sum > 20);
    MPI_Finalize();
    return 0;
}
