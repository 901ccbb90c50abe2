// The rounds of MPI calls whose cost scripts/bench measures. All communication is of the rank with itself, so that the real call is short and nobody has
// to be waited for.

#ifndef ROUNDS_H
#define ROUNDS_H

#include <mpi.h>
#include <string.h>

static double sent[4], received[4];

static void sendrecv(void) {
    MPI_Sendrecv(sent, 4, MPI_DOUBLE, 0, 1, received, 4, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void nonblocking(void) {
    MPI_Request requests[2];
    MPI_Irecv(received, 4, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, 4, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void allreduce(void) {
    MPI_Allreduce(sent, received, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void barrier(void) {
    MPI_Barrier(MPI_COMM_WORLD);
}

static const struct kind {
    const char *name;
    void (*round)(void);
    int calls;
} kinds[] = {
    {"sendrecv", sendrecv, 1},
    {"nonblocking", nonblocking, 3},
    {"allreduce", allreduce, 1},
    {"barrier", barrier, 1},
};

// The kind of this name, or NULL.
static const struct kind *kind_named(const char *name) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(name, kinds[i].name) == 0) return &kinds[i];
    }
    return NULL;
}

#endif
