// ranks: 2
// report: 5
// stderr: 1
// truth: the program wraps MPI_Init itself, so that the recorder never sees MPI start: it says that nothing is recorded
#include "calls.h"

int MPI_Init(int *argc, char ***argv)
{
    puts("wrapped");
    return PMPI_Init(argc, argv);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    printf("%ld\n", reduce(50));
    MPI_Finalize();
    return 0;
}
