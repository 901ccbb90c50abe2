// ranks: 2
// truth: MPI_Reduce calls a function of the program, on rank 0 alone, which computes in `dot`; in MPI_Allreduce both ranks compute in the function
// slow: 1 force
// called-by-mpi: Reduce combine 0
#include <mpi.h>

#include "../sampling/spin.h"

SPINS(force)
SPINS(dot)
SPINS(add)

/* Not inlined: the samples lie in dot, which MPI does not call. */
static __attribute__((noinline)) void combine(void *in, void *out, int *length, MPI_Datatype *type)
{
    (void)length, (void)type;
    dot(8);
    *(int *)out += *(int *)in;
}

static void sum(void *in, void *out, int *length, MPI_Datatype *type)
{
    (void)length, (void)type;
    add(1);
    *(int *)out += *(int *)in;
}

int main(int argc, char **argv)
{
    int rank, one = 1, all;
    MPI_Op combined, summed;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Op_create(combine, 1, &combined);
    MPI_Op_create(sum, 1, &summed);
    for (int step = 0; step < 40; step++) {
        force(rank == 1 ? 6 : 4);
        MPI_Reduce(&one, &all, 1, MPI_INT, combined, 0, MPI_COMM_WORLD);
        MPI_Allreduce(&one, &all, 1, MPI_INT, summed, MPI_COMM_WORLD);
    }
    FILE *file = truth(rank);
    fprintf(file, "force %f\ncalled-by-mpi Reduce combine %f\ncalled-by-mpi Allreduce sum %f\n", force_s, dot_s, add_s);
    fclose(file);
    MPI_Op_free(&combined);
    MPI_Op_free(&summed);
    MPI_Finalize();
    return 0;
}
