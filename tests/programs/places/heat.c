// ranks: 4
// truth: a rank updates rows of its own after a halo exchange, and every tenth step sums the residual. The last rank but one has three times
// truth: the rows of the others.
// headline: update_interior (heat.c
// share: 0.9
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

#ifdef ASLEEP
/* Messages that need nobody at the other side, and sleep that is long against what a busy machine adds to a message. */
enum { STEPS = 30, COLUMNS = 100, ROWS = 200 };
#else
enum { STEPS = 50, COLUMNS = 2000, ROWS = 200 };
#endif

static double *old, *new;

__attribute__((noinline)) static double update_interior(int rows)
{
    double change = 0;
#ifdef ASLEEP
    struct timespec time = {0, rows * 80000L};
    nanosleep(&time, 0);
#else
    for (int i = 1; i <= rows; i++)
        for (int j = 1; j < COLUMNS - 1; j++) {
            double *at = old + (size_t)i * COLUMNS + j;
            double mean = 0.25 * (at[-COLUMNS] + at[COLUMNS] + at[-1] + at[1]);
            change += (mean - *at) * (mean - *at);
            new[(size_t)i * COLUMNS + j] = mean;
        }
#endif
    return change;
}

static void set_boundary(int rows)
{
    for (int i = 0; i <= rows + 1; i++)
        old[(size_t)i * COLUMNS] = 1;
}

static void exchange_halo(int rows, int up, int down)
{
    MPI_Request requests[4];
    MPI_Irecv(old, COLUMNS, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(old + (size_t)(rows + 1) * COLUMNS, COLUMNS, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(old + COLUMNS, COLUMNS, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(old + (size_t)rows * COLUMNS, COLUMNS, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static double residual(double change)
{
    double sum;
    MPI_Allreduce(&change, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int rows = rank == size - 2 ? 3 * ROWS : ROWS;
    int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    old = calloc((size_t)(rows + 2) * COLUMNS, sizeof *old);
    new = calloc((size_t)(rows + 2) * COLUMNS, sizeof *new);
    double sum = 0;
    for (int step = 0; step < STEPS; step++) {
        exchange_halo(rows, up, down);
        set_boundary(rows);
        double change = update_interior(rows);
        if (step % 10 == 9)
            sum = residual(change);
        double *swap = old;
        old = new;
        new = swap;
    }
    MPI_Finalize();
    return sum < 0;
}
