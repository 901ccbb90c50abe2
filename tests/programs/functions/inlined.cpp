// ranks: 2
// truth: rank 1 computes longer in a template that the compiler puts into the function that calls it
// slow: 1 Kernel<double>::sweep
#include <mpi.h>

#include "../sampling/spin.h"

template <class Number> struct Kernel {
    __attribute__((always_inline)) static void sweep(volatile Number &x)
    {
        for (int i = 0; i < 20000; i++)
            x = x * 1.0000001 + 1e-9;
    }
};

static double smooth_s;

__attribute__((noinline)) static void smooth(double ms)
{
    double from = cpu_s(), now = from;
    volatile double x = 1;
    while (now < from + 1e-3 * ms) {
        Kernel<double>::sweep(x);
        now = cpu_s();
    }
    smooth_s += now - from;
}

SPINS(restrict_grid)

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 40; step++) {
        smooth(rank == 1 ? 12 : 4);
        restrict_grid(3);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    FILE *file = truth(rank);
    fprintf(file, "Kernel<double>::sweep %f\nrestrict_grid %f\n", smooth_s, restrict_grid_s);
    fclose(file);
    MPI_Finalize();
    return 0;
}
