// ranks: 2
// records: Allreduce>= 500
// maybe: NotClosed PhaseMismatch Unfinished
// truth: rank 0 kills the launcher; the ranks go on, or end, as the MPI has it
#include "calls.h"
#include <sys/prctl.h>

/* The nearest ancestor that is a launcher. */
static int launcher(void)
{
    for (int pid = getppid(); pid > 1;) {
        char path[64], name[64], state;
        int parent;
        snprintf(path, sizeof path, "/proc/%d/stat", pid);
        FILE *file = fopen(path, "r");
        if (!file || fscanf(file, "%*d (%63[^)]) %c %d", name, &state, &parent) != 3)
            return 0;
        fclose(file);
        if (!strncmp(name, "mpi", 3) || !strncmp(name, "orterun", 7) || !strncmp(name, "prte", 4))
            return pid;
        pid = parent;
    }
    return 0;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    /* Whatever becomes of the ranks, they end. */
    alarm(5);
    reduce(500);
    int found = launcher();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && found)
        kill(found, SIGKILL);
    for (int i = 0; i < 100; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(1000);
    }
    _exit(0);
}
