// ranks: 2
// records: Barrier 4
// end: finalize
// truth: rank 1 waits 600 ms for a byte from a pipe, four times 150 ms, and rank 0 computes as long: both seem to compute alike
// says: rank 1 slept or waited for I/O in
// says: used no CPU
// says-not: to gain
#include <mpi.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A process that writes a byte now and then; what to read it from. */
static int slow_input(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    if (fork() == 0) {
        for (int k = 0; k < 4; k++) {
            usleep(150000);
            if (write(ends[1], "x", 1) != 1)
                break;
        }
        _exit(0);
    }
    return ends[0];
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int input = rank == 1 ? slow_input() : -1;
    char byte = 0;
    double end_s = now_s();
    for (int k = 0; k < 4; k++) {
        end_s += 0.150;
        if (rank == 1) {
            if (read(input, &byte, 1) != 1)
                return 1;
        } else {
            while (now_s() < end_s) {
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
