// ranks: 2
// problems: NotClosed
// maybe: Unfinished
// truth: rank 1 ends by kill -9 while a window, a file and communicators are in use, and after it has made and freed 1,000 others: the definitions
// truth: are in its log or its ring, and none is reported as lost
#include "calls.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    reduce(100);
    MPI_Comm all, own;
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &own);
    MPI_Barrier(own);
    int *memory;
    MPI_Win window;
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, all, &memory, &window);
    char name[] = "kill9.XXXXXX";
    int unused = rank == 0 ? mkstemp(name) : 0;
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, all);
    MPI_File file;
    MPI_File_open(all, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    for (int i = 0; i < 200; i++) {
        MPI_Win_fence(0, window);
        MPI_Put(&i, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, window);
        MPI_Win_fence(0, window);
        MPI_File_write_at(file, (MPI_Offset)sizeof i * rank, &i, 1, MPI_INT, MPI_STATUS_IGNORE);
        MPI_Barrier(own);
    }
    MPI_Barrier(all);
    unlink(name);
    for (int i = 0; i < 500; i++) {
        MPI_Comm again, part;
        MPI_Comm_dup(MPI_COMM_WORLD, &again);
        MPI_Comm_split(again, rank, 0, &part);
        MPI_Barrier(part);
        MPI_Comm_free(&part);
        MPI_Comm_free(&again);
        /* A call at another place would have its definition written, and all others with it. */
        if (rank == 1 && i == 499) {
            kill(getpid(), SIGKILL);
        }
    }
    MPI_Recv(&size, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return unused;
}
