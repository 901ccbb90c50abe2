/* Styles of exchange with neighbours, on a line, a grid or a cube of ranks, a step of the program each. */
#ifndef LABORATORY_EXCHANGES_H
#define LABORATORY_EXCHANGES_H

#include "plan.h"

enum { MOST_NEIGHBOURS = 6, MOST_BYTES = 65536 };

static int n_bytes, n_neighbours, neighbours[MOST_NEIGHBOURS], opposite[MOST_NEIGHBOURS];
static char sent[MOST_NEIGHBOURS][MOST_BYTES], received[MOST_NEIGHBOURS][MOST_BYTES];
static MPI_Request requests[2 * MOST_NEIGHBOURS];
static MPI_Comm grid;
static MPI_Win window;
static MPI_Group group;

/* Directions are left, right, up, down, front, back; what goes one way is received from the other, in a slot of that way. */
static void find_on_axis(int axis, int at, int n, int stride)
{
    if (at > 0)
        opposite[n_neighbours] = 2 * axis + 1, neighbours[n_neighbours++] = rank - stride;
    if (at < n - 1)
        opposite[n_neighbours] = 2 * axis, neighbours[n_neighbours++] = rank + stride;
}

/* On a line, a grid of two rows, or a cube of two columns and two rows. */
static void find_neighbours(int dimensions)
{
    int columns = dimensions == 3 ? 2 : dimensions == 2 && size % 2 == 0 && size > 3 ? size / 2 : size;
    int rows = dimensions == 3 ? 2 : size / columns;
    n_neighbours = 0;
    find_on_axis(0, rank % columns, columns, 1);
    find_on_axis(1, rank / columns % rows, rows, columns);
    find_on_axis(2, rank / columns / rows, size / columns / rows, columns * rows);
}

static int tag_of(int direction)
{
    return 10 + direction;
}

/* The direction in which neighbour i lies. */
static int direction(int i)
{
    return opposite[i] ^ 1;
}

static void start_receives(void)
{
    for (int i = 0; i < n_neighbours; i++)
        MPI_Irecv(received[i], n_bytes, MPI_BYTE, neighbours[i], tag_of(opposite[i]), MPI_COMM_WORLD, &requests[i]);
}

static void start_sends(void)
{
    for (int i = 0; i < n_neighbours; i++)
        MPI_Isend(sent[i], n_bytes, MPI_BYTE, neighbours[i], tag_of(direction(i)), MPI_COMM_WORLD, &requests[n_neighbours + i]);
}

static void complete_all(void)
{
    MPI_Waitall(2 * n_neighbours, requests, MPI_STATUSES_IGNORE);
}

static void by_waitall(void)
{
    start_receives();
    start_sends();
    complete_all();
}

static void by_isend_recv(void)
{
    start_sends();
    for (int i = 0; i < n_neighbours; i++)
        MPI_Recv(received[i], n_bytes, MPI_BYTE, neighbours[i], tag_of(opposite[i]), MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(n_neighbours, requests + n_neighbours, MPI_STATUSES_IGNORE);
}

static int neighbour_in(int way)
{
    for (int i = 0; i < n_neighbours; i++)
        if (direction(i) == way)
            return neighbours[i];
    return MPI_PROC_NULL;
}

static void by_sendrecv(void)
{
    int left = neighbour_in(0), right = neighbour_in(1), up = neighbour_in(2), down = neighbour_in(3);
    MPI_Sendrecv(sent[0], n_bytes, MPI_BYTE, left, 10, received[0], n_bytes, MPI_BYTE, right, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(sent[1], n_bytes, MPI_BYTE, right, 11, received[1], n_bytes, MPI_BYTE, left, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(sent[2], n_bytes, MPI_BYTE, up, 12, received[2], n_bytes, MPI_BYTE, down, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(sent[3], n_bytes, MPI_BYTE, down, 13, received[3], n_bytes, MPI_BYTE, up, 13, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void start_persistent(void)
{
    MPI_Startall(2 * n_neighbours, requests);
}

static void by_persistent(void)
{
    start_persistent();
    complete_all();
}

static void by_neighbourhood(void)
{
    MPI_Neighbor_alltoall(sent, n_bytes, MPI_BYTE, received, n_bytes, MPI_BYTE, grid);
}

#if MPI_VERSION >= 4
static void by_partitions(void)
{
    start_persistent();
    for (int i = 0; i < n_neighbours; i++)
        MPI_Pready_range(0, 1, requests[n_neighbours + i]);
    complete_all();
}
#endif

static void put_all(void)
{
    for (int i = 0; i < n_neighbours; i++)
        MPI_Put(sent[i], n_bytes, MPI_BYTE, neighbours[i], (MPI_Aint)opposite[i] * MOST_BYTES, n_bytes, MPI_BYTE, window);
}

static void by_fence(void)
{
    put_all();
    MPI_Win_fence(0, window);
}

static void by_post_start(void)
{
    MPI_Win_post(group, 0, window);
    MPI_Win_start(group, 0, window);
    put_all();
    MPI_Win_complete(window);
    MPI_Win_wait(window);
}

static void by_locks(void)
{
    for (int i = 0; i < n_neighbours; i++) {
        MPI_Win_lock(MPI_LOCK_SHARED, neighbours[i], 0, window);
        MPI_Put(sent[i], n_bytes, MPI_BYTE, neighbours[i], (MPI_Aint)opposite[i] * MOST_BYTES, n_bytes, MPI_BYTE, window);
        MPI_Win_unlock(neighbours[i], window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* --- what the styles need before the first step, and leave after the last --- */

static void init_persistent(void)
{
    for (int i = 0; i < n_neighbours; i++) {
        MPI_Recv_init(received[i], n_bytes, MPI_BYTE, neighbours[i], tag_of(opposite[i]), MPI_COMM_WORLD, &requests[i]);
        MPI_Send_init(sent[i], n_bytes, MPI_BYTE, neighbours[i], tag_of(direction(i)), MPI_COMM_WORLD, &requests[n_neighbours + i]);
    }
}

#if MPI_VERSION >= 4
static void init_partitions(void)
{
    for (int i = 0; i < n_neighbours; i++) {
        MPI_Request *request = &requests[i];
        MPI_Precv_init(received[i], 2, n_bytes / 2, MPI_BYTE, neighbours[i], tag_of(opposite[i]), MPI_COMM_WORLD, MPI_INFO_NULL, request);
        MPI_Psend_init(sent[i], 2, n_bytes / 2, MPI_BYTE, neighbours[i], tag_of(direction(i)), MPI_COMM_WORLD, MPI_INFO_NULL,
                       request + n_neighbours);
    }
}
#endif

static void free_requests(void)
{
    for (int i = 0; i < 2 * n_neighbours; i++)
        MPI_Request_free(&requests[i]);
}

static void init_grid(void)
{
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n_neighbours, neighbours, MPI_UNWEIGHTED, n_neighbours, neighbours, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &grid);
}

static void free_grid(void)
{
    MPI_Comm_free(&grid);
}

static void init_window(void)
{
    MPI_Group all;
    char *memory;
    MPI_Win_allocate((MPI_Aint)MOST_NEIGHBOURS * MOST_BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, n_neighbours, neighbours, &group);
    MPI_Group_free(&all);
}

static void init_fence(void)
{
    init_window();
    MPI_Win_fence(0, window);
}

static void free_window(void)
{
    MPI_Group_free(&group);
    MPI_Win_free(&window);
}

static void nothing(void)
{
}

#endif
