// ranks: 4
// truth: forces and fields are called on one line, and each computes before it calls MPI: forces 2 ms, fields 6 ms, of rank 2 18 ms.
// headline: from the call of forces to the call of fields (both on line 33 of one_line.c)
// share: 0.6
#include <mpi.h>
#include <time.h>

static int rank;

static void compute(int ms)
{
    struct timespec time = {0, ms * 1000000L};
    nanosleep(&time, 0);
}

__attribute__((noinline)) static void forces(int *sum)
{
    MPI_Allreduce(&rank, sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

__attribute__((noinline)) static void fields(int *sum)
{
    MPI_Allreduce(&rank, sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 30; step++) {
        // clang-format off
        compute(2); forces(&sum); compute(rank == 2 ? 18 : 6); fields(&sum);
        // clang-format on
    }
    MPI_Finalize();
    return 0;
}
