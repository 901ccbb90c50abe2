/* MUMPS factorises the 7-point Laplacian of N³ unknowns and solves with it; rank 0 prints what each part took, in seconds.
 *
 *     mpicc -O2 -g laplace.c -o laplace -ldmumps && mpirun -n 2 lb-run ./laplace 44 */
#include <dmumps_c.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { USE_COMM_WORLD = -987654, INIT = -1, END = -2, ANALYSE = 1, FACTORISE = 2, SOLVE = 3, PORD = 4 };

static DMUMPS_STRUC_C mumps;

static double run(int job)
{
    double begin_s = MPI_Wtime();
    mumps.job = job;
    dmumps_c(&mumps);
    return MPI_Wtime() - begin_s;
}

/* The matrix, with indices from 1. */
static void fill(int n)
{
    size_t at = 0, most = 7 * (size_t)n * n * n;
    mumps.irn = malloc(most * sizeof *mumps.irn);
    mumps.jcn = malloc(most * sizeof *mumps.jcn);
    mumps.a = malloc(most * sizeof *mumps.a);
    mumps.rhs = malloc((size_t)n * n * n * sizeof *mumps.rhs);
    int steps[3] = {1, n, n * n};
    for (int row = 0; row < n * n * n; row++) {
        int on[3] = {row % n, row / n % n, row / (n * n)};
        mumps.rhs[row] = 1;
        mumps.irn[at] = mumps.jcn[at] = row + 1;
        mumps.a[at++] = 6;
        for (int axis = 0; axis < 3; axis++)
            for (int side = -1; side <= 1; side += 2)
                if (on[axis] + side >= 0 && on[axis] + side < n) {
                    mumps.irn[at] = row + 1;
                    mumps.jcn[at] = row + side * steps[axis] + 1;
                    mumps.a[at++] = -1;
                }
    }
    mumps.n = n * n * n;
    mumps.nnz = (MUMPS_INT8)at;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    mumps.par = 1;
    mumps.sym = 0;
    mumps.comm_fortran = USE_COMM_WORLD;
    run(INIT);
    mumps.icntl[3] = 2;
    mumps.icntl[6] = PORD;
    if (rank == 0)
        fill(argc > 1 ? atoi(argv[1]) : 44);
    double analysis_s = run(ANALYSE), factorisation_s = run(FACTORISE), solution_s = run(SOLVE);
    printf("rank %d: %.2f + %.2f + %.2f s, %.3g operations\n", rank, analysis_s, factorisation_s, solution_s,
           mumps.rinfo[2]);
    run(END);
    MPI_Finalize();
    return 0;
}
