/* Further ways in which messages of neighbours are sent, found and received. */
#ifndef LABORATORY_MATCHING_H
#define LABORATORY_MATCHING_H

#include "exchanges.h"

#include <sched.h>

/* The tag of an exchange: a neighbour may be one ahead. */
static int next_tag(void)
{
    static int n;
    return 50 + n++ % 2;
}

static void complete_sends(void)
{
    MPI_Waitall(n_neighbours, requests + n_neighbours, MPI_STATUSES_IGNORE);
}

static void by_matched_probe(void)
{
    MPI_Message message;
    start_sends();
    for (int i = 0; i < n_neighbours; i++) {
        MPI_Mprobe(neighbours[i], tag_of(opposite[i]), MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(received[i], n_bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    }
    complete_sends();
}

static void by_bsend(void)
{
    for (int i = 0; i < n_neighbours; i++)
        MPI_Bsend(sent[i], n_bytes, MPI_BYTE, neighbours[i], tag_of(direction(i)), MPI_COMM_WORLD);
    for (int i = 0; i < n_neighbours; i++)
        MPI_Recv(received[i], n_bytes, MPI_BYTE, neighbours[i], tag_of(opposite[i]), MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void by_any_source(void)
{
    int tag = next_tag();
    for (int i = 0; i < n_neighbours; i++)
        MPI_Irecv(received[i], n_bytes, MPI_BYTE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < n_neighbours; i++)
        MPI_Isend(sent[i], n_bytes, MPI_BYTE, neighbours[i], tag, MPI_COMM_WORLD, &requests[n_neighbours + i]);
    complete_all();
}

static void by_waitsome(void)
{
    int n, indices[2 * MOST_NEIGHBOURS];
    start_receives();
    start_sends();
    for (int left = 2 * n_neighbours; left > 0; left -= n)
        MPI_Waitsome(2 * n_neighbours, requests, &n, indices, MPI_STATUSES_IGNORE);
}

/* Nobody knows how many messages it will get: all have come once the synchronous sends of all ranks are complete. */
static void by_consensus(void)
{
    MPI_Request barrier = MPI_REQUEST_NULL;
    int tag = next_tag();
    for (int i = 0; i < n_neighbours; i++)
        MPI_Issend(sent[i], n_bytes, MPI_BYTE, neighbours[i], tag, MPI_COMM_WORLD, &requests[n_neighbours + i]);
    for (int over = 0, has_sent = 0; !over; sched_yield()) {
        MPI_Status status;
        int is_there;
        MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &is_there, &status);
        if (is_there)
            MPI_Recv(received[0], n_bytes, MPI_BYTE, status.MPI_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (has_sent) {
            MPI_Test(&barrier, &over, MPI_STATUS_IGNORE);
            continue;
        }
        MPI_Testall(n_neighbours, requests + n_neighbours, &has_sent, MPI_STATUSES_IGNORE);
        if (has_sent)
            MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    }
}

static void by_typed_neighbourhood(void)
{
    int counts[MOST_NEIGHBOURS];
    MPI_Aint displacements[MOST_NEIGHBOURS];
    MPI_Datatype types[MOST_NEIGHBOURS];
    for (int i = 0; i < n_neighbours; i++)
        counts[i] = n_bytes, displacements[i] = (MPI_Aint)i * MOST_BYTES, types[i] = MPI_BYTE;
    MPI_Neighbor_alltoallw(sent, counts, displacements, types, received, counts, displacements, types, grid);
}

static char *buffer;

static void init_buffer(void)
{
    int n = MOST_NEIGHBOURS * 4 * (n_bytes + MPI_BSEND_OVERHEAD);
    buffer = malloc((size_t)n);
    MPI_Buffer_attach(buffer, n);
}

static void free_buffer(void)
{
    int n;
    MPI_Buffer_detach(&buffer, &n);
    free(buffer);
}

#endif
