// ranks: 2
// records: Allreduce 10 Barrier 0 Sendrecv 0 Finalize 1
// truth: an attribute of MPI_COMM_SELF is deleted in MPI_Finalize, and the function that does so calls MPI: these calls come after the
// truth: recorded time
#include "calls.h"

static int deleted(MPI_Comm comm, int key, void *value, void *extra)
{
    MPI_Barrier(MPI_COMM_WORLD);
    long sum = pass(2);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("deleted, %ld\n", sum);
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    printf("%ld\n", reduce(10));
    MPI_Finalize();
    return 0;
}
