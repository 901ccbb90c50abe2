// Recorded natively and by qemu-aarch64 (scripts/tests/arm64): both must give the same calls, call paths and iterations.
#include <mpi.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void exchange(int depth) {
    if (depth > 0) {
        exchange(depth - 1);
        return;
    }
    int in, out = rank;
    MPI_Request requests[2];
    MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

// A frame whose size is not known when it is compiled, so that it is found by the frame pointer.
static void with_array(int n) {
    volatile char text[n];
    memset((char *)text, 0, n);
    double x = text[0] + rank, sum;
    MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void *other_thread(void *_) {
    MPI_Barrier(MPI_COMM_SELF);
    return NULL;
}

int main(int argc, char **argv) {
    int provided, more = 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &half);
    for (int step = 0; step < 20; step++) {
        usleep(rank == 0 ? 4000 : 1000);
        exchange(2);
        with_array(10 + step);
        // More arguments than fit into registers.
        int in;
        MPI_Sendrecv(&step, 1, MPI_INT, (rank + 1) % size, 7, &in, 1, MPI_INT, (rank + size - 1) % size, 7, half, MPI_STATUS_IGNORE);
    }
    pthread_t thread;
    pthread_create(&thread, NULL, other_thread, NULL);
    pthread_join(thread, NULL);
    MPI_Bcast(&more, 1, MPI_INT, 0, half);
    MPI_Finalize();
    return 0;
}
