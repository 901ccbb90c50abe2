// ranks: 4
// truth: persistent sends and receives of each kind, started alone and together, twice; partitioned ones where the MPI has them
#ifndef TWIN
#define SOURCE "records/persistent.c"
#include "twice.h"

static void partitioned(void);

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    begin_expecting();
    make_communicators();
    BOTH(persistent);
    partitioned();
    free_communicators();
    printf("%d: done\n", world.rank);
    MPI_Finalize();
    return 0;
}

static void partitioned(void)
{
#ifdef HAS_PERSISTENT_COLLECTIVES
    const Known *on = &reversed;
    int right = (on->rank + 1) % on->size, left = (on->rank + on->size - 1) % on->size, flag;
    static int out[40], in[40];
    MPI_Request send, receive;
    PLAIN(Psend_init, (out, 4, 10, MPI_INT, right, 110, on->comm, MPI_INFO_NULL, &send), .on = on, .peer = right, .tag = 110,
          .sent = 160, .flags = "persistent");
    PLAIN(Precv_init, (in, 4, 10, MPI_INT, left, 110, on->comm, MPI_INFO_NULL, &receive), .on = on, .peer = left, .tag = 110,
          .flags = "persistent");
    for (int round = 0; round < 2; round++) {
        PLAIN(Start, (&receive), .on = on, .peer = left, .tag = 110, .flags = "persistent");
        PLAIN(Start, (&send), .on = on, .peer = right, .tag = 110, .sent = 160, .flags = "persistent");
        PLAIN(Pready, (0, send), .on = on, .peer = right, .tag = 110);
        PLAIN(Pready_range, (1, 2, send), .on = on, .peer = right, .tag = 110);
        PLAIN(Pready_list, (1, (int[]){3}, send), .on = on, .peer = right, .tag = 110);
        for (flag = 0; !flag;)
            check(MPI_Parrived(receive, 2, &flag), "Parrived");
        PART(Parrived, .on = on);
        PLAIN(Wait, (&send, MPI_STATUS_IGNORE), .on = on, .peer = right, .tag = 110, .sent = 160, .flags = "persistent");
        PLAIN(Wait, (&receive, MPI_STATUS_IGNORE), .on = on, .peer = left, .tag = 110, .received = 160, .flags = "persistent");
    }
    PLAIN(Request_free, (&send), .on = on, .peer = right, .tag = 110);
    PLAIN(Request_free, (&receive), .on = on, .peer = left, .tag = 110);
#endif
}

#else

static void TWIN(persistent)(void)
{
    const Known *on = &reversed;
    int right = (on->rank + 1) % on->size, left = (on->rank + on->size - 1) % on->size;
    static int out[64], in[4][64];
    static char room[8192];
    char *detached;
    COUNT detached_size;
    MPI_Request send, ready, receive, all[4];

    MPI_Buffer_attach(room, sizeof room);
    LARGE(Send_init, (out, 10, MPI_INT, right, 100, on->comm, &all[0]), .on = on, .peer = right, .tag = 100, .sent = 40,
          .flags = "persistent");
    LARGE(Bsend_init, (out, 11, MPI_INT, right, 101, on->comm, &all[1]), .on = on, .peer = right, .tag = 101, .sent = 44,
          .flags = "persistent");
    LARGE(Ssend_init, (out, 12, MPI_INT, right, 102, on->comm, &send), .on = on, .peer = right, .tag = 102, .sent = 48,
          .flags = "persistent");
    LARGE(Rsend_init, (out, 13, MPI_INT, right, 103, on->comm, &ready), .on = on, .peer = right, .tag = 103, .sent = 52,
          .flags = "persistent");
    LARGE(Recv_init, (in[0], 64, MPI_INT, left, 100, on->comm, &all[2]), .on = on, .peer = left, .tag = 100, .flags = "persistent");
    LARGE(Recv_init, (in[1], 64, MPI_INT, MPI_ANY_SOURCE, 101, on->comm, &all[3]), .on = on, .tag = 101,
          .flags = "any-source,persistent");
    for (int round = 0; round < 2; round++) {
        /* What was not started completes nothing, however often it is waited for. */
        PLAIN(Wait, (&all[0], MPI_STATUS_IGNORE), .on = on, .flags = INACTIVE ",persistent");
        PLAIN(Wait, (&all[2], MPI_STATUS_IGNORE), .on = on, .flags = INACTIVE ",persistent");
        PLAIN(Waitall, (4, all, MPI_STATUSES_IGNORE), .on = on, .flags = INACTIVE);
        PLAIN(Startall, (4, all), .on = on);
        PART(Started, .on = on, .peer = right, .tag = 100, .sent = 40, .flags = "persistent");
        PART(Started, .on = on, .peer = right, .tag = 101, .sent = 44, .flags = "persistent");
        PART(Started, .on = on, .peer = left, .tag = 100, .flags = "persistent");
        PART(Started, .on = on, .tag = 101, .flags = "any-source,persistent");
        PLAIN(Waitall, (4, all, MPI_STATUSES_IGNORE), .on = on);
        PART(Completed, .on = on, .peer = right, .tag = 100, .sent = 40, .flags = "persistent");
        PART(Completed, .on = on, .peer = right, .tag = 101, .sent = 44, .flags = "persistent");
        PART(Completed, .on = on, .peer = left, .tag = 100, .received = 40, .flags = "persistent");
        PART(Completed, .on = on, .peer = left, .tag = 101, .received = 44, .flags = "any-source,persistent");

        LARGE(Irecv, (in[0], 64, MPI_INT, left, 102, on->comm, &receive), .on = on, .peer = left, .tag = 102);
        PLAIN(Start, (&send), .on = on, .peer = right, .tag = 102, .sent = 48, .flags = "persistent");
        PLAIN(Wait, (&receive, MPI_STATUS_IGNORE), .on = on, .peer = left, .tag = 102, .received = 48);
        PLAIN(Wait, (&send, MPI_STATUS_IGNORE), .on = on, .peer = right, .tag = 102, .sent = 48, .flags = "persistent");

        LARGE(Irecv, (in[0], 64, MPI_INT, left, 103, on->comm, &receive), .on = on, .peer = left, .tag = 103);
        PLAIN(Barrier, (on->comm), .on = on, .as = "synchronization");
        PLAIN(Start, (&ready), .on = on, .peer = right, .tag = 103, .sent = 52, .flags = "persistent");
        PLAIN(Wait, (&receive, MPI_STATUS_IGNORE), .on = on, .peer = left, .tag = 103, .received = 52);
        PLAIN(Wait, (&ready, MPI_STATUS_IGNORE), .on = on, .peer = right, .tag = 103, .sent = 52, .flags = "persistent");
    }
    PLAIN(Request_free, (&all[0]), .on = on, .peer = right, .tag = 100);
    PLAIN(Request_free, (&all[1]), .on = on, .peer = right, .tag = 101);
    PLAIN(Request_free, (&all[2]), .on = on, .peer = left, .tag = 100);
    PLAIN(Request_free, (&all[3]), .on = on, .tag = 101);
    PLAIN(Request_free, (&send), .on = on, .peer = right, .tag = 102);
    PLAIN(Request_free, (&ready), .on = on, .peer = right, .tag = 103);
    LARGE(Buffer_detach, (&detached, &detached_size));
}
#endif
