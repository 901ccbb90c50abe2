// ranks: 2
// link: -lm
// truth: `force` computes with exp and `pack` copies with memcpy, both called from `step`; rank 0 computes three times as long in `force`
// slow: 0 force
// calls: force exp step
// calls: pack mem step
#include <math.h>
#include <mpi.h>
#include <string.h>

#include "../sampling/spin.h"

static double values[1 << 14], copies[1 << 14];
static double force_s, pack_s;

__attribute__((noinline)) static void force(double seconds)
{
    double begin = cpu_s(), now;
    do {
        for (int i = 0; i < 4000; i++)
            values[i] = exp(1e-9 * values[i]);
    } while ((now = cpu_s()) - begin < seconds);
    force_s += now - begin;
}

__attribute__((noinline)) static void pack(double seconds)
{
    double begin = cpu_s(), now;
    do {
        for (int i = 0; i < 16; i++) {
            memcpy(copies, values, sizeof values);
            __asm__ volatile("" ::"r"(copies) : "memory");
        }
    } while ((now = cpu_s()) - begin < seconds);
    pack_s += now - begin;
}

__attribute__((noinline)) static void step(int rank)
{
    force(rank == 0 ? 0.012 : 0.004);
    pack(0.004);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 40; i++)
        step(rank);
    FILE *file = truth(rank);
    fprintf(file, "force %f\npack %f\n", force_s, pack_s);
    fclose(file);
    MPI_Finalize();
    return 0;
}
