// ranks: 2
// link: -ldl
// plugin: programs/truth/fortran_step.f90
// truth: without markers, 16 steps, each in a procedure of a Fortran library that C calls: 10 ms on both ranks, an exchange, 30 ms on
// truth: rank 1 and 10 on the other, and the same exchange.
// expect: computation[p] = 16 * (0.020 + 0.020*(p == 1))
// expect: iterations = 16
// expect: loops = 1
// expect: loop[iterations] = 16
// expect: longest[main/loop/step/step (fortran_step.f90:29 → 31)] = 16 * 0.030
// says: step, from the call of stepping::exchange (fortran_step.f90:29) to the call of stepping::exchange (fortran_step.f90:31)
#include <dlfcn.h>

#include "work.h"

static double until_ms;

static void compute(double ms, double most_ms)
{
    until_ms += most_ms;
    if (ms > 0)
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
    return 1;
}

int main(int argc, char **argv)
{
    int rank, done = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    begin_schedule();
    for (int k = 0; k < 16; k++)
        done += once(rank);
    end_schedule();
    MPI_Finalize();
    return done == 16 ? 0 : 1;
}
