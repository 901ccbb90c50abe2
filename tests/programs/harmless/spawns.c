// ranks: 2
// mpi: -mpich
// why: the MPICH of Debian, over UCX, cannot spawn
// env: I_MPI_SPAWN=on
// why: without, Intel MPI takes shared memory alone on one host
// records: Comm_spawn 1 Allreduce 10
// problems: Spawned
// times: Spawned 1
// end: finalize
// truth: two processes are started that do not run under lb-run: they are not recorded, and the report says so. With LBTEST_RECORDER, the
// truth: path of lb-run, they are a run of their own.
#include "calls.h"

int main(int argc, char **argv)
{
    MPI_Comm parent, children;
    start(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    long sum = reduce(parent == MPI_COMM_NULL ? 10 : 20);
    if (parent != MPI_COMM_NULL) {
        MPI_Send(&sum, 1, MPI_LONG, 0, 1, parent);
        MPI_Comm_disconnect(&parent);
        MPI_Finalize();
        return 0;
    }
    char *recorder = getenv("LBTEST_RECORDER"), *with_recorder[] = {argv[0], NULL};
    MPI_Comm_spawn(recorder ? recorder : argv[0], recorder ? with_recorder : MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                   &children, MPI_ERRCODES_IGNORE);
    for (int i = 0; rank == 0 && i < 2; i++) {
        long theirs;
        MPI_Recv(&theirs, 1, MPI_LONG, i, 1, children, MPI_STATUS_IGNORE);
        printf("child %d has %ld\n", i, theirs);
    }
    MPI_Comm_disconnect(&children);
    printf("%ld\n", sum);
    MPI_Finalize();
    return 0;
}
