// ranks: 4
// truth: without markers, halo exchanges through one function that calls it from four places in each of 16 steps: predict (10 ms on all
// truth: ranks) and correct (30 ms on rank 1, 10 on the others) through functions of their own, and twice from the step itself, after 5 ms
// truth: each. By its calls' addresses alone the loop would be four times as long.
// expect: computation[p] = 16 * (0.030 + 0.020*(p == 1))
// expect: load_balance = (0.030 + 0.020/P) / 0.050
// expect: iterations = 16
// expect: loops = 1
// expect: loop[iterations] = 16
// expect: loop[confidence] = 2
// expect: t_ideal_phase_profile_s = 16 * 0.050
// expect: longest[main/loop/step/step (paths_helper.c:54 → 56)] = 16 * 0.030
// expect: longest[main/loop/step/step (paths_helper.c:56 → 58)] = 16 * 0.005
// expect: region_load_balance[main/loop/step/step (paths_helper.c:54 → 56)] = (0.010 + 0.020/P) / 0.030
// expect: saved[region balanced main/loop/step/step (paths_helper.c:54 → 56)] = 16 * (0.020 - 0.020/P)
// says: step, from the call of halo (paths_helper.c:54) to the call of correct (paths_helper.c:56)
#include "work.h"

static int rank, size;
static double until_ms, out[1000], in[1000];

__attribute__((noinline)) static void halo(int n)
{
    MPI_Request requests[2];
    MPI_Irecv(in, n, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, n, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Ranks compute so long at most, in which each of them computes for so long. */
static void compute(double ms, double most_ms)
{
    until_ms += most_ms;
    work(ms, until_ms);
}

__attribute__((noinline)) static void predict(void)
{
    compute(10, 10);
    halo(10);
}

__attribute__((noinline)) static void correct(void)
{
    compute(rank == 1 ? 30 : 10, 30);
    halo(1000);
}

__attribute__((noinline)) static void step(void)
{
    predict();
    compute(5, 5);
    halo(100);

    correct();
    compute(5, 5);
    halo(10);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin_schedule();
    for (int k = 0; k < 16; k++)
        step();
    end_schedule();
    MPI_Finalize();
    return 0;
}
