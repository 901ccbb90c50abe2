// ranks: 1
// link: -O2 -fomit-frame-pointer -lpthread
// records: Barrier 12
// end: finalize
// problems: OtherThreads
// truth: code that has data in %rbp calls MPI, as hand-written routines and generated code do; the data is unmapped between two calls from the same
// truth: place. On the first thread, on another one, on a coroutine's stack
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "calls.h"

enum { PAGE = 4096, STACK = 1 << 18 };

/* Tells where the stack pointer is, so that exceptions could pass, but nothing of the frame pointer. */
void kernel(double *data, void (*step)(void));
__asm__(".text\n"
        ".globl kernel\n"
        ".type kernel, @function\n"
        "kernel: .cfi_startproc\n"
        "pushq %rbp\n"
        ".cfi_adjust_cfa_offset 8\n"
        "movq %rdi, %rbp\n"
        "call *%rsi\n"
        "popq %rbp\n"
        ".cfi_adjust_cfa_offset -8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size kernel, . - kernel\n");

static ucontext_t here, there;

static void step(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    __asm__ volatile("" ::: "memory");
}

/* Has a frame pointer, because its frame has no fixed size. */
static __attribute__((noinline)) void solve(int n, double *data)
{
    volatile char work[n];
    work[0] = 1;
    kernel(data, step);
    work[0] = 2;
}

/* What seems to be a return address leads on within the data, or out of it. */
static void solve_thrice(volatile int n, int is_number)
{
    double *data = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *code = (void *)step;
    data[1] = 3.14;
    if (!is_number)
        memcpy(&data[1], &code, sizeof code);
    for (int i = 0; i < 3; i++) {
        solve(n, data);
        if (i == 0)
            munmap(data, PAGE);
    }
}

static void run(void)
{
    solve_thrice(100, 1);
    solve_thrice(100, 0);
}

static void *run_thread(void *argument)
{
    run();
    return argument;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    start(&argc, &argv);
    run();
    pthread_create(&thread, NULL, run_thread, NULL);
    pthread_join(thread, NULL);
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = STACK;
    there.uc_link = &here;
    makecontext(&there, run, 0);
    swapcontext(&here, &there);
    munmap(stack, STACK);
    printf("done\n");
    MPI_Finalize();
    return 0;
}
