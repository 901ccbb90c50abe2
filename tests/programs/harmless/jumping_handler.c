// ranks: 1
// mpi: mpich
// records: Send>= 6001
// end: finalize
// maybe: Unfinished
// truth: an error handler is called once for each error, and may leave the call by longjmp: what follows is recorded
#include <setjmp.h>

#include "calls.h"

static jmp_buf before;
static int errors, jump;

static void handle(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    errors++;
    if (jump)
        longjmp(before, 1);
}

/* Frames of different depths: the marks of the calls that were left must not be taken for those of calls under way. */
static __attribute__((noinline)) void send(int n)
{
    volatile char room[16384];
    room[0] = (char)n;
    for (int i = 0; i < n; i++)
        MPI_Send((void *)room, 1, MPI_CHAR, MPI_PROC_NULL, i, MPI_COMM_SELF);
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    int data = 0;
    start(&argc, &argv);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Send(&data, 1, MPI_INT, 0, 0, (MPI_Comm)0x84000123);
    printf("no such communicator: %d\n", errors);
    jump = 1;
    if (!setjmp(before))
        MPI_Send(&data, 1, MPI_INT, 0, 0, (MPI_Comm)0x84000124);
    send(3000);
    if (!setjmp(before))
        MPI_Send(&data, 1, MPI_INT, 77, 0, MPI_COMM_SELF);
    send(3000);
    printf("left by longjmp: %d\n", errors);
    MPI_Finalize();
    return 0;
}
