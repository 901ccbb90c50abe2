// ranks: 2
// mpi: mpich5 mpich5-abi
// why: buffers of communicators and sessions, and flushing them, are new in MPI 4.1
// truth: buffered sends from the buffers of the process, of a communicator and of a session, flushed and detached
#ifndef TWIN
#define SOURCE "records/buffers.c"
#include "twice.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    begin_expecting();
    BOTH(buffers);
    printf("%d: done\n", world.rank);
    MPI_Finalize();
    return 0;
}

#else

static void TWIN(buffers)(void)
{
    int out[8] = {0}, in[8], other = 1 - world.rank;
    static char room[8192];
    void *detached;
    COUNT size;
    MPI_Request request;
    MPI_Session session;
    const Known *on = &world;

#define MESSAGE()                                                                                                              \
    do {                                                                                                                       \
        LARGE(Bsend, (out, 5, MPI_INT, other, 3, on->comm), .on = on, .peer = other, .tag = 3, .sent = 20);                    \
        LARGE(Recv, (in, 5, MPI_INT, other, 3, on->comm, MPI_STATUS_IGNORE), .on = on, .peer = other, .tag = 3,                \
              .received = 20);                                                                                                 \
    } while (0)

    MPI_Buffer_attach(room, sizeof room);
    MESSAGE();
    PLAIN(Buffer_flush, (), .tag = ABSENT);
    PLAIN(Buffer_iflush, (&request), .tag = ABSENT);
    check(MPI_Wait(&request, MPI_STATUS_IGNORE), "Wait");
    PART(Wait);
    LARGE(Buffer_detach, (&detached, &size), .tag = ABSENT);

    MPI_Comm_attach_buffer(on->comm, room, sizeof room);
    MESSAGE();
    PLAIN(Comm_flush_buffer, (on->comm), .on = on);
    PLAIN(Comm_iflush_buffer, (on->comm, &request), .on = on);
    check(MPI_Wait(&request, MPI_STATUS_IGNORE), "Wait");
    PART(Wait, .on = on);
    LARGE(Comm_detach_buffer, (on->comm, &detached, &size), .on = on);

    check(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), "Session_init");
    MPI_Session_attach_buffer(session, room, sizeof room);
    PLAIN(Session_flush_buffer, (session), .tag = ABSENT);
    PLAIN(Session_iflush_buffer, (session, &request), .tag = ABSENT);
    check(MPI_Wait(&request, MPI_STATUS_IGNORE), "Wait");
    PART(Wait);
    LARGE(Session_detach_buffer, (session, &detached, &size), .tag = ABSENT);
    check(MPI_Session_finalize(&session), "Session_finalize");
#undef MESSAGE
}
#endif
