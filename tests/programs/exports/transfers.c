// ranks: 4
// truth: otf2-print shows so many events of each kind, of all ranks
// events: MPI_IRECV_REQUEST 64
// events: MPI_IRECV 60
// events: MPI_REQUEST_CANCELLED 4
// events: MPI_REQUEST_TEST 4
#include <mpi.h>

static int rank, size, right, left;

/* 10 receives and 10 sends under requests, and persistent ones that are started 4 times. */
static void exchange(void)
{
    int in[2], out[2] = {rank, rank};
    MPI_Request requests[2];
    for (int step = 0; step < 10; step++) {
        MPI_Irecv(in, 1, MPI_INT, step % 2 ? MPI_ANY_SOURCE : left, 1, MPI_COMM_WORLD, &requests[0]);
        if (step % 2)
            MPI_Issend(out, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[1]);
        else
            MPI_Isend(out, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Recv_init(in, 2, MPI_INT, left, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, 2, MPI_INT, right, 2, MPI_COMM_WORLD, &requests[1]);
    for (int step = 0; step < 4; step++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* A receive that is tested before its message is sent, and one that is cancelled. */
static void unfinished(void)
{
    int in, go = 1, flag;
    MPI_Request request;
    MPI_Irecv(&in, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &request);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&go, 1, MPI_INT, left, 4, &go, 1, MPI_INT, right, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&rank, 1, MPI_INT, right, 3, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Irecv(&in, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Calls on a window under fences, a lock, and post and start. They are regions and have no further events. */
static void one_sided(void)
{
    static int memory[4];
    MPI_Win window;
    MPI_Group world, to, from;
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(&rank, 1, MPI_INT, right, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, window);
    MPI_Accumulate(&rank, 1, MPI_INT, right, 1, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_unlock(right, window);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &right, &to);
    MPI_Group_incl(world, 1, &left, &from);
    MPI_Win_post(from, 0, window);
    MPI_Win_start(to, 0, window);
    MPI_Put(&rank, 1, MPI_INT, right, 2, 1, MPI_INT, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    MPI_Group_free(&world);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Win_free(&window);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    exchange();
    unfinished();
    one_sided();
    MPI_Finalize();
    return 0;
}
