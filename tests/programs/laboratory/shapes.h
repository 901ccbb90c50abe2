/* The laboratory's shapes: how work and communication follow each other in a step. */
#ifndef LABORATORY_SHAPES_H
#define LABORATORY_SHAPES_H

#include "reductions.h"

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

static void test_all(void)
{
    int are_complete;
    MPI_Testall(2 * n_neighbours, requests, &are_complete, MPI_STATUSES_IGNORE);
}

/* Tests in the midst of work let the MPI move messages. */
static void tested_overlap(int k)
{
    start_messages();
    first_part_in_quarters(k, test_all);
    complete_all();
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

static void synchronous_pipeline(int k)
{
    if (rank > 0)
        MPI_Recv(received[0], n_bytes, MPI_BYTE, rank - 1, 31, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    first_part(k);
    if (rank < size - 1)
        MPI_Ssend(sent[0], n_bytes, MPI_BYTE, rank + 1, 31, MPI_COMM_WORLD);
}

/* From the first rank to the last, then from the last to the first. */
static void wavefront(int k)
{
    int before = k % 2 ? rank + 1 : rank - 1, after = k % 2 ? rank - 1 : rank + 1;
    if (before >= 0 && before < size)
        MPI_Recv(received[0], n_bytes, MPI_BYTE, before, 32, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    first_part(k);
    if (after >= 0 && after < size)
        MPI_Send(sent[0], n_bytes, MPI_BYTE, after, 32, MPI_COMM_WORLD);
}

/* All work is done while a rank holds the lock of the last rank's window, so that one rank works at a time. */
static void locked_section(int k)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, size - 1, 0, window);
    MPI_Get(received[0], n_bytes, MPI_BYTE, size - 1, 0, n_bytes, MPI_BYTE, window);
    MPI_Win_flush(size - 1, window);
    first_part(k);
    MPI_Put(sent[0], n_bytes, MPI_BYTE, size - 1, 0, n_bytes, MPI_BYTE, window);
    MPI_Win_unlock(size - 1, window);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* --- work handed out on demand, as many pieces as the ranks that work have steps; a piece takes as long as its rank needs for a step --- */

/* Waits for a message of whoever is first, by asking again and again. */
static void probe_any(int tag)
{
    for (int is_there = 0; !is_there; sched_yield())
        MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
}

static void hand_out(int k, int probes)
{
    int left = steps * (size - 1), ready = 0, more = 1;
    MPI_Status status;
    if (k > 0)
        return;
    for (int running = size - 1; rank == 0 && running > 0;) {
        if (probes)
            probe_any(40);
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

static void master_and_workers(int k)
{
    hand_out(k, 0);
}

static void probing_master(int k)
{
    hand_out(k, 1);
}

static long *counter;

/* Works on one piece after another, as long as there are any. */
static void take_pieces(int k, long (*next_piece)(void))
{
    for (int piece = 0; k == 0 && next_piece() < (long)steps * size; piece++)
        first_part(piece % steps);
}

static long fetch_in_epoch(void)
{
    long one = 1, piece;
    MPI_Fetch_and_op(&one, &piece, MPI_LONG, 0, 0, MPI_SUM, window);
    MPI_Win_flush(0, window);
    return piece;
}

static void counted_tasks(int k)
{
    take_pieces(k, fetch_in_epoch);
}

/* Rank 0 hosts the counter, takes no pieces, and waits for the end, in a barrier or for a message of each of the others. */
static void work_of_others(int k, int in_receive)
{
    if (k > 0)
        return;
    if (rank > 0)
        for (int piece = 0; fetch_in_epoch() < (long)steps * (size - 1); piece++)
            first_part(piece % steps);
    for (int other = 1; in_receive && rank == 0 && other < size; other++)
        MPI_Recv(received[0], n_bytes, MPI_BYTE, MPI_ANY_SOURCE, 42, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (in_receive && rank > 0)
        MPI_Send(sent[0], n_bytes, MPI_BYTE, 0, 42, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void hosted_tasks(int k)
{
    work_of_others(k, 0);
}

static void hosted_tasks_and_receive(int k)
{
    work_of_others(k, 1);
}

static long fetch_locked(void)
{
    long one = 1, piece;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Fetch_and_op(&one, &piece, MPI_LONG, 0, 0, MPI_SUM, window);
    MPI_Win_unlock(0, window);
    return piece;
}

static void locked_tasks(int k)
{
    take_pieces(k, fetch_locked);
}

static long fetch_and_accumulate(void)
{
    long one = 1, piece;
    MPI_Get_accumulate(&one, 1, MPI_LONG, &piece, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, window);
    MPI_Win_flush(0, window);
    return piece;
}

static void accumulated_tasks(int k)
{
    take_pieces(k, fetch_and_accumulate);
}

static long fetch_requested(void)
{
    long one = 1, piece;
    MPI_Request request;
    MPI_Rget_accumulate(&one, 1, MPI_LONG, &piece, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return piece;
}

static void requested_tasks(int k)
{
    take_pieces(k, fetch_requested);
}

static long swap(void)
{
    static long guess;
    for (long next, piece;; guess = piece) {
        next = guess + 1;
        MPI_Compare_and_swap(&next, &guess, &piece, MPI_LONG, 0, 0, window);
        MPI_Win_flush(0, window);
        if (piece == guess)
            return guess++;
    }
}

static void swapped_tasks(int k)
{
    take_pieces(k, swap);
}

static void init_locked_counter(void)
{
    MPI_Win_allocate(rank == 0 ? sizeof *counter : 0, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &window);
    if (rank == 0)
        *counter = 0;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void free_locked_counter(void)
{
    MPI_Win_free(&window);
}

static void init_counter(void)
{
    init_locked_counter();
    MPI_Win_lock_all(0, window);
}

static void free_counter(void)
{
    MPI_Win_unlock_all(window);
    free_locked_counter();
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
    int dimensions;
} SHAPES[] = {
    {"line-waitall", work_and_exchange, by_waitall, nothing, nothing, 1},
    {"line-sendrecv", work_and_exchange, by_sendrecv, nothing, nothing, 1},
    {"line-isend-recv", work_and_exchange, by_isend_recv, nothing, nothing, 1},
    {"line-persistent", work_and_exchange, by_persistent, init_persistent, free_requests, 1},
    {"line-neighbourhood", work_and_exchange, by_neighbourhood, init_grid, free_grid, 1},
#if MPI_VERSION >= 4
    {"line-partitions", work_and_exchange, by_partitions, init_partitions, free_requests, 1},
    {"grid-partitions", work_and_exchange, by_partitions, init_partitions, free_requests, 2},
#endif
    {"line-fence", work_and_exchange, by_fence, init_fence, free_window, 1},
    {"line-post-start", work_and_exchange, by_post_start, init_window, free_window, 1},
    {"line-locks", work_and_exchange, by_locks, init_window, free_window, 1},
    {"grid-waitall", work_and_exchange, by_waitall, nothing, nothing, 2},
    {"grid-sendrecv", work_and_exchange, by_sendrecv, nothing, nothing, 2},
    {"grid-isend-recv", work_and_exchange, by_isend_recv, nothing, nothing, 2},
    {"grid-persistent", work_and_exchange, by_persistent, init_persistent, free_requests, 2},
    {"grid-neighbourhood", work_and_exchange, by_neighbourhood, init_grid, free_grid, 2},
    {"grid-fence", work_and_exchange, by_fence, init_fence, free_window, 2},
    {"grid-post-start", work_and_exchange, by_post_start, init_window, free_window, 2},
    {"grid-locks", work_and_exchange, by_locks, init_window, free_window, 2},
    {"overlap", overlap, nothing, nothing, nothing, 1},
    {"overlap-tested", tested_overlap, nothing, nothing, nothing, 1},
    {"overlap-persistent", overlap_persistent, nothing, init_persistent, free_requests, 1},
    {"allreduce", work_and_exchange, by_allreduce, nothing, nothing, 1},
    {"alltoall", work_and_exchange, by_alltoall, nothing, nothing, 1},
    {"roots", work_and_exchange, by_roots, nothing, nothing, 1},
    {"iallreduce", work_and_exchange, by_nonblocking, nothing, nothing, 1},
    {"tree", work_and_exchange, by_tree, nothing, nothing, 1},
    {"user-reduction", work_and_exchange, by_user_reduction, init_user_op, free_user_op, 1},
    {"odd-even", odd_even, nothing, nothing, nothing, 1},
    {"pipeline", pipeline, nothing, nothing, nothing, 1},
    {"line-mprobe", work_and_exchange, by_matched_probe, nothing, nothing, 1},
    {"line-bsend", work_and_exchange, by_bsend, init_buffer, free_buffer, 1},
    {"line-any-source", work_and_exchange, by_any_source, nothing, nothing, 1},
    {"line-waitsome", work_and_exchange, by_waitsome, nothing, nothing, 1},
    {"line-consensus", work_and_exchange, by_consensus, nothing, nothing, 1},
    {"line-alltoallw", work_and_exchange, by_typed_neighbourhood, init_grid, free_grid, 1},
    {"cube-waitall", work_and_exchange, by_waitall, nothing, nothing, 3},
    {"ring", work_and_exchange, by_ring, nothing, nothing, 1},
    {"transpose", work_and_exchange, by_transpose, nothing, nothing, 1},
    {"reduce-scatter", work_and_exchange, by_reduce_scatter, nothing, nothing, 1},
    {"nonblocking-tree", work_and_exchange, by_nonblocking_tree, nothing, nothing, 1},
    {"coupling", work_and_exchange, by_coupling, init_coupling, free_coupling, 1},
    {"accumulate", work_and_exchange, by_accumulate, init_window, free_window, 1},
    {"overlap-ialltoall", overlap_ialltoall, nothing, nothing, nothing, 1},
#if MPI_VERSION >= 4
    {"persistent-allreduce", work_and_exchange, by_persistent_allreduce, init_persistent_allreduce, free_request, 1},
#endif
    {"pipeline-ssend", synchronous_pipeline, nothing, nothing, nothing, 1},
    {"wavefront", wavefront, nothing, nothing, nothing, 1},
    {"locked-section", locked_section, nothing, init_window, free_window, 1},
    {"master", master_and_workers, nothing, nothing, nothing, 1},
    {"probing-master", probing_master, nothing, nothing, nothing, 1},
    {"counter", counted_tasks, nothing, init_counter, free_counter, 1},
    {"counter-idle-host", hosted_tasks, nothing, init_counter, free_counter, 1},
    {"counter-idle-receiver", hosted_tasks_and_receive, nothing, init_counter, free_counter, 1},
    {"counter-lock", locked_tasks, nothing, init_locked_counter, free_locked_counter, 1},
    {"counter-accumulate", accumulated_tasks, nothing, init_counter, free_counter, 1},
    {"counter-request", requested_tasks, nothing, init_counter, free_counter, 1},
#ifndef OPEN_MPI
    /* Open MPI 4.1.4 crashes in MPI_Compare_and_swap. */
    {"counter-swap", swapped_tasks, nothing, init_counter, free_counter, 1},
#endif
    {"output-mpi", output_by_mpi, nothing, open_file, close_file, 1},
    {"output-posix", output_by_posix, nothing, nothing, nothing, 1},
};

#endif
