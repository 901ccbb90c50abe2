/* C = A B for n × n matrices, on p ranks in r rows and c columns, where r c = p and r is near the square root of p.
 *
 * Rank 0 has A and B, cuts them into r × c blocks, and sends each rank its block of both. A rank needs all blocks of A in its row and all of B in
 * its column: the rank that has a block broadcasts it there. Then each rank multiplies its strips, which gives its block of C.
 *
 *     mpicc -O2 -g -I../../interpose/include matmul.c -o matmul -lm
 *     mpirun -n 4 lb-run ./matmul 800
 *     mpirun -n 4 lb-run ./matmul 800 --sleep     # sleeps 100 ms when cutting, and 400 ms / p instead of multiplying: known times
 *     mpirun -n 4 lb-run ./matmul 80 --sleep 1000 # sleeps 1 µs for each operation of cutting and multiplying: a known law
 *
 * Each phase counts its operations and quanta. An operation is a copied number when cutting, and a product or a sum when multiplying. A quantum is a
 * number that a rank receives: for all ranks together 2 n^2 (1 - 1/p) when distributing, and n^2 (r + c - 2) when broadcasting.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lbprof.h"

static int n, rows, columns; /* of the matrices; of the ranks */

/* Where strip `i` of `strips` begins. */
static int from(int i, int strips)
{
    return (int)((long)n * i / strips);
}

static int height(int i)
{
    return from(i + 1, rows) - from(i, rows);
}

static int width(int j)
{
    return from(j + 1, columns) - from(j, columns);
}

static double *allocate(int high, int wide)
{
    double *matrix = malloc(sizeof(double) * (size_t)high * (size_t)wide + 1);
    if (!matrix) {
        fprintf(stderr, "matmul: no memory for %d by %d numbers\n", high, wide);
        exit(2);
    }
    return matrix;
}

static void sleep_ms(double ms)
{
    struct timespec rest = {(time_t)(ms / 1000), (long)(1e6 * fmod(ms, 1000))};
    while (nanosleep(&rest, &rest)) {
    }
}

/* The block of `matrix` that belongs to row i and column j of the ranks. */
static double *cut(const double *matrix, int i, int j)
{
    double *block = allocate(height(i), width(j));
    for (int row = 0; row < height(i); row++)
        memcpy(block + (size_t)row * width(j), matrix + (size_t)(from(i, rows) + row) * n + from(j, columns),
               sizeof(double) * width(j));
    return block;
}

/* Adds `a` (high by deep) times `b` (deep by wide) to `c`. */
static void multiply(const double *a, const double *b, double *c, int high, int deep, int wide)
{
    for (int i = 0; i < high; i++)
        for (int k = 0; k < deep; k++) {
            double factor = a[(size_t)i * deep + k];
            for (int j = 0; j < wide; j++)
                c[(size_t)i * wide + j] += factor * b[(size_t)k * wide + j];
        }
}

/* The largest error in the block of C of row i and column j. A is i + k at (i, k), and B is k - j at (k, j). */
static double error_of(const double *c, int i, int j)
{
    double worst = 0, sum = 0.5 * n * (n - 1.0), squares = n * (n - 1.0) * (2.0 * n - 1.0) / 6;
    for (int row = 0; row < height(i); row++)
        for (int column = 0; column < width(j); column++) {
            double y = from(i, rows) + row, x = from(j, columns) + column;
            double truth = squares + (y - x) * sum - n * y * x;
            worst = fmax(worst, fabs(c[(size_t)row * width(j) + column] - truth));
        }
    return worst;
}

int main(int argc, char **argv)
{
    int rank, size, sleeps = argc > 2 && !strcmp(argv[2], "--sleep");
    double ns = sleeps && argc > 3 ? atof(argv[3]) : 0; /* for an operation; 0: the same times for all sizes */
    n = argc > 1 ? atoi(argv[1]) : 800;
    if (n < 1) {
        fprintf(stderr, "matmul: how large are the matrices? matmul N [--sleep [NS]]\n");
        return 2;
    }
    /* Before MPI_Init, as if they came from elsewhere: making them is no part of the run. Only rank 0 uses its own. */
    double *a = allocate(n, n), *b = allocate(n, n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            a[(size_t)i * n + j] = i + j;
            b[(size_t)i * n + j] = i - j;
        }

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    LBPROF_PARAM("n", n);
    for (rows = (int)sqrt(size); size % rows; rows--) {
    }
    columns = size / rows;
    int i = rank / columns, j = rank % columns;
    MPI_Comm row, column;
    MPI_Comm_split(MPI_COMM_WORLD, i, j, &row);
    MPI_Comm_split(MPI_COMM_WORLD, j, i, &column);
    MPI_Barrier(MPI_COMM_WORLD);

    double **blocks = calloc(2 * (size_t)size, sizeof *blocks);
    if (rank == 0) {
        LBPROF_PHASE_BEGIN_KIND("partition", LBPROF_CONTROL);
        for (int p = 0; p < size; p++) {
            blocks[2 * p] = cut(a, p / columns, p % columns);
            blocks[2 * p + 1] = cut(b, p / columns, p % columns);
        }
        if (sleeps)
            sleep_ms(ns > 0 ? 2.0 * n * n * ns / 1e6 : 100);
        LBPROF_WORK(2.0 * n * n, 2.0 * n * n);
        LBPROF_PHASE_END("partition");
    }

    LBPROF_PHASE_BEGIN("distribute");
    int own = height(i) * width(j);
    if (rank == 0) {
        for (int p = 1; p < size; p++) {
            int length = height(p / columns) * width(p % columns);
            MPI_Send(blocks[2 * p], length, MPI_DOUBLE, p, 1, MPI_COMM_WORLD);
            MPI_Send(blocks[2 * p + 1], length, MPI_DOUBLE, p, 2, MPI_COMM_WORLD);
        }
    } else {
        blocks[0] = allocate(height(i), width(j));
        blocks[1] = allocate(height(i), width(j));
        MPI_Recv(blocks[0], own, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(blocks[1], own, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    LBPROF_WORK(0, rank == 0 ? 0 : 2.0 * own);
    LBPROF_PHASE_END("distribute");

    /* Blocks of A lie beside each other: the strip is put together row by row. Those of B lie below each other. */
    LBPROF_PHASE_BEGIN("broadcast");
    double *strip_a = allocate(height(i), n), *strip_b = allocate(n, width(j));
    for (int k = 0; k < columns; k++) {
        double *block = k == j ? blocks[0] : allocate(height(i), width(k));
        MPI_Bcast(block, height(i) * width(k), MPI_DOUBLE, k, row);
        for (int y = 0; y < height(i); y++)
            memcpy(strip_a + (size_t)y * n + from(k, columns), block + (size_t)y * width(k), sizeof(double) * width(k));
        if (k != j)
            free(block);
    }
    for (int k = 0; k < rows; k++) {
        double *block = strip_b + (size_t)from(k, rows) * width(j);
        if (k == i)
            memcpy(block, blocks[1], sizeof(double) * own);
        MPI_Bcast(block, height(k) * width(j), MPI_DOUBLE, k, column);
    }
    LBPROF_WORK(0, (double)height(i) * (n - width(j)) + (double)(n - height(i)) * width(j));
    LBPROF_PHASE_END("broadcast");

    LBPROF_PHASE_BEGIN("multiply");
    double *c = calloc((size_t)own + 1, sizeof *c);
    if (sleeps)
        sleep_ms(ns > 0 ? 2.0 * n * own * ns / 1e6 : 400.0 / size);
    else
        multiply(strip_a, strip_b, c, height(i), n, width(j));
    LBPROF_WORK(2.0 * n * own, own);
    LBPROF_PHASE_END("multiply");
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
    MPI_Finalize();

    /* Behind MPI_Finalize, so that checking is no part of the run. */
    if (sleeps)
        multiply(strip_a, strip_b, c, height(i), n, width(j));
    double error = error_of(c, i, j), room = 1e-12 * n * n * n;
    if (error > room)
        fprintf(stderr, "matmul: rank %d is wrong by %g\n", rank, error);
    else if (rank == 0)
        printf("%d by %d ranks: right\n", rows, columns);
    return error > room;
}
