// ranks: 1
// mpi: mpich
// wrapper: valgrind -q --error-exitcode=9
// records: Barrier 10
// end: finalize
// seconds: 120
// truth: Valgrind finds no error, as without the recorder: it would end the program with another exit code
#include "calls.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int i = 0; i < 10; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    printf("done\n");
    MPI_Finalize();
    return 0;
}
