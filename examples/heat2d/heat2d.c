/* The heat equation on a rectangle, in blocks of rows that are divided between the ranks: docs/tutorial.md makes it faster.
 *
 *     heat2d [STEPS]      default: 100
 *
 * With HEAT2D_SLEEP=MS, ranks sleep that many milliseconds for each block, to try it on fewer cores than ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BLOCKS = 11, ROWS_OF_BLOCK = 100, COLUMNS = 4000 };

/* The number of blocks that a rank computes. */
static int blocks_of(int rank, int size)
{
    int blocks = BLOCKS / size;
    if (rank == size - 1)
        blocks += BLOCKS % size;
    return blocks;
}

/* The new value of each inner cell is the mean of its neighbours; returns the sum of the squared changes. */
static double update_rows(const double *old, double *new, int rows, int sleep_ms)
{
    double change = 0;
    if (sleep_ms > 0) {
        struct timespec pause = {0, 1000000L * sleep_ms * (rows / ROWS_OF_BLOCK)};
        nanosleep(&pause, NULL);
        return 0;
    }
    for (int i = 1; i <= rows; i++)
        for (int j = 1; j < COLUMNS - 1; j++) {
            const double *at = old + (size_t)i * COLUMNS + j;
            double value = 0.25 * (at[-COLUMNS] + at[COLUMNS] + at[-1] + at[1]);
            change += (value - *at) * (value - *at);
            new[(size_t)i * COLUMNS + j] = value;
        }
    return change;
}

/* Sends the outer rows to the neighbours, and receives theirs. */
static void exchange_halo(double *field, int rows, int up, int down)
{
    MPI_Request requests[4];
    MPI_Irecv(field, COLUMNS, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(field + (size_t)(rows + 1) * COLUMNS, COLUMNS, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(field + COLUMNS, COLUMNS, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(field + (size_t)rows * COLUMNS, COLUMNS, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, size;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int steps = argc > 1 ? atoi(argv[1]) : 100;
    int rows = blocks_of(rank, size) * ROWS_OF_BLOCK;
    int sleep_ms = getenv("HEAT2D_SLEEP") ? atoi(getenv("HEAT2D_SLEEP")) : 0;
    double *old = calloc((size_t)(rows + 2) * COLUMNS, sizeof *old);
    double *new = calloc((size_t)(rows + 2) * COLUMNS, sizeof *new);
    for (int i = 0; i < rows + 2; i++)
        old[(size_t)i * COLUMNS] = new[(size_t)i * COLUMNS] = 1;
    int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    for (int step = 0; step < steps; step++) {
        exchange_halo(old, rows, up, down);
        double change = update_rows(old, new, rows, sleep_ms);
        MPI_Allreduce(&change, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        double *swapped = old;
        old = new;
        new = swapped;
    }
    if (rank == 0)
        printf("the last step changed the field by %g\n", sum);
    free(old);
    free(new);
    MPI_Finalize();
    return 0;
}
