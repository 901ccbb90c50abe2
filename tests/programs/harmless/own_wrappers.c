// ranks: 2
// records: Allreduce 0 Sendrecv 40 Barrier 3
// end: finalize
// stderr: 1
// problems: DirectCalls WrappedBefore
// truth: the program wraps MPI_Allreduce itself, as the standard's profiling interface has it (MPI-4.1 §15.2); its wrapper is called,
// truth: past the recorder, which says so; what it calls by the profiling name is noted
#include "calls.h"

static int wrapped;

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    wrapped++;
    return PMPI_Allreduce(from, to, count, datatype, op, comm);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    long sum = reduce(50) + pass(40);
    for (int i = 0; i < 3; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    PMPI_Barrier(MPI_COMM_WORLD);
    printf("%ld, %d wrapped\n", sum, wrapped);
    MPI_Finalize();
    return 0;
}
