// ranks: 4
// truth: without markers, a multigrid solver: cycle calls itself for three coarser levels, and each level exchanges an eighth of the data of
// truth: the one before and smooths before and after; rank 0 smooths twice as long on the finest level. 12 cycles of one call each, so
// truth: that nothing but the finest level's calls recurs in the outermost function.
// expect: computation[p] = 12 * (0.030 + 0.020*(p == 0))
// expect: iterations = 12
// expect: loops = 1
// expect: loop[iterations] = 12
// expect: loop[confidence] = 2
// expect: t_ideal_phase_profile_s = 12 * 0.050
#include "work.h"

static int rank, size;
static double until_ms, out[4096], in[4096];

__attribute__((noinline)) static void exchange(int n)
{
    MPI_Sendrecv(out, n, MPI_DOUBLE, (rank + 1) % size, 0, in, n, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static void smooth(int level)
{
    if (level == 0) {
        until_ms += 20;
        work(rank == 0 ? 20 : 10, until_ms);
    }
    if (level == 3) {
        until_ms += 10;
        work(10, until_ms);
    }
    exchange(4096 >> 3 * level);
}

__attribute__((noinline)) static void cycle(int level)
{
    smooth(level);
    if (level < 3) {
        cycle(level + 1);
        smooth(level);
    }
}

int main(int argc, char **argv)
{
    int sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    for (int k = 0; k < 12; k++)
        cycle(0);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    end_schedule();
    MPI_Finalize();
    return 0;
}
