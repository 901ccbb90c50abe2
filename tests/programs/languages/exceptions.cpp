// ranks: 2
// records: Send 3 Allreduce 60
// problems: Unfinished
// truth: an error handler throws through MPI's frames and ours; what follows is recorded, in other frames too
#include <mpi.h>
#include <cstdio>
#include <stdexcept>

static void raise(MPI_Comm *, int *code, ...)
{
    int kind;
    MPI_Error_class(*code, &kind);
    throw std::runtime_error(kind == MPI_ERR_RANK ? "rank" : "other");
}

static int reduce(int depth, int n)
{
    if (depth)
        return reduce(depth - 1, n) + 1;
    int sum = 0;
    for (int i = 0; i < n; i++) {
        int all;
        MPI_Allreduce(&i, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        sum += all;
    }
    return sum;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(raise, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (int i = 0; i < 3; i++) {
        try {
            MPI_Send(&i, 1, MPI_INT, 1000, 1, MPI_COMM_WORLD);
            std::printf("not thrown\n");
        } catch (const std::runtime_error &error) {
            std::printf("%s %d\n", error.what(), reduce(10 * i, 20));
        }
    }
    MPI_Finalize();
    return 0;
}
