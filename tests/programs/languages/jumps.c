// ranks: 2
// records: Send 40 Allreduce 800
// problems: Unfinished
// truth: an error handler leaves MPI by longjmp; the thread goes on recording
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>

static jmp_buf back;

static void leave(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    longjmp(back, 1);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(leave, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    static int jumps, sum;
    for (volatile int i = 0; i < 40; i++) {
        if (setjmp(back))
            jumps++;
        else
            MPI_Send(&sum, 1, MPI_INT, 1000, 1, MPI_COMM_SELF);
        for (int k = 0; k < 20; k++) {
            int all;
            MPI_Allreduce(&k, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            sum += all;
        }
    }
    printf("%d jumps, %d\n", jumps, sum);
    MPI_Finalize();
    return 0;
}
