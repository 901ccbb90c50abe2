// ranks: 2
// link: -ldl
// plugin: programs/truth/plugin_step.c
// truth: without markers, 100 steps, each in a shared object that is loaded for it and unloaded after it: an exchange, 12 ms on rank 1 and 4 on the
// truth: other, and the same exchange.
// expect: computation[p] = 100 * (0.004 + 0.008*(p == 1))
// expect: iterations = 100
// expect: loops = 1
// expect: loop[iterations] = 100
// expect: longest[main/loop/step/step (plugin_step.c:16 → 18)] = 100 * 0.012
// says: step, from the call of exchange (plugin_step.c:16) to the call of exchange (plugin_step.c:18)
#include <dlfcn.h>

#include "work.h"

static double until_ms;

static void compute(double ms, double most_ms)
{
    until_ms += most_ms;
    work(ms, until_ms);
}

static int once(int rank)
{
    void *library = dlopen(getenv("LBTEST_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
    void (*step)(void (*)(double, double), int) =
        library ? (void (*)(void (*)(double, double), int))dlsym(library, "step") : 0;
    if (!step)
        return 0;
    step(compute, rank);
    return dlclose(library) == 0;
}

int main(int argc, char **argv)
{
    int rank, done = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    begin_schedule();
    for (int k = 0; k < 100; k++)
        done += once(rank);
    end_schedule();
    MPI_Finalize();
    return done == 100 ? 0 : 1;
}
