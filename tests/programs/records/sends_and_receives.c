// ranks: 4
// truth: each kind of blocking send and receive, probes and matched receives, wildcards, no peer, empty messages, datatypes whose
// truth: handles are reused; over a communicator whose ranks are not those of the world, and between two groups
#ifndef TWIN
#define SOURCE "records/sends_and_receives.c"
#include "twice.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    begin_expecting();
    make_communicators();
    BOTH(sends);
    BOTH(receives);
    BOTH(datatypes);
    free_communicators();
    printf("%d: done\n", world.rank);
    MPI_Finalize();
    return 0;
}

#else

static void TWIN(sends)(void)
{
    const Known *on = &reversed;
    int right = (on->rank + 1) % on->size, left = (on->rank + on->size - 1) % on->size;
    static int out[512], in[512];
    static char room[8192];
    char *detached;
    COUNT detached_size;

    LARGE(Send, (out, 24, MPI_INT, right, 10, on->comm), .on = on, .peer = right, .tag = 10, .sent = 96);
    LARGE(Recv, (in, 100, MPI_INT, left, 10, on->comm, MPI_STATUS_IGNORE), .on = on, .peer = left, .tag = 10, .received = 96);

    MPI_Buffer_attach(room, sizeof room);
    LARGE(Bsend, (out, 7, MPI_DOUBLE, right, 11, on->comm), .on = on, .peer = right, .tag = 11, .sent = 56);
    LARGE(Recv, (in, 7, MPI_DOUBLE, left, 11, on->comm, MPI_STATUS_IGNORE), .on = on, .peer = left, .tag = 11, .received = 56);
    LARGE(Buffer_detach, (&detached, &detached_size));

    if (on->rank % 2 == 0) {
        LARGE(Ssend, (out, 5, MPI_BYTE, right, 12, on->comm), .on = on, .peer = right, .tag = 12, .sent = 5);
        LARGE(Recv, (in, 5, MPI_BYTE, left, 12, on->comm, MPI_STATUS_IGNORE), .on = on, .peer = left, .tag = 12, .received = 5);
    } else {
        LARGE(Recv, (in, 5, MPI_BYTE, left, 12, on->comm, MPI_STATUS_IGNORE), .on = on, .peer = left, .tag = 12, .received = 5);
        LARGE(Ssend, (out, 5, MPI_BYTE, right, 12, on->comm), .on = on, .peer = right, .tag = 12, .sent = 5);
    }

    MPI_Request request;
    LARGE(Irecv, (in, 9, MPI_SHORT, left, 13, on->comm, &request), .on = on, .peer = left, .tag = 13);
    PLAIN(Barrier, (on->comm), .on = on, .as = "synchronization");
    LARGE(Rsend, (out, 9, MPI_SHORT, right, 13, on->comm), .on = on, .peer = right, .tag = 13, .sent = 18);
    PLAIN(Wait, (&request, MPI_STATUS_IGNORE), .on = on, .peer = left, .tag = 13, .received = 18);

    LARGE(Sendrecv, (out, 3, MPI_INT, right, 14, in, 50, MPI_INT, left, 14, on->comm, MPI_STATUS_IGNORE), .on = on,
          .peer = right, .tag = 14, .sent = 12);
    PART(Received, .on = on, .peer = left, .tag = 14, .received = 12);
    LARGE(Sendrecv_replace, (out, 4, MPI_INT, left, 15, right, MPI_ANY_TAG, on->comm, MPI_STATUS_IGNORE), .on = on, .peer = left,
          .tag = 15, .sent = 16);
    PART(Received, .on = on, .peer = right, .tag = 15, .received = 16, .flags = "any-tag");

    /* Between two groups: the peer is a rank of the other one. */
    LARGE(Sendrecv, (out, 2, MPI_INT, inter.rank, 16, in, 2, MPI_INT, inter.rank, 16, inter.comm, MPI_STATUS_IGNORE),
          .on = &inter, .peer = inter.rank, .tag = 16, .sent = 8);
    PART(Received, .on = &inter, .peer = inter.rank, .tag = 16, .received = 8);

    /* Nobody there. */
    LARGE(Send, (out, 3, MPI_INT, MPI_PROC_NULL, 17, on->comm), .on = on, .tag = 17, .flags = "nothing");
    LARGE(Sendrecv, (out, 3, MPI_INT, right, 18, in, 3, MPI_INT, MPI_PROC_NULL, 18, on->comm, MPI_STATUS_IGNORE), .on = on,
          .peer = right, .tag = 18, .sent = 12);
    PART(Received, .on = on, .tag = 18, .flags = "nothing");
    LARGE(Recv, (in, 3, MPI_INT, left, 18, on->comm, MPI_STATUS_IGNORE), .on = on, .peer = left, .tag = 18, .received = 12);
    LARGE(Recv, (in, 3, MPI_INT, MPI_PROC_NULL, 19, on->comm, MPI_STATUS_IGNORE), .on = on, .tag = 19, .flags = "nothing");

    /* Nothing in it. */
    LARGE(Send, (NULL, 0, MPI_INT, right, 20, on->comm), .on = on, .peer = right, .tag = 20);
    LARGE(Recv, (NULL, 0, MPI_INT, left, 20, on->comm, MPI_STATUS_IGNORE), .on = on, .peer = left, .tag = 20);

    /* To itself. */
    LARGE(Irecv, (in, 1, MPI_INT, 0, 21, MPI_COMM_SELF, &request), .on = &self, .peer = 0, .tag = 21);
    LARGE(Send, (out, 1, MPI_INT, 0, 21, MPI_COMM_SELF), .on = &self, .peer = 0, .tag = 21, .sent = 4);
    PLAIN(Wait, (&request, MPI_STATUS_IGNORE), .on = &self, .peer = 0, .tag = 21, .received = 4);
}

static void TWIN(receives)(void)
{
    const Known *on = &reversed;
    int right = (on->rank + 1) % on->size, left = (on->rank + on->size - 1) % on->size;
    int out[16] = {0}, in[16], flag;
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;

    /* Who sent what is known from what arrived, also where the program does not ask. */
    LARGE(Send, (out, 6, MPI_INT, right, 30, on->comm), .on = on, .peer = right, .tag = 30, .sent = 24);
    LARGE(Recv, (in, 16, MPI_INT, MPI_ANY_SOURCE, 30, on->comm, MPI_STATUS_IGNORE), .on = on, .peer = left, .tag = 30,
          .received = 24, .flags = "any-source");
    LARGE(Send, (out, 5, MPI_INT, right, 31, on->comm), .on = on, .peer = right, .tag = 31, .sent = 20);
    LARGE(Recv, (in, 16, MPI_INT, left, MPI_ANY_TAG, on->comm, MPI_STATUS_IGNORE), .on = on, .peer = left, .tag = 31,
          .received = 20, .flags = "any-tag");
    LARGE(Send, (out, 4, MPI_INT, right, 32, on->comm), .on = on, .peer = right, .tag = 32, .sent = 16);
    LARGE(Recv, (in, 16, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, on->comm, &status), .on = on, .peer = left, .tag = 32,
          .received = 16, .flags = "any-source,any-tag");
    if (status.MPI_SOURCE != left || status.MPI_TAG != 32)
        printf("%d: wrong status: %d, %d\n", world.rank, status.MPI_SOURCE, status.MPI_TAG);

    /* A probe says what is there; what arrives is counted by the receive. */
    LARGE(Send, (out, 3, MPI_INT, right, 33, on->comm), .on = on, .peer = right, .tag = 33, .sent = 12);
    PLAIN(Probe, (MPI_ANY_SOURCE, 33, on->comm, MPI_STATUS_IGNORE), .on = on, .peer = left, .tag = 33, .flags = "any-source");
    LARGE(Recv, (in, 16, MPI_INT, left, 33, on->comm, MPI_STATUS_IGNORE), .on = on, .peer = left, .tag = 33, .received = 12);

    LARGE(Send, (out, 2, MPI_INT, right, 34, on->comm), .on = on, .peer = right, .tag = 34, .sent = 8);
    for (flag = 0; !flag;)
        check(MPI_Iprobe(left, 34, on->comm, &flag, &status), "Iprobe");
    PART(Iprobe, .on = on, .peer = left, .tag = 34);
    LARGE(Recv, (in, 16, MPI_INT, left, 34, on->comm, MPI_STATUS_IGNORE), .on = on, .peer = left, .tag = 34, .received = 8);

    LARGE(Send, (out, 7, MPI_INT, right, 35, on->comm), .on = on, .peer = right, .tag = 35, .sent = 28);
    PLAIN(Mprobe, (MPI_ANY_SOURCE, MPI_ANY_TAG, on->comm, &message, MPI_STATUS_IGNORE), .on = on, .peer = left, .tag = 35,
          .flags = "any-source,any-tag");
    LARGE(Mrecv, (in, 16, MPI_INT, &message, MPI_STATUS_IGNORE), .on = on, .peer = left, .tag = 35, .received = 28);

    LARGE(Send, (out, 8, MPI_INT, right, 36, on->comm), .on = on, .peer = right, .tag = 36, .sent = 32);
    for (flag = 0; !flag;)
        check(MPI_Improbe(left, 36, on->comm, &flag, &message, MPI_STATUS_IGNORE), "Improbe");
    PART(Improbe, .on = on, .peer = left, .tag = 36);
    LARGE(Imrecv, (in, 16, MPI_INT, &message, &request), .on = on, .peer = left, .tag = 36);
    PLAIN(Wait, (&request, &status), .on = on, .peer = left, .tag = 36, .received = 32);

    /* A message from nobody. */
    PLAIN(Mprobe, (MPI_PROC_NULL, 37, on->comm, &message, MPI_STATUS_IGNORE), .on = on, .tag = 37, .flags = "nothing");
    LARGE(Mrecv, (in, 16, MPI_INT, &message, MPI_STATUS_IGNORE), .flags = "nothing");
}

/* Handles of datatypes are given again once freed: each has its own size. */
static void TWIN(datatypes)(void)
{
    const Known *on = &reversed;
    int right = (on->rank + 1) % on->size, left = (on->rank + on->size - 1) % on->size;
    static char out[1024], in[1024];
    MPI_Datatype type, pair;
    for (int n = 1; n <= 24; n++) {
        MPI_Type_contiguous(n, MPI_SHORT, &type);
        MPI_Type_commit(&type);
        LARGE(Send, (out, 2, type, right, 40, on->comm), .on = on, .peer = right, .tag = 40, .sent = 4 * n);
        LARGE(Recv, (in, 2, type, left, 40, on->comm, MPI_STATUS_IGNORE), .on = on, .peer = left, .tag = 40, .received = 4 * n);
        MPI_Type_free(&type);
    }
    /* With holes: only what is transferred counts. */
    MPI_Type_vector(3, 2, 5, MPI_INT, &type);
    MPI_Type_create_resized(type, 0, 200, &pair);
    MPI_Type_commit(&pair);
    LARGE(Send, (out, 2, pair, right, 41, on->comm), .on = on, .peer = right, .tag = 41, .sent = 48);
    LARGE(Recv, (in, 12, MPI_INT, left, 41, on->comm, MPI_STATUS_IGNORE), .on = on, .peer = left, .tag = 41, .received = 48);
    MPI_Type_free(&pair);
    MPI_Type_free(&type);
    /* A datatype of two parts, as reductions with a location take. */
    LARGE(Send, (out, 1, MPI_DOUBLE_INT, right, 42, on->comm), .on = on, .peer = right, .tag = 42, .sent = 12);
    LARGE(Recv, (in, 1, MPI_DOUBLE_INT, left, 42, on->comm, MPI_STATUS_IGNORE), .on = on, .peer = left, .tag = 42, .received = 12);
}
#endif
