// ranks: 4
// truth: nonblocking sends and receives of each kind, completed by each call that completes; wildcards followed to what arrived;
// truth: requests cancelled, freed, null; statuses ignored
#ifndef TWIN
#include <mpi.h>

/* Of a request of the program's own (MPI-4.1 §13.2). */
static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int nothing_to_free(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int nothing_to_cancel(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

#define SOURCE "records/requests.c"
#include "twice.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    begin_expecting();
    make_communicators();
    BOTH(one_at_a_time);
    BOTH(several);
    BOTH(not_transferred);
    free_communicators();
    printf("%d: done\n", world.rank);
    MPI_Finalize();
    return 0;
}

#else

#define N(array) ((int)(sizeof(array) / sizeof *(array)))

static void TWIN(one_at_a_time)(void)
{
    const Known *on = &reversed;
    int right = (on->rank + 1) % on->size, left = (on->rank + on->size - 1) % on->size, flag;
    static int out[64], in[4][64];
    static char room[8192];
    char *detached;
    COUNT detached_size;
    MPI_Request request, receive, sends[3], receives[3];
    MPI_Status status;

    LARGE(Irecv, (in[0], 64, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, on->comm, &receive), .on = on, .peer = ABSENT, .tag = MPI_ANY_TAG,
          .flags = "any-source,any-tag");
    LARGE(Isend, (out, 10, MPI_INT, right, 50, on->comm, &request), .on = on, .peer = right, .tag = 50, .sent = 40);
    PLAIN(Wait, (&request, MPI_STATUS_IGNORE), .on = on, .peer = right, .tag = 50, .sent = 40);
    PLAIN(Wait, (&receive, MPI_STATUS_IGNORE), .on = on, .peer = left, .tag = 50, .received = 40, .flags = "any-source,any-tag");

    LARGE(Irecv, (in[0], 64, MPI_INT, left, 51, on->comm, &receive), .on = on, .peer = left, .tag = 51);
    LARGE(Issend, (out, 11, MPI_INT, right, 51, on->comm, &request), .on = on, .peer = right, .tag = 51, .sent = 44);
    for (flag = 0; !flag;)
        check(MPI_Test(&receive, &flag, &status), "Test");
    PART(Test, .on = on, .peer = left, .tag = 51, .received = 44);
    PLAIN(Wait, (&request, &status), .on = on, .peer = right, .tag = 51, .sent = 44);

    MPI_Buffer_attach(room, sizeof room);
    LARGE(Irecv, (in[0], 64, MPI_INT, left, 52, on->comm, &receive), .on = on, .peer = left, .tag = 52);
    LARGE(Ibsend, (out, 12, MPI_INT, right, 52, on->comm, &request), .on = on, .peer = right, .tag = 52, .sent = 48);
    PLAIN(Wait, (&request, MPI_STATUS_IGNORE), .on = on, .peer = right, .tag = 52, .sent = 48);
    PLAIN(Wait, (&receive, MPI_STATUS_IGNORE), .on = on, .peer = left, .tag = 52, .received = 48);
    LARGE(Buffer_detach, (&detached, &detached_size));

    LARGE(Irecv, (in[0], 64, MPI_INT, left, 53, on->comm, &receive), .on = on, .peer = left, .tag = 53);
    PLAIN(Barrier, (on->comm), .on = on, .as = "synchronization");
    LARGE(Irsend, (out, 13, MPI_INT, right, 53, on->comm, &request), .on = on, .peer = right, .tag = 53, .sent = 52);
    for (flag = 0; !flag;)
        check(MPI_Request_get_status(receive, &flag, MPI_STATUS_IGNORE), "Request_get_status");
    PART(Request_get_status, .on = on);
    PLAIN(Wait, (&receive, MPI_STATUS_IGNORE), .on = on, .peer = left, .tag = 53, .received = 52);
    PLAIN(Wait, (&request, MPI_STATUS_IGNORE), .on = on, .peer = right, .tag = 53, .sent = 52);

    /* Between two groups. */
    LARGE(Irecv, (in[0], 64, MPI_INT, MPI_ANY_SOURCE, 54, inter.comm, &receive), .on = &inter, .tag = 54, .flags = "any-source");
    LARGE(Isend, (out, 14, MPI_INT, inter.rank, 54, inter.comm, &request), .on = &inter, .peer = inter.rank, .tag = 54, .sent = 56);
    PLAIN(Wait, (&receive, MPI_STATUS_IGNORE), .on = &inter, .peer = inter.rank, .tag = 54, .received = 56, .flags = "any-source");
    PLAIN(Wait, (&request, MPI_STATUS_IGNORE), .on = &inter, .peer = inter.rank, .tag = 54, .sent = 56);

    /* Sends that may be complete at once, and then have one handle, completed in another order than they were started. */
    for (int i = 0; i < 3; i++)
        LARGE(Irecv, (in[i], 64, MPI_INT, left, 56 + i, on->comm, &receives[i]), .on = on, .peer = left, .tag = 56 + i);
    for (int i = 0; i < 3; i++)
        LARGE(Isend, (out, 16 + i, MPI_INT, right, 56 + i, on->comm, &sends[i]), .on = on, .peer = right, .tag = 56 + i,
              .sent = 4 * (16 + i));
    for (int i = 2; i >= 0; i--) {
#ifdef MPI_ABI_VERSION
        /* In the MPI-5 ABI nothing distinguishes MPICH's one handle from others: such sends are reported in the order of their starts. */
        int shift = 2 - i;
#else
        int shift = i;
#endif
        PLAIN(Wait, (&sends[i], MPI_STATUS_IGNORE), .on = on, .peer = right, .tag = 56 + shift, .sent = 4 * (16 + shift));
    }
    for (int i = 0; i < 3; i++)
        PLAIN(Wait, (&receives[i], MPI_STATUS_IGNORE), .on = on, .peer = left, .tag = 56 + i, .received = 4 * (16 + i));

    /* A send that is freed is complete for the program; nobody waits for it. */
    LARGE(Irecv, (in[0], 64, MPI_INT, left, 55, on->comm, &receive), .on = on, .peer = left, .tag = 55);
    LARGE(Isend, (out, 15, MPI_INT, right, 55, on->comm, &request), .on = on, .peer = right, .tag = 55, .sent = 60);
    PLAIN(Request_free, (&request), .on = on, .peer = right, .tag = 55);
    PLAIN(Wait, (&receive, &status), .on = on, .peer = left, .tag = 55, .received = 60);
}

static void TWIN(several)(void)
{
    const Known *on = &reversed;
    int right = (on->rank + 1) % on->size, left = (on->rank + on->size - 1) % on->size, flag, index, outcount, indices[4];
    static int out[64], in[4][64];
    MPI_Request requests[4];
    MPI_Status statuses[4];

#define POST(first)                                                                                                            \
    do {                                                                                                                       \
        LARGE(Irecv, (in[0], 64, MPI_INT, left, first, on->comm, &requests[0]), .on = on, .peer = left, .tag = first);         \
        LARGE(Irecv, (in[1], 64, MPI_INT, MPI_ANY_SOURCE, first + 1, on->comm, &requests[1]), .on = on, .tag = first + 1,      \
              .flags = "any-source");                                                                                          \
        LARGE(Isend, (out, 3, MPI_INT, right, first, on->comm, &requests[2]), .on = on, .peer = right, .tag = first, .sent = 12);\
        LARGE(Isend, (out, 4, MPI_INT, right, first + 1, on->comm, &requests[3]), .on = on, .peer = right, .tag = first + 1,   \
              .sent = 16);                                                                                                     \
    } while (0)
#define DONE(part, i, first)                                                                                                   \
    do {                                                                                                                       \
        if (i == 0)                                                                                                            \
            PART(part, .on = on, .peer = left, .tag = first, .received = 12);                                                  \
        else if (i == 1)                                                                                                       \
            PART(part, .on = on, .peer = left, .tag = first + 1, .received = 16, .flags = "any-source");                       \
        else if (i == 2)                                                                                                       \
            PART(part, .on = on, .peer = right, .tag = first, .sent = 12);                                                     \
        else                                                                                                                   \
            PART(part, .on = on, .peer = right, .tag = first + 1, .sent = 16);                                                 \
    } while (0)

    POST(60);
    PLAIN(Waitall, (4, requests, MPI_STATUSES_IGNORE), .on = on);
    for (int i = 0; i < 4; i++)
        DONE(Completed, i, 60);

    POST(62);
    PLAIN(Waitall, (4, requests, statuses), .on = on);
    for (int i = 0; i < 4; i++)
        DONE(Completed, i, 62);

    POST(64);
    for (flag = 0; !flag;)
        check(MPI_Testall(4, requests, &flag, MPI_STATUSES_IGNORE), "Testall");
    PART(Testall, .on = on);
    for (int i = 0; i < 4; i++)
        DONE(Completed, i, 64);

    POST(66);
    for (int n = 0; n < 4; n++) {
        check(MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE), "Waitany");
        DONE(Waitany, index, 66);
    }
    PLAIN(Waitany, (4, requests, &index, MPI_STATUS_IGNORE), .flags = INACTIVE);
    if (index != MPI_UNDEFINED)
        printf("%d: index %d\n", world.rank, index);

    POST(68);
    for (int n = 0; n < 4; n++) {
        for (flag = 0; !flag;)
            check(MPI_Testany(4, requests, &index, &flag, statuses), "Testany");
        DONE(Testany, index, 68);
    }

    POST(70);
    for (int n = 0; n < 4; n += outcount) {
        check(MPI_Waitsome(4, requests, &outcount, indices, MPI_STATUSES_IGNORE), "Waitsome");
        PART(Waitsome, .on = on);
        for (int i = 0; i < outcount; i++)
            DONE(Completed, indices[i], 70);
    }

    POST(72);
    for (int n = 0; n < 4; n += outcount) {
        for (outcount = 0; outcount == 0;)
            check(MPI_Testsome(4, requests, &outcount, indices, statuses), "Testsome");
        PART(Testsome, .on = on);
        for (int i = 0; i < outcount; i++)
            DONE(Completed, indices[i], 72);
    }

    /* Gaps in the array, and requests of different activities: the one that completed last decides. */
    POST(74);
    MPI_Request mixed[] = {requests[0], MPI_REQUEST_NULL, requests[1], requests[2], MPI_REQUEST_NULL, requests[3], MPI_REQUEST_NULL};
    PLAIN(Ibarrier, (on->comm, &mixed[6]), .on = on, .as = "synchronization");
    PLAIN(Waitall, (N(mixed), mixed, MPI_STATUSES_IGNORE), .on = on, .as = "synchronization");
    for (int i = 0; i < 4; i++)
        DONE(Completed, i, 74);
    PART(Completed, .on = on, .as = "synchronization");

#if HAS_MPI_4_1
    POST(76);
    for (flag = 0; !flag;)
        check(MPI_Request_get_status_any(4, requests, &index, &flag, MPI_STATUS_IGNORE), "Request_get_status_any");
    PART(Request_get_status_any);
    for (outcount = 0; outcount == 0;)
        check(MPI_Request_get_status_some(4, requests, &outcount, indices, MPI_STATUSES_IGNORE), "Request_get_status_some");
    PART(Request_get_status_some);
    for (flag = 0; !flag;)
        check(MPI_Request_get_status_all(4, requests, &flag, MPI_STATUSES_IGNORE), "Request_get_status_all");
    PART(Request_get_status_all);
    PLAIN(Waitall, (4, requests, MPI_STATUSES_IGNORE), .on = on);
    for (int i = 0; i < 4; i++)
        DONE(Completed, i, 76);
#endif

    /* More than the recorder keeps room for at first. */
    enum { MANY = 700 };
    static MPI_Request many[MANY];
    for (int i = 0; i < MANY; i += 2) {
        LARGE(Irecv, (in[0], 1, MPI_INT, left, 80, on->comm, &many[i]), .on = on, .peer = left, .tag = 80);
        LARGE(Isend, (out, 1, MPI_INT, right, 80, on->comm, &many[i + 1]), .on = on, .peer = right, .tag = 80, .sent = 4);
    }
    PLAIN(Waitall, (MANY, many, MPI_STATUSES_IGNORE), .on = on);
    for (int i = 0; i < MANY; i += 2) {
        PART(Completed, .on = on, .peer = left, .tag = 80, .received = 4);
        PART(Completed, .on = on, .peer = right, .tag = 80, .sent = 4);
    }

#if HAS_MPI_4
    /* Of what arrived, the record knows what the status says: in MPICH 4.0 it says nothing. */
    LARGE(Isendrecv, (out, 3, MPI_INT, right, 81, in[0], 64, MPI_INT, left, 81, on->comm, &requests[0]), .on = on, .peer = right,
          .tag = 81, .sent = 12);
    check(MPI_Wait(&requests[0], statuses), "Wait");
    MPI_Get_count(statuses, MPI_BYTE, &outcount);
    PART(Wait, .on = on, .peer = statuses->MPI_SOURCE, .tag = statuses->MPI_TAG, .sent = 12, .received = outcount);
    LARGE(Isendrecv_replace, (out, 5, MPI_INT, left, 82, MPI_ANY_SOURCE, 82, on->comm, &requests[0]), .on = on, .peer = left,
          .tag = 82, .sent = 20, .flags = "any-source");
    check(MPI_Wait(&requests[0], statuses), "Wait");
    MPI_Get_count(statuses, MPI_BYTE, &outcount);
    PART(Wait, .on = on, .peer = statuses->MPI_SOURCE, .tag = statuses->MPI_TAG, .sent = 20, .received = outcount,
         .flags = "any-source");
#endif
#undef POST
#undef DONE
}

static void TWIN(not_transferred)(void)
{
    const Known *on = &reversed;
    int in[4], flag, cancelled, index, outcount, indices[2];
    MPI_Request request = MPI_REQUEST_NULL, array[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status;

    PLAIN(Wait, (&request, MPI_STATUS_IGNORE), .flags = INACTIVE);
    PLAIN(Waitall, (2, array, MPI_STATUSES_IGNORE), .flags = INACTIVE);
    PLAIN(Waitall, (0, NULL, MPI_STATUSES_IGNORE), .flags = INACTIVE);
    PLAIN(Waitany, (2, array, &index, MPI_STATUS_IGNORE), .flags = INACTIVE);
    PLAIN(Waitsome, (2, array, &outcount, indices, MPI_STATUSES_IGNORE), .flags = INACTIVE);
    PLAIN(Test, (&request, &flag, MPI_STATUS_IGNORE), .flags = INACTIVE);
    PLAIN(Testall, (2, array, &flag, MPI_STATUSES_IGNORE), .flags = INACTIVE);
    PLAIN(Testany, (2, array, &index, &flag, MPI_STATUS_IGNORE), .flags = INACTIVE);
    PLAIN(Testsome, (2, array, &outcount, indices, MPI_STATUSES_IGNORE), .flags = INACTIVE);
    PLAIN(Request_get_status, (request, &flag, MPI_STATUS_IGNORE), .flags = INACTIVE);

    LARGE(Irecv, (in, 4, MPI_INT, 0, 90, on->comm, &request), .on = on, .peer = 0, .tag = 90);
    PLAIN(Cancel, (&request), .on = on, .peer = 0, .tag = 90);
    PLAIN(Wait, (&request, &status), .on = on, .peer = 0, .tag = 90, .flags = "cancelled");
    MPI_Test_cancelled(&status, &cancelled);
    if (!cancelled)
        printf("%d: not cancelled\n", world.rank);

    LARGE(Irecv, (in, 4, MPI_INT, MPI_PROC_NULL, 91, on->comm, &request), .on = on, .tag = 91, .flags = "nothing");
    check(MPI_Wait(&request, MPI_STATUS_IGNORE), "Wait");
    /* Some MPIs share one complete request among all such receives; then the recorder knows no more of it. */
#if defined(OPEN_MPI) || (defined(MPICH_VERSION) && !defined(I_MPI_VERSION))
    PART(Wait, .flags = "nothing");
#else
    PART(Wait, .on = on, .tag = 91, .flags = "nothing");
#endif

    /* A request of the program's own. */
    PLAIN(Grequest_start, (query, nothing_to_free, nothing_to_cancel, NULL, &request));
    MPI_Grequest_complete(request);
    check(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), "Test");
    PART(Test);
}
#endif
