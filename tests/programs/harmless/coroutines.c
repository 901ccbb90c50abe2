// ranks: 1
// records: Send>= 1001
// end: finalize
// maybe: Unfinished
// truth: a call is left by longjmp on a coroutine's stack, which is unmapped then; calls from a lower one are recorded
#define _GNU_SOURCE
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "calls.h"

enum { STACK = 1 << 18 };

static jmp_buf before;
static ucontext_t here, upper, lower;

static void handle(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    longjmp(before, 1);
}

static void fail(void)
{
    int data = 0;
    MPI_Send(&data, 1, MPI_INT, 77, 0, MPI_COMM_SELF);
}

static void send(void)
{
    int data = 0;
    for (int tag = 0; tag < 1000; tag++)
        MPI_Send(&data, 1, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_SELF);
    printf("sent\n");
}

static void make(ucontext_t *context, char *stack, void (*run)(void))
{
    getcontext(context);
    context->uc_stack.ss_sp = stack;
    context->uc_stack.ss_size = STACK;
    context->uc_link = &here;
    makecontext(context, run, 0);
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    start(&argc, &argv);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    char *stacks = mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stacks == MAP_FAILED)
        return 2;
    make(&upper, stacks + STACK, fail);
    make(&lower, stacks, send);
    if (!setjmp(before))
        swapcontext(&here, &upper);
    munmap(stacks + STACK, STACK);
    swapcontext(&here, &lower);
    MPI_Finalize();
    return 0;
}
