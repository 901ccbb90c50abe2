// ranks: 2
// end: finalize
// buffer: 32K
// truth: 2,000 communicators, requests and datatypes made and freed; memory grows no more than without the recorder
#include "calls.h"

static long resident_kb(void)
{
    long kb = 0;
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "RssAnon: %ld", &kb) == 1)
            break;
    if (file)
        fclose(file);
    return kb;
}

static void some(int n)
{
    for (int i = 0; i < n; i++) {
        MPI_Comm dup, half;
        MPI_Datatype type, other;
        MPI_Request requests[2], persistent;
        int in[8], out[8] = {0};
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
        MPI_Comm_split(dup, rank % 2, i, &half);
        MPI_Type_contiguous(2, MPI_INT, &type);
        MPI_Type_vector(2, 1, 2, MPI_INT, &other);
        MPI_Type_commit(&type);
        MPI_Type_commit(&other);
        MPI_Irecv(in, 1, type, (rank + 1) % size, i, dup, &requests[0]);
        MPI_Isend(out, 1, other, (rank + size - 1) % size, i, dup, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Recv_init(in, 1, type, 0, i, half, &persistent);
        MPI_Request_free(&persistent);
        MPI_Type_free(&type);
        MPI_Type_free(&other);
        MPI_Barrier(half);
        MPI_Comm_free(&half);
        MPI_Comm_free(&dup);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    some(300);
    long before = resident_kb();
    some(2000);
    long grown = resident_kb() - before;
    const char *path = getenv("LBTEST_GROWTH");
    if (path) {
        char name[4096];
        snprintf(name, sizeof name, "%s.%d", path, rank);
        FILE *file = fopen(name, "w");
        if (!file)
            abort();
        fprintf(file, "%ld\n", grown);
        fclose(file);
    }
    printf("%d: done\n", rank);
    MPI_Finalize();
    return 0;
}
