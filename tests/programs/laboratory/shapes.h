/* The laboratory's shapes: how work and communication follow each other in a step. */
#ifndef LABORATORY_SHAPES_H
#define LABORATORY_SHAPES_H

#include "exchanges.h"

static void (*exchange)(void);

/* --- steps of work and exchange --- */

static void work_and_exchange(int k)
{
    first_part(k);
    exchange();
    if (parts == 2) {
        second_part(k);
        exchange();
    }
}

/* What neighbours need is in transit while a rank works, where the MPI moves it then. */
static void overlap_with(int k, void (*start)(void))
{
    start();
    first_part(k);
    complete_all();
    if (parts == 2) {
        start();
        second_part(k);
        complete_all();
    }
}

static void start_messages(void)
{
    start_receives();
    start_sends();
}

static void overlap(int k)
{
    overlap_with(k, start_messages);
}

static void overlap_persistent(int k)
{
    overlap_with(k, start_persistent);
}

/* --- collectives --- */

static void by_allreduce(void)
{
    double mine = 1, all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void by_alltoall(void)
{
    static int out[64], in[64];
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
}

static void by_roots(void)
{
    double mine = 1, all = 0;
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Bcast(&all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void by_nonblocking(void)
{
    static double mine = 1, all;
    MPI_Iallreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, requests);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
}

/* Towards rank 0 and back, along a binomial tree. */
static void by_tree(void)
{
    int bit = 1;
    for (; bit < size && !(rank & bit); bit <<= 1)
        if (rank + bit < size)
            MPI_Recv(received[0], n_bytes, MPI_BYTE, rank + bit, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank > 0) {
        MPI_Send(sent[0], n_bytes, MPI_BYTE, rank - bit, 20, MPI_COMM_WORLD);
        MPI_Recv(received[0], n_bytes, MPI_BYTE, rank - bit, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (bit >>= 1; bit > 0; bit >>= 1)
        if (rank + bit < size)
            MPI_Send(sent[0], n_bytes, MPI_BYTE, rank + bit, 21, MPI_COMM_WORLD);
}

static void user_function(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    rest(4);
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static MPI_Op user_op;

static void by_user_reduction(void)
{
    int mine = rank, all;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, user_op, MPI_COMM_WORLD);
}

static void init_user_op(void)
{
    MPI_Op_create(user_function, 1, &user_op);
}

static void free_user_op(void)
{
    MPI_Op_free(&user_op);
}

/* --- chains --- */

/* With the left neighbour in even steps, with the right one in odd steps, for even ranks; the other way round for odd ones. */
static void odd_even(int k)
{
    int partner = (rank + k) % 2 ? rank - 1 : rank + 1;
    first_part(k);
    if (partner >= 0 && partner < size)
        MPI_Sendrecv(sent[0], n_bytes, MPI_BYTE, partner, 30, received[0], n_bytes, MPI_BYTE, partner, 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void pipeline(int k)
{
    if (rank > 0)
        MPI_Recv(received[0], n_bytes, MPI_BYTE, rank - 1, 31, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    first_part(k);
    if (rank < size - 1)
        MPI_Send(sent[0], n_bytes, MPI_BYTE, rank + 1, 31, MPI_COMM_WORLD);
}

/* --- work handed out on demand, as many pieces as the ranks that work have steps; a piece takes as long as its rank needs for a step --- */

static void master_and_workers(int k)
{
    int left = steps * (size - 1), ready = 0, more = 1;
    MPI_Status status;
    if (k > 0)
        return;
    for (int running = size - 1; rank == 0 && running > 0;) {
        MPI_Recv(&ready, 1, MPI_INT, MPI_ANY_SOURCE, 40, MPI_COMM_WORLD, &status);
        more = left-- > 0;
        running -= !more;
        MPI_Send(&more, 1, MPI_INT, status.MPI_SOURCE, 41, MPI_COMM_WORLD);
    }
    for (int piece = 0; rank > 0; piece++) {
        MPI_Send(&ready, 1, MPI_INT, 0, 40, MPI_COMM_WORLD);
        MPI_Recv(&more, 1, MPI_INT, 0, 41, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!more)
            break;
        first_part(piece % steps);
    }
}

static long *counter;

static void counted_tasks(int k)
{
    long one = 1, task;
    for (int piece = 0; k == 0; piece++) {
        MPI_Fetch_and_op(&one, &task, MPI_LONG, 0, 0, MPI_SUM, window);
        MPI_Win_flush(0, window);
        if (task >= (long)steps * size)
            break;
        first_part(piece % steps);
    }
}

static void init_counter(void)
{
    MPI_Win_allocate(rank == 0 ? sizeof *counter : 0, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &window);
    if (rank == 0)
        *counter = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
}

static void free_counter(void)
{
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

/* --- files: even work, and a rank that writes while the others wait --- */

static MPI_File file;

/* Writes for this long, by many calls or by one function of the system. */
static __attribute__((noinline)) void write_for(double ms, int by_mpi)
{
    if (!by_mpi) {
        rest(ms);
        return;
    }
    for (double end_s = now_s() + 1e-3 * ms; now_s() < end_s;)
        MPI_File_write_at(file, 0, sent, sizeof sent, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void step_with_output(int k, int by_mpi)
{
    int has_change = change_ms != as_is;
    rest(LEAST_MS);
    by_allreduce();
    if (k % SLICE == SLICE - 1) {
        if (rank == 0 || has_change)
            write_for(3 * EXCESS_MS / (has_change ? size : 1), by_mpi);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void output_by_mpi(int k)
{
    step_with_output(k, 1);
}

static void output_by_posix(int k)
{
    step_with_output(k, 0);
}

static void open_file(void)
{
    char name[] = "output";
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
}

static void close_file(void)
{
    MPI_File_close(&file);
}

/* --- all of them --- */

static const struct {
    const char *name;
    void (*step)(int k), (*exchange)(void), (*init)(void), (*end)(void);
    int is_grid;
} SHAPES[] = {
    {"line-waitall", work_and_exchange, by_waitall, nothing, nothing, 0},
    {"line-sendrecv", work_and_exchange, by_sendrecv, nothing, nothing, 0},
    {"line-isend-recv", work_and_exchange, by_isend_recv, nothing, nothing, 0},
    {"line-persistent", work_and_exchange, by_persistent, init_persistent, free_requests, 0},
    {"line-neighbourhood", work_and_exchange, by_neighbourhood, init_grid, free_grid, 0},
#if MPI_VERSION >= 4
    {"line-partitions", work_and_exchange, by_partitions, init_partitions, free_requests, 0},
    {"grid-partitions", work_and_exchange, by_partitions, init_partitions, free_requests, 1},
#endif
    {"line-fence", work_and_exchange, by_fence, init_fence, free_window, 0},
    {"line-post-start", work_and_exchange, by_post_start, init_window, free_window, 0},
    {"line-locks", work_and_exchange, by_locks, init_window, free_window, 0},
    {"grid-waitall", work_and_exchange, by_waitall, nothing, nothing, 1},
    {"grid-sendrecv", work_and_exchange, by_sendrecv, nothing, nothing, 1},
    {"grid-isend-recv", work_and_exchange, by_isend_recv, nothing, nothing, 1},
    {"grid-persistent", work_and_exchange, by_persistent, init_persistent, free_requests, 1},
    {"grid-neighbourhood", work_and_exchange, by_neighbourhood, init_grid, free_grid, 1},
    {"grid-fence", work_and_exchange, by_fence, init_fence, free_window, 1},
    {"grid-post-start", work_and_exchange, by_post_start, init_window, free_window, 1},
    {"grid-locks", work_and_exchange, by_locks, init_window, free_window, 1},
    {"overlap", overlap, nothing, nothing, nothing, 0},
    {"overlap-persistent", overlap_persistent, nothing, init_persistent, free_requests, 0},
    {"allreduce", work_and_exchange, by_allreduce, nothing, nothing, 0},
    {"alltoall", work_and_exchange, by_alltoall, nothing, nothing, 0},
    {"roots", work_and_exchange, by_roots, nothing, nothing, 0},
    {"iallreduce", work_and_exchange, by_nonblocking, nothing, nothing, 0},
    {"tree", work_and_exchange, by_tree, nothing, nothing, 0},
    {"user-reduction", work_and_exchange, by_user_reduction, init_user_op, free_user_op, 0},
    {"odd-even", odd_even, nothing, nothing, nothing, 0},
    {"pipeline", pipeline, nothing, nothing, nothing, 0},
    {"master", master_and_workers, nothing, nothing, nothing, 0},
    {"counter", counted_tasks, nothing, init_counter, free_counter, 0},
    {"output-mpi", output_by_mpi, nothing, open_file, close_file, 0},
    {"output-posix", output_by_posix, nothing, nothing, nothing, 0},
};

#endif
