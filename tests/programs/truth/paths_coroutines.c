// ranks: 2
// truth: without markers, 16 steps in which main resumes two coroutines on stacks of their own. Each computes in a function whose frame has another size
// truth: in each step: red for 10 ms on both ranks, black for 30 ms on rank 1 and 10 on the other; both exchange by the same function.
// expect: computation[p] = 16 * (0.020 + 0.020*(p == 1))
// expect: iterations = 16
// expect: loops = 1
// expect: loop[iterations] = 16
// expect: longest[main/loop/red (paths_coroutines.c:41) → black (paths_coroutines.c:50)] = 16 * 0.030
#include <alloca.h>
#include <string.h>
#include <ucontext.h>

#include "work.h"

enum { STACK = 1 << 18 };

static ucontext_t scheduler, red_context, black_context;
static int rank, size;
static double until_ms;

static void compute(double ms, double most_ms)
{
    until_ms += most_ms;
    work(ms, until_ms);
}

__attribute__((noinline)) static void exchange(int step)
{
    int bytes = 64 + 48 * (step * 7 % 11), theirs;
    char *room = alloca(bytes);
    memset(room, rank, bytes);
    MPI_Sendrecv(room, 1, MPI_INT, (rank + 1) % size, 0, &theirs, 1, MPI_INT, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void red(void)
{
    for (int step = 0;; step++) {
        compute(10, 10);
        exchange(step);
        swapcontext(&red_context, &scheduler);
    }
}

static void black(void)
{
    for (int step = 0;; step++) {
        compute(rank == 1 ? 30 : 10, 30);
        exchange(step);
        swapcontext(&black_context, &scheduler);
    }
}

static void make(ucontext_t *context, void (*run)(void))
{
    getcontext(context);
    context->uc_stack.ss_sp = malloc(STACK);
    context->uc_stack.ss_size = STACK;
    context->uc_link = &scheduler;
    makecontext(context, run, 0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    make(&red_context, red);
    make(&black_context, black);
    begin_schedule();
    for (int step = 0; step < 16; step++) {
        swapcontext(&scheduler, &red_context);
        swapcontext(&scheduler, &black_context);
    }
    end_schedule();
    MPI_Finalize();
    return 0;
}
