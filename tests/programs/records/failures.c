// ranks: 4
// truth: completions that fail, for what arrives does not fit: the request is gone, and its handle, given out again, stands for another one
#include "expect.h"

static const Known *on;
static int right, left;
static int out[16], in[16];

/* A message of ten ints, received by a request for one. */
static MPI_Request too_small(int tag)
{
    MPI_Request request;
    PLAIN(Irecv, (in, 1, MPI_INT, left, tag, on->comm, &request), .on = on, .peer = left, .tag = tag);
    PLAIN(Send, (out, 10, MPI_INT, right, tag, on->comm), .on = on, .peer = right, .tag = tag, .sent = 40);
    return request;
}

/* The request that most likely is given the handle of the one before. */
static void next(int tag)
{
    MPI_Request request;
    PLAIN(Irecv, (in, 16, MPI_INT, left, tag, on->comm, &request), .on = on, .peer = left, .tag = tag);
    PLAIN(Send, (out, 3, MPI_INT, right, tag, on->comm), .on = on, .peer = right, .tag = tag, .sent = 12);
    PLAIN(Wait, (&request, MPI_STATUS_IGNORE), .on = on, .peer = left, .tag = tag, .received = 12);
}

static void must_fail(int code, MPI_Request *request, const char *call)
{
    if (code == MPI_SUCCESS)
        printf("%d: %s did not fail\n", world.rank, call);
    /* Some leave it in the array after a call for several. It is complete all the same. */
    if (*request != MPI_REQUEST_NULL)
        MPI_Request_free(request);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    begin_expecting();
    make_communicators();
    on = &reversed;
    right = (on->rank + 1) % on->size, left = (on->rank + on->size - 1) % on->size;
    int code, flag, index, outcount;
    MPI_Request request;
    MPI_Status status;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(on->comm, MPI_ERRORS_RETURN);

#define FAILED(call, n)                                                                                                        \
    do {                                                                                                                       \
        PART(call, .on = on, .peer = left, .tag = n, .flags = "failed");                                                       \
        must_fail(code, &request, #call);                                                                                      \
    } while (0)
    request = too_small(1);
    code = MPI_Wait(&request, &status);
    FAILED(Wait, 1);
    next(2);

    request = too_small(3);
    for (code = MPI_SUCCESS, flag = 0; code == MPI_SUCCESS && !flag;)
        code = MPI_Test(&request, &flag, &status);
    FAILED(Test, 3);
    next(4);

    request = too_small(5);
    code = MPI_Waitany(1, &request, &index, &status);
    FAILED(Waitany, 5);
    next(6);

    request = too_small(7);
    for (code = MPI_SUCCESS, flag = 0; code == MPI_SUCCESS && !flag;)
        code = MPI_Testany(1, &request, &index, &flag, &status);
    FAILED(Testany, 7);
    next(8);

#define FAILED_PARTS(call, n)                                                                                                  \
    do {                                                                                                                       \
        if (request == MPI_REQUEST_NULL) {                                                                                     \
            PART(call, .on = on, .flags = "failed");                                                                           \
            PART(Completed, .on = on, .peer = left, .tag = n, .flags = "failed");                                              \
            must_fail(code, &request, #call);                                                                                  \
        } else {                                                                                                               \
            PART(call, .flags = "failed");                                                                                     \
            must_fail(code, &request, #call);                                                                                  \
            PART(Request_free, .on = on, .peer = left, .tag = n);                                                              \
        }                                                                                                                      \
    } while (0)
    request = too_small(9);
    code = MPI_Waitall(1, &request, &status);
    FAILED_PARTS(Waitall, 9);
    next(10);

    request = too_small(11);
    code = MPI_Waitsome(1, &request, &outcount, &index, &status);
    FAILED_PARTS(Waitsome, 11);
    next(12);

    free_communicators();
    printf("%d: done\n", world.rank);
    MPI_Finalize();
    return 0;
}
